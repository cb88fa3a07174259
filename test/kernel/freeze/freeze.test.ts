import fc from 'fast-check'
import { expect, test } from 'vitest'
import { schemaProblems } from '../../../src/gate/domain/json-schema.ts'
import { readInWorker } from '../../../src/gate/process-files/process-files.ts'
import { nearestWord } from '../../../src/kernel/nearest-word.ts'
import { catalog } from '../../../src/kernel/operations/catalog.ts'
import { parseInput } from '../../../src/kernel/operations/input/parse-input.ts'
import { globMatcher } from '../../../src/kernel/pattern.ts'
import { readMarkdownPlan } from '../../../src/plan/import/markdown.ts'
import { readJson } from '../../../src/surfaces/http/body.ts'
import { readLine } from '../../../src/surfaces/mcp/lines.ts'
import { parseArea, scopePath } from '../../../src/track/domain/scope/area.ts'
import { amount } from '../../support/amount.ts'
import { maxAllowedLength, maxTurnAnewMs, maxTurnMs } from '../../support/longest-turn.ts'
import { openProject } from '../../support/project.ts'

const million = 1_000_000

function body(text: string): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json' }
  const request = new Request('http://here/', { method: 'POST', body: text, headers })
  return readJson(request, { maxBytes: million, maxValues: million }).catch((error: unknown) => error)
}

function input(name: string, given: object): unknown {
  const operation = catalog.find((known) => known.name === name)
  if (!operation) throw new Error(`no operation ${name}`)
  try {
    return parseInput(operation, given)
  } catch (error) {
    return error
  }
}

function pathOf(text: string) {
  return scopePath(text, '')
}

const deepPath = `${'a'.repeat(60)}/${'a/'.repeat(100)}${'a'.repeat(200)}!`
const many = (of: (at: number) => string, amount: number) => Array.from({ length: amount }, (_, at) => of(at))

const unknownFields = Object.fromEntries(many((at) => `key${at}`, 40_000).map((key) => [key, 1]))

const cases: Record<string, () => unknown> = {
  'a body of escapes': () => body(JSON.stringify({ a: '"'.repeat(490_000) })),
  'a body of escapes without an end': () => body(`{"a":"${'\\"'.repeat(490_000)}`),
  'a body of quotes': () => body('"'.repeat(900_000)),
  'a body of signs that goes wrong at its end': () => body(`[${'1,'.repeat(490_000)}x`),
  'a body of brackets': () => body('['.repeat(900_000)),
  'a line of brackets': () => readLine({ kind: 'text', text: `{"id":1,"a":${'['.repeat(million)}` }),
  'forty thousand unknown fields': () => input('start_mission', unknownFields),
  'one very long unknown field': () => input('start_mission', { ['k'.repeat(900_000)]: 1 }),
  'a list of many wrong entries': () => input('start_task', { areas: Array(200_000).fill(1.5) }),
  'a very long unknown word': () =>
    nearestWord(
      'x'.repeat(900_000),
      many((at) => `name${at}`, 300),
    ),
  'a glob of stars': () => globMatcher(`${'*a'.repeat(30)}b`)('a'.repeat(250)),
  'a glob of double stars': () => globMatcher(`${'**/a*/'.repeat(20)}b`)(deepPath),
  'a glob of choices': () => globMatcher(`${'{a,a}'.repeat(60)}b`)('a'.repeat(250)),
  'a glob of repeated groups': () => globMatcher('+(a|+(a|aa))b')('a'.repeat(250)),
  'an area of stars': () => parseArea('*a'.repeat(30), { prefix: '' })?.matches(pathOf(deepPath)),
  'an area of a class that is repeated': () =>
    parseArea('*a*[a-z]+(a|aa)', { prefix: '' })?.matches(pathOf(`${'a'.repeat(1_000)}!`)),
  'an area of nothing but stars': () => parseArea('*'.repeat(900), { prefix: '' })?.matches(pathOf(deepPath)),
  'a pattern that goes back for ever': () =>
    schemaProblems({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(15_000)}!`),
  'a pattern for names that goes back for ever': () =>
    schemaProblems({ patternProperties: { '^(a|a)*$': false } }, { [`${'a'.repeat(15_000)}!`]: 1 }),
  'a pattern of large counts': () => schemaProblems({ pattern: '(a?){900}(a){900}$' }, 'a'.repeat(15_000)),
  'an address that goes back for ever': () =>
    schemaProblems({ format: 'url' }, `http://${'a'.repeat(10_000)}!`),
  'a schema that doubles at each step': () =>
    schemaProblems(
      {
        $defs: Object.fromEntries(
          many(String, 30).map((at) => [
            `d${at}`,
            { anyOf: [{ $ref: `#/$defs/d${Number(at) + 1}` }, { $ref: `#/$defs/d${Number(at) + 1}` }] },
          ]),
        ),
        $ref: '#/$defs/d0',
      },
      1,
    ),
  'a list whose entries must differ': () =>
    schemaProblems(
      { uniqueItems: true },
      many((at) => `x${at}`, 5_000),
    ),
  'a process of forty thousand keys': () => readInWorker(many((at) => `k${at}: 1`, 40_000).join('\n')),
  'a process of aliases': () =>
    readInWorker(`a: &a [x]\n${many((at) => `b${at}: &b${at} [*a, *a, *a]`, 2_000).join('\n')}`),
  'a plan of twenty thousand tags': () => readMarkdownPlan(`# A\n- [ ] x ${'#a1 '.repeat(20_000)}`),
  'a plan of tags in lines': () =>
    readMarkdownPlan(`# A\n${many(() => `- [ ] x ${'#a1 '.repeat(900)}`, 10).join('\n')}`),
  'a plan of open brackets': () => readMarkdownPlan(`# A\n- [ ] x ${'(after: '.repeat(20_000)}`),
  'a plan of dashes': () => readMarkdownPlan(`# A\n${'- '.repeat(20_000)}x`),
}

/** Texts at which the reader of processes gives up: what comes back is short. */
const brokenProcesses: typeof cases = {
  'a process of brackets': () => readInWorker('['.repeat(100_000)),
  'a process of dashes': () => readInWorker('- '.repeat(100_000)),
}

const known = Object.entries(cases)
const broken = Object.entries(brokenProcesses).slice(0, amount({ test: 1, soak: 2 }))

test.each([...known, ...broken])('%s holds nobody up', async (_, work) => {
  expect(await maxTurnMs(work)).toBeLessThan(maxAllowedLength)
})

const tasksToImport = amount({ test: 400, soak: 20_000 })
const jsonPlan = (): readonly [string, string] => [
  'plan.json',
  JSON.stringify({
    waymark_plan: 1,
    tasks: many(String, tasksToImport).map((key) => ({ key: `k${key}`, title: `Draw screen ${key}` })),
  }),
]
const plans: Record<string, () => readonly [string, string]> = {
  Markdown: () => ['plan.md', `# A\n${many((at) => `- [ ] Draw screen ${at}`, tasksToImport).join('\n')}\n`],
  JSON: jsonPlan,
}

async function projectWithPlan([file, text]: readonly [string, string]) {
  const project = await openProject({ git: false })
  project.write(file, text)
  return project
}

test.each(Object.entries(plans))('a call that reads a long plan of %s holds nobody up', async (_, plan) => {
  const [file, text] = plan()
  const project = await projectWithPlan([file, text])
  const reading = async () => {
    const answer = await project.call('plan_import', { file, 'dry-run': true })
    expect(answer.added.tasks).toBe(tasksToImport)
  }
  expect(await maxTurnMs(reading)).toBeLessThan(maxAllowedLength)
})

test('a call that records a long plan holds nobody up', async () => {
  const [file, text] = jsonPlan()
  const recorded = await maxTurnAnewMs(async () => {
    const project = await projectWithPlan([file, text])
    return async () => {
      await project.call('plan_import', { file })
      expect((await project.call('status')).events).toBeGreaterThan(tasksToImport)
    }
  }, maxAllowedLength * 2)
  expect(recorded).toBeLessThan(maxAllowedLength * 2)
})

const title = 'x'.repeat(amount({ test: 2_000_000, soak: 15_000_000 }))
test.each([
  ['plan.json', JSON.stringify({ waymark_plan: 1, tasks: [{ key: 'k', title }] })],
  ['tasks.json', JSON.stringify({ tasks: [{ id: 1, title, status: 'pending', dependencies: [] }] })],
])('refuses a title of megabytes in %s, and holds nobody up', async (file, text) => {
  const project = await openProject({ git: false })
  project.write(file, text)
  const turn = await maxTurnMs(async () => {
    expect(await project.refused('plan_import', { file })).toMatchObject({
      code: 'INVALID_INPUT',
      reason: 'plan_invalid',
    })
  }, maxAllowedLength * 4)
  expect(turn).toBeLessThan(maxAllowedLength * 4)
})

test('refuses a plan of 30 MB before it is read as text', async () => {
  const project = await openProject({ git: false })
  project.write('plan.json', JSON.stringify({ tasks: [{ title: 'x'.repeat(30_000_000) }] }))
  expect(await project.refused('plan_import', { file: 'plan.json' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'plan_too_large',
  })
})

test('refuses a folder of plans of more than 20 MB', async () => {
  const project = await openProject({ git: false })
  for (const name of ['one', 'two', 'three']) project.write(`backlog/${name}.md`, 'x'.repeat(7_000_000))
  expect(await project.refused('plan_import', { file: 'backlog' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'plan_too_large',
  })
})

test('an imported plan that is nested too deep is a sentence', async () => {
  const project = await openProject({ git: false })
  project.write('deep.json', `{"tasks":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)
  expect(await project.refused('plan_import', { file: 'deep.json' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'plan_invalid',
  })
})

const runs = amount({ test: 10, soak: 3_000 })

test('no glob, area or pattern that somebody makes up holds anybody up', async () => {
  const part = fc.constantFrom(
    'a',
    '*',
    '**',
    '/',
    '?',
    '{a,aa}',
    '[a-z]',
    '+(a|aa)',
    '@(a|*)',
    '(',
    ')',
    '!',
    '.',
  )
  const glob = fc.array(part, { minLength: 1, maxLength: 60 }).map((parts) => parts.join(''))
  const atom = fc.constantFrom(
    'a',
    'a+',
    '(a+)+',
    '(a|a)*',
    '(a?){20}',
    '.*',
    '[^b]*',
    'a{1,50}',
    '(?:a|aa)+',
    '\\w+',
  )
  const pattern = fc.array(atom, { minLength: 1, maxLength: 12 }).map((atoms) => `^${atoms.join('')}$`)
  const text = fc.nat(4_000).map((length) => `${'a'.repeat(length)}!`)
  await fc.assert(
    fc.asyncProperty(glob, pattern, text, async (one, source, value) => {
      const tried = () => {
        parseArea(one, { prefix: '' })?.matches(pathOf(value))
        try {
          globMatcher(one)(value)
        } catch (error) {
          expect(error).toMatchObject({ code: 'INVALID_INPUT' })
        }
        schemaProblems({ type: 'string', pattern: source }, value)
      }
      const allowed = maxAllowedLength * 2
      expect(await maxTurnMs(tried, allowed)).toBeLessThan(allowed)
    }),
    { numRuns: runs },
  )
})

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, test } from 'vitest'
import { catalog } from '../../../src/kernel/operations/catalog.ts'
import type { Answer } from '../../support/project.ts'
import { eras, legacy } from './eras.ts'
import { startServer } from './server-process.ts'

async function toolsOf(...flags: readonly string[]): Promise<readonly Answer[]> {
  const { ask } = await legacy(startServer({ flags }))
  return (await ask('tools/list')).result.tools
}

let listedOnce: Promise<readonly Answer[]> | null = null

/** The tools of tracking; asked for once, because the list is fixed. */
function track(): Promise<readonly Answer[]> {
  listedOnce ??= toolsOf('--toolsets', 'track')
  return listedOnce
}

/** What a model is given of a tool. */
function shownToModel({ name, description, inputSchema }: Answer): string {
  return JSON.stringify({ name, description, inputSchema })
}

function names(tools: readonly Answer[]): readonly string[] {
  return tools.map(({ name }) => name)
}

test.each(eras)('the tools in %s are those of the catalog, in its order', async (_, open) => {
  const { ask } = await open(startServer())
  const { tools } = (await ask('tools/list')).result
  const listed = catalog.filter(({ unlisted }) => unlisted !== true)
  expect(names(tools)).toEqual(listed.flatMap(({ tool }) => (tool === undefined ? [] : [tool])))
})

test('tools and fields of other programs are understood without being listed', async () => {
  const { ask } = await legacy(startServer())
  const unlisted = ['complete_workflow', 'start_phase', 'complete_phase', 'taskman_task_note_list_by_ids']
  expect(names((await ask('tools/list')).result.tools).filter((name) => unlisted.includes(name))).toEqual([])
  for (const name of unlisted) {
    const { result } = await ask('tools/call', { name, arguments: {} })
    expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: 'INVALID_INPUT' } } })
  }
  const startTask = (await track()).find(({ name }) => name === 'start_task')
  expect(startTask?.inputSchema.properties).not.toHaveProperty('phase_id')
})

test('the tools of tracking are listed as their snapshot says', async () => {
  await expect(JSON.stringify(await track(), null, 2)).toMatchFileSnapshot('track-tools.snap')
})

test('TM-023 a cursor changes nothing: there is one page', async () => {
  const { ask } = await legacy(startServer())
  const { result } = await ask('tools/list', { cursor: 'anything' })
  expect(result).toEqual((await ask('tools/list')).result)
  expect(result.nextCursor).toBeUndefined()
})

test('TM-024 names work in every client and are unique', async () => {
  const listed = names(await toolsOf())
  for (const name of listed) expect(name).toMatch(/^[a-z][a-z0-9_]{0,39}$/)
  expect(new Set(listed).size).toBe(listed.length)
})

describe('what a list costs a model, in tokens of o200k', () => {
  const inputsOf = (tools: readonly Answer[]) =>
    tools.map((tool) => ({ name: tool['name'], tokens: countTokens(shownToModel(tool)) }))
  const outputsOf = (tools: readonly Answer[]) =>
    tools.map(({ name, outputSchema }) => ({ name, tokens: countTokens(JSON.stringify(outputSchema)) }))

  const expectAtMost = (limit: number, lists: readonly { name: string; tokens: number }[]) => {
    const sum = lists.reduce((all, { tokens }) => all + tokens, 0)
    const each = lists.map(({ name, tokens }) => `${name} ${tokens}`).join(', ')
    expect(
      sum,
      `${sum} tokens are ${sum - limit} too many. Shorten a description or hide a field: ${each}`,
    ).toBeLessThanOrEqual(limit)
  }

  test('the tools of tracking: at most 2,600', async () => {
    expectAtMost(2600, inputsOf(await track()))
  })

  test('all tools: at most 5,500, and their outputs at most 5,000', async () => {
    const tools = await toolsOf()
    expectAtMost(5500, inputsOf(tools))
    expectAtMost(5000, outputsOf(tools))
  })

  test('--toolsets auto in a project without a process: at most 4,300', async () => {
    expectAtMost(4300, inputsOf(await toolsOf('--toolsets', 'auto')))
  })
})

describe('each tool says what it is', () => {
  test('a title, a description and all four annotations', async () => {
    for (const { title, description, annotations } of await toolsOf()) {
      expect(title).toMatch(/^[A-Z]/)
      expect(description.length).toBeGreaterThan(10)
      expect(annotations).toEqual({
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
        openWorldHint: false,
      })
    }
  })

  test('queries only read', async () => {
    const readOnly = (await toolsOf()).filter(({ annotations }) => annotations.readOnlyHint)
    expect(names(readOnly)).toEqual(expect.arrayContaining(['get_context', 'list_missions']))
    expect(names(readOnly)).not.toContain('start_task')
  })

  test('inputs take the listed fields and no other, though the list does not spend tokens on saying so', async () => {
    const { ask, call } = await legacy(startServer())
    for (const { name } of (await ask('tools/list')).result.tools) {
      const { isError, content } = await call(name, { no_such_field: 1 })
      expect({ name, isError }).toEqual({ name, isError: true })
      expect(content[0].text).toContain('"no_such_field"')
    }
  })

  test('inputs are objects without a choice at the root, every field of theirs explained', async () => {
    for (const { name, inputSchema } of await toolsOf()) {
      expect(inputSchema).toMatchObject({ type: 'object' })
      expect(Object.keys(inputSchema)).not.toEqual(
        expect.arrayContaining(['$schema', 'anyOf', 'oneOf', 'allOf']),
      )
      for (const [field, schema] of Object.entries<Answer>(inputSchema.properties)) {
        expect(schema.description ?? schema.properties, `${name}.${field}`).toBeTruthy()
      }
      expect(JSON.stringify(inputSchema)).not.toMatch(/"aliases"|9007199254740991|"propertyNames"/)
    }
  })

  test('outputs are published with their top-level keys, none required, because a refusal is an answer too', async () => {
    for (const { outputSchema } of await toolsOf()) {
      expect(Object.keys(outputSchema)).toEqual(['type', 'properties'])
      for (const schema of Object.values<Answer>(outputSchema.properties))
        expect(Object.keys(schema)).toEqual(['type'])
    }
  })
})

describe('the tools of the seeds are listed with their descriptions', () => {
  test.each([
    ['MC1-002', 'start_workflow', 'Initialize a new workflow tracking session'],
    ['MC2-004', 'start_mission', 'Initialize a new mission tracking session for multi-phase orchestration'],
    ['MC2-018', 'complete_mission', 'Finalize a mission and aggregate metrics'],
    ['MC2-031', 'get_context', 'Retrieve mission context (decisions, milestones, blockers, phases, tasks)'],
    ['MC2-047', 'start_task', 'Start a new task and create a Git snapshot'],
    ['MC2-072', 'complete_task', 'Complete a task and compute file changes via Git diff'],
    ['MC2-100', 'log_decision', 'Log an important architectural decision'],
    ['MC2-109', 'log_issue', 'Log an issue encountered during execution'],
    ['MC2-117', 'log_milestone', 'Log a milestone for real-time UI updates'],
  ])('%s %s', async (_, name, description) => {
    const tool = (await track()).find((candidate) => candidate.name === name)
    expect(tool.description.startsWith(description)).toBe(true)
  })

  test('MC1-001 MC2-001 MC2-002 the nine tools of mission control, which include the six of its first version', async () => {
    expect(names(await track())).toEqual([
      'start_mission',
      'complete_mission',
      'get_context',
      'list_missions',
      'start_task',
      'complete_task',
      'log_decision',
      'log_issue',
      'log_milestone',
      'start_workflow',
      'reply_to_review',
    ])
  })
})

describe('a server may offer less', () => {
  test('--toolsets lists the tools of these sets, and calls no other', async () => {
    const { ask } = await legacy(startServer({ flags: ['--toolsets', 'gate'] }))
    expect(names((await ask('tools/list')).result.tools)).not.toContain('start_mission')
    expect((await ask('tools/call', { name: 'start_mission', arguments: {} })).error).toEqual({
      code: -32602,
      message: 'Unknown tool: start_mission',
    })
  })

  test('--read-only lists what only reads, and changes nothing', async () => {
    const { ask } = await legacy(startServer({ flags: ['--read-only'] }))
    const { tools } = (await ask('tools/list')).result
    expect(names(tools)).toContain('get_context')
    expect(tools.every(({ annotations }: Answer) => annotations.readOnlyHint)).toBe(true)
    expect((await ask('tools/call', { name: 'start_mission', arguments: {} })).error.code).toBe(-32602)
  })
})

import { symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openProjects } from '../../src/app/serve/projects.ts'
import { amount } from '../support/amount.ts'
import type { Answer } from '../support/project.ts'
import { shared } from '../support/shared.ts'
import { serverEnvironment } from '../support/stdio-project.ts'
import { openScreen } from '../support-web/screen.ts'
import { serveDay } from '../support-web/serving-day.ts'
import { type Agent, openSharedTree, type SharedTree } from './together/agents.ts'

// Agents over stdio, a person at a terminal, and the settings of a new project: what an agent is told of its completion,
// the command line and the HTTP API say as well.

const scripts = {
  'ok.sh': 'exit 0\n',
  'fail.sh': 'exit 3\n',
  'hang.sh': 'sleep 20\n',
  'write.sh': 'echo written >> written.txt\n',
  'print.sh': 'yes 0123456789 | head -c 1000000\n',
  'late.sh': 'test -f ../ready\n',
}
const checkOf = (name: keyof typeof scripts) => `sh ${name}`

/** The folder of a case: its files are its own, so that no case is reset. */
interface Place {
  readonly dir: string
  readonly tree: SharedTree
  readonly write: (name: string, content: string) => void
  readonly edit: () => void
}

interface Case {
  readonly work?: (place: Place) => unknown
  readonly summary?: (dir: string) => string
  readonly status?: string
  readonly outcome?: (dir: string) => object
  readonly metadata?: object
  /** What the task promises. */
  readonly promises?: (dir: string) => object
  readonly is: 'proven' | 'unproven' | 'contradicted' | null
  readonly rules: readonly string[]
}

const before = 'export const auth = 1\n'
const testFile = "it('limits', () => {\n  expect(limit(6)).toBe(false)\n})\n"
const edit = ({ edit: change }: Place) => change()

const cases: Readonly<Record<string, Case>> = {
  'no changed file contradicts success': { is: 'contradicted', rules: ['nothing_changed', 'no_check'] },
  'a changed file without a check proves nothing': { work: edit, is: 'unproven', rules: ['no_check'] },
  'a file that changed and was put back is unchanged': {
    work: ({ edit: change, write }) => {
      change()
      write('auth.ts', before)
    },
    is: 'contradicted',
    rules: ['nothing_changed', 'no_check'],
  },
  'a reason explains that nothing changed': {
    outcome: () => ({ no_change_reason: 'The limit was there.' }),
    is: 'unproven',
    rules: ['no_change', 'no_check'],
  },
  'a task that expects no change needs none': {
    promises: () => ({ changes: [] }),
    is: 'unproven',
    rules: ['no_check'],
  },
  'a part of success needs no change': { status: 'partial_success', is: 'unproven', rules: ['no_check'] },
  'a failed task claims nothing': { status: 'failed', is: null, rules: [] },
  'a commit counts': {
    work: ({ tree }) => tree.git('commit', '-q', '--allow-empty', '-m', 'Release'),
    is: 'unproven',
    rules: ['no_check'],
  },
  'a commit on another branch counts': {
    work: ({ tree, dir, edit: change }) => {
      tree.git('switch', '-qc', dir)
      change()
      tree.git('commit', '-qm', 'Limit', '--', `${dir}/auth.ts`)
      tree.git('switch', '-q', '-')
    },
    summary: (dir) => `Changed ${dir}/auth.ts on a branch.`,
    is: 'unproven',
    rules: ['no_check'],
  },
  'an edit in another work tree counts': {
    work: async ({ tree, dir }) => {
      tree.git('worktree', 'add', '-q', '--detach', '../other')
      await new Promise((resolve) => setTimeout(resolve, 20))
      tree.write(`../other/${dir}/auth.ts`, 'export const auth = 3\n')
    },
    summary: (dir) => `Changed ${dir}/auth.ts.`,
    is: 'unproven',
    rules: ['no_check'],
  },
  'an ignored file counts': {
    work: ({ write }) => write('limit.local', '5\n'),
    is: 'unproven',
    rules: ['no_check'],
  },
  'a file that is claimed must have changed': {
    work: edit,
    summary: (dir) => `Changed ${dir}/auth.ts and ${dir}/api.ts.`,
    is: 'contradicted',
    rules: ['claimed_not_changed', 'no_check'],
  },
  'a file that is claimed must exist': {
    work: edit,
    summary: (dir) => `Fixed ${dir}/auth.ts, with a test in ${dir}/none.test.ts. Updated ${dir}/none.ts.`,
    is: 'unproven',
    rules: ['no_check', 'claimed_not_found'],
  },
  'a file that is claimed as new must exist at the top too': {
    work: edit,
    summary: (dir) => `Fixed ${dir}/auth.ts. Created CHANGES-2.md with an entry.`,
    is: 'unproven',
    rules: ['no_check', 'claimed_not_found'],
  },
  'a file that git ignores may be claimed': {
    work: edit,
    summary: (dir) => `Updated ${dir}/auth.ts and cache.local/limit.ts.`,
    is: 'unproven',
    rules: ['no_check'],
  },
  'a part of success does not excuse a false claim': {
    work: edit,
    summary: (dir) => `Changed ${dir}/auth.ts and ${dir}/api.ts.`,
    status: 'partial_success',
    is: 'contradicted',
    rules: ['claimed_not_changed', 'no_check'],
  },
  'a file that is only mentioned need not have changed': {
    work: edit,
    summary: (dir) => `Changed ${dir}/auth.ts. Did not change ${dir}/api.ts, and read ${dir}/auth.test.ts.`,
    is: 'unproven',
    rules: ['no_check'],
  },
  'a new file with spaces in its name must exist, as a document without an extension': {
    work: ({ edit: change, write }) => {
      change()
      write('Änderung/a plan.md', '# Plan\n')
      write('README.md', '# Limit\n')
    },
    summary: (dir) =>
      `Created ${dir}/Änderung/x.ts, "${dir}/Änderung/a plan.md", "${dir}/no plan.md", README and CHANGELOG.`,
    is: 'contradicted',
    rules: ['claimed_not_changed', 'no_check', 'claimed_not_found'],
  },
  'a file may be claimed by a path through a link': {
    work: ({ tree, write, dir }) => {
      symlinkSync('.', join(tree.folder, dir, 'alias'))
      symlinkSync('api.ts', join(tree.folder, dir, 'api-link.ts'))
      tree.git('add', dir)
      tree.git('commit', '-qm', 'Links')
      write('alias/new.ts', 'export {}\n')
      write('api-link.ts', 'export const api = 2\n')
    },
    summary: (dir) => `Created ${dir}/alias/new.ts, updated ${dir}/api-link.ts.`,
    is: 'unproven',
    rules: ['no_check'],
  },
  'a file behind a link that did not change contradicts': {
    work: ({ tree, edit: change, dir }) => {
      symlinkSync('.', join(tree.folder, dir, 'alias'))
      change()
    },
    summary: (dir) => `Updated ${dir}/alias/auth.ts and ${dir}/alias/api.ts.`,
    is: 'contradicted',
    rules: ['claimed_not_changed', 'no_check'],
  },
  'a file outside of the work tree may be claimed through a link': {
    work: ({ tree, edit: change, write, dir }) => {
      symlinkSync(tree.home, join(tree.folder, dir, 'out'))
      change()
      write('out/outside.ts', 'export {}\n')
    },
    summary: (dir) => `Updated ${dir}/auth.ts and created ${dir}/out/outside.ts.`,
    is: 'unproven',
    rules: ['no_check'],
  },
  'a file outside of the work tree that was not written since contradicts': {
    work: ({ tree, edit: change, dir }) => {
      symlinkSync(import.meta.dirname, join(tree.folder, dir, 'out'))
      change()
    },
    summary: (dir) => `Updated ${dir}/auth.ts and ${dir}/out/verdict-journeys.test.ts.`,
    is: 'contradicted',
    rules: ['claimed_not_changed', 'no_check'],
  },
  'a file that is said to be created need not exist before': {
    work: ({ write }) => write('new.ts', 'export {}\n'),
    summary: (dir) => `Created ${dir}/new.ts.`,
    is: 'unproven',
    rules: ['no_check'],
  },
  'a package that no manifest has contradicts': {
    work: edit,
    metadata: { packages_added: ['left-pad'] },
    is: 'contradicted',
    rules: ['packages_mismatch', 'no_check'],
  },
  'a package that a manifest spells otherwise is there': {
    work: edit,
    metadata: { packages_added: ['Zod@4'] },
    is: 'unproven',
    rules: ['no_check'],
  },
  'a promised change must be there': {
    work: edit,
    promises: (dir) => ({ changes: [`${dir}/auth.ts`, `${dir}/api.ts`] }),
    is: 'contradicted',
    rules: ['changes_missing', 'no_check'],
  },
  'a promised change is more than white space': {
    work: ({ write }) => write('auth.ts', `\n${before.replace(' = ', '  =  ')}`),
    promises: (dir) => ({ changes: [`${dir}/*.ts`] }),
    is: 'contradicted',
    rules: ['changes_missing', 'no_check'],
  },
  'a promised change is there': {
    work: edit,
    promises: (dir) => ({ changes: [`${dir}/*.ts`] }),
    is: 'unproven',
    rules: ['no_check'],
  },
  'a file that must stay may not change': {
    work: edit,
    promises: (dir) => ({ keeps: [`${dir}/`] }),
    is: 'contradicted',
    rules: ['keeps_changed', 'no_check'],
  },
  'another file may change beside one that must stay': {
    work: edit,
    promises: (dir) => ({ keeps: [`${dir}/api.ts`] }),
    is: 'unproven',
    rules: ['no_check'],
  },
  'a skipped test contradicts': {
    work: ({ write }) => write('auth.test.ts', testFile.replace("it('", "it.skip('")),
    summary: (dir) => `Changed ${dir}/auth.test.ts.`,
    is: 'contradicted',
    rules: ['tests_weakened', 'no_check'],
  },
  'a skipped test that the outcome lists does not': {
    work: ({ write }) => write('auth.test.ts', testFile.replace("it('", "it.skip('")),
    outcome: (dir) => ({ weakened: [`${dir}/auth.test.ts`] }),
    is: 'unproven',
    rules: ['no_check'],
  },
  'a test that is renamed checks as much as before': {
    work: ({ write }) => write('auth.test.ts', testFile.replace('limits', 'limits logins')),
    is: 'unproven',
    rules: ['no_check'],
  },
  'a criterion needs an answer': {
    work: edit,
    promises: () => ({ criteria: ['At most 5 attempts'] }),
    is: 'unproven',
    rules: ['no_check', 'criterion_unanswered'],
  },
  'a criterion that is not met says so': {
    work: edit,
    promises: () => ({ criteria: ['At most 5 attempts'] }),
    outcome: () => ({ criteria: [{ criterion: 'At most 5 attempts', met: false, how: 'Ten.' }] }),
    is: 'unproven',
    rules: ['no_check', 'criterion_unmet'],
  },
  'a check that passes proves what is promised': {
    work: edit,
    promises: (dir) => ({
      check: [checkOf('ok.sh')],
      criteria: ['At most 5 attempts'],
      changes: [`${dir}/`],
    }),
    outcome: () => ({ criteria: [{ criterion: 'at most 5 attempts.', met: true, how: 'Counted.' }] }),
    is: 'proven',
    rules: [],
  },
  'a check that passes does not prove that nothing had to change': {
    promises: () => ({ check: [checkOf('ok.sh')] }),
    outcome: () => ({ no_change_reason: 'The limit was there.' }),
    is: 'unproven',
    rules: ['no_change'],
  },
  'a check that fails contradicts': {
    work: edit,
    promises: () => ({ check: [checkOf('ok.sh'), checkOf('fail.sh')] }),
    is: 'contradicted',
    rules: ['check_failed'],
  },
  'a check that fails leaves a part of success unproven': {
    work: edit,
    status: 'partial_success',
    promises: () => ({ check: [checkOf('fail.sh')] }),
    is: 'unproven',
    rules: ['check_failed'],
  },
  'a check that hangs says nothing': {
    work: edit,
    promises: () => ({ check: [{ run: checkOf('hang.sh'), timeout: '1s' }] }),
    is: 'unproven',
    rules: ['check_not_run'],
  },
  'a check that writes files says nothing': {
    work: edit,
    promises: () => ({ check: [checkOf('write.sh')] }),
    is: 'unproven',
    rules: ['check_disturbed'],
  },
  'a check that prints a megabyte is a check': {
    work: edit,
    promises: () => ({ check: [checkOf('print.sh')] }),
    is: 'proven',
    rules: [],
  },
  'a check that nobody approved is not run': {
    work: edit,
    promises: () => ({ check: ['sh unknown.sh'] }),
    is: 'unproven',
    rules: ['check_not_approved'],
  },
}

const folders = [...Object.keys(cases), ...Array.from({ length: 20 }, (_, at) => `more ${at}`)]
const dirOf = (name: string) => `c${String(folders.indexOf(name)).padStart(2, '0')}`

interface Journeys extends SharedTree {
  readonly ada: Agent
  readonly bo: Agent
  /** The verdicts that agents were told last, by the task. */
  readonly told: Map<string, unknown>
  /** Verdicts that the command line has shown, without what differs by the case. */
  readonly shown: Set<string>
  readonly place: (name: string) => Place
  readonly json: (...words: readonly string[]) => Answer
  readonly approveCommands: () => void
}

const journeys = shared(async (): Promise<Journeys> => {
  const files = folders.flatMap((name) => [
    [`${dirOf(name)}/auth.ts`, before],
    [`${dirOf(name)}/api.ts`, 'export const api = 1\n'],
    [`${dirOf(name)}/auth.test.ts`, testFile],
  ])
  const tree = openSharedTree({
    ...Object.fromEntries(files),
    ...scripts,
    '.gitignore': '*.local\n',
    'cache.local/limit.ts': 'export {}\n',
    'package.json': JSON.stringify({ dependencies: { zod: '^4.0.0' } }),
  })
  const [ada, bo] = [await tree.agent('ada'), await tree.agent('bo')]
  const json = (...words: readonly string[]) => JSON.parse(tree.person(...words, '--json'))
  const approveCommands = () => {
    for (const { item_id } of json('inbox', '--kind', 'command').items) tree.person('approve', item_id)
  }
  const place = (name: string): Place => {
    const dir = dirOf(name)
    const write = (file: string, content: string) => tree.write(`${dir}/${file}`, content)
    return { dir, tree, write, edit: () => write('auth.ts', 'export const auth = 2\n') }
  }
  // A person approves the checks before they are needed.
  const check = Object.keys(scripts).map((name) => `sh ${name}`)
  const { task_id } = await ada.call('start_task', { name: 'Look', goal: 'Look', done_when: { check } })
  const looked = { task_id, status: 'partial_success', outcome: { summary: 'Looked.' } }
  await ada.call('complete_task', { ...looked, preview: true })
  approveCommands()
  await ada.call('complete_task', { ...looked, status: 'failed' })
  return { ...tree, ada, bo, json, approveCommands, place, told: new Map(), shown: new Set() }
})

const rulesOf = (answer: Answer): readonly string[] =>
  (answer.verdict?.reasons ?? []).map(({ rule }: Answer) => rule)

/** Verdicts of the same kind look the same wherever they are read. */
const kindOf = (verdict: Answer): string => JSON.stringify([verdict?.is, rulesOf({ verdict })])

/** A verdict without the times at which its checks ran: on other content they run again. */
const judgedIn = ({ verdict }: Answer) =>
  verdict && { ...verdict, checks: verdict.checks.map((check: Answer) => ({ ...check, ran_at: null })) }

const start = async (agent: Agent, name: string, more: object = {}): Promise<string> =>
  (await agent.call('start_task', { name, goal: 'g', ...more })).task_id

/** Completes a task, and compares the first verdict of each kind that the agent is told with what a person reads. */
async function complete(
  { json, told, shown, ada }: Journeys,
  task_id: string,
  { agent = ada, summary = 'Done.', ...more }: Answer = {},
): Promise<Answer> {
  const outcome = { summary, ...more.outcome }
  const answer = await agent.call('complete_task', { task_id, status: 'success', ...more, outcome })
  if (more.preview) return answer
  told.set(task_id, answer.verdict ?? null)
  const kind = kindOf(answer.verdict)
  if (!shown.has(kind)) expect(json('show', task_id).attempts.at(-1).verdict).toEqual(answer.verdict ?? null)
  shown.add(kind)
  return answer
}

describe('a completion over MCP', () => {
  const judged = new Map<string, Case['is']>()

  test.each(Object.entries(cases))(
    '%s',
    async (name, { work, summary, status, outcome, metadata, promises, is, rules }) => {
      const all = await journeys()
      const place = all.place(name)
      const { dir } = place
      const id = await start(all.ada, name, promises && { done_when: promises(dir) })
      await work?.(place)
      const words = {
        ...(summary && { summary: summary(dir) }),
        ...(status && { status }),
        ...(outcome && { outcome: outcome(dir) }),
        ...(metadata && { metadata }),
      }
      // In `npm test` every third case is tried beforehand.
      const isTried = Object.keys(cases).indexOf(name) % amount({ test: 3, soak: 1 }) === 0
      const preview = isTried ? await complete(all, id, { ...words, preview: true }) : null
      const completed = await complete(all, id, words)
      expect(rulesOf(completed)).toEqual(rules)
      expect(completed.verdict?.is ?? null).toBe(is)
      if (preview) expect(judgedIn(preview)).toEqual(judgedIn(completed))
      expect(completed.settled).toBe(is === 'contradicted' ? false : undefined)
      judged.set(id, is)
    },
  )

  test('a person is asked once about each that is contradicted, and about no other', async () => {
    const { json } = await journeys()
    const asked = json('inbox', '--kind', 'verdict').items.map(({ task_id }: Answer) => task_id)
    const contradicted = [...judged].filter(([, is]) => is === 'contradicted').map(([id]) => id)
    expect(contradicted.length).toBeGreaterThan(5)
    expect(asked.toSorted()).toEqual(contradicted.toSorted())
  })
})

describe('beside the table', () => {
  test('a check that fails while an agent of another session works there contradicts nobody', async () => {
    const all = await journeys()
    const place = all.place('more 0')
    const done_when = { check: [checkOf('fail.sh')] }
    const id = await start(all.ada, 'Beside', { done_when })
    place.edit()
    const other = await start(all.bo, 'Another')
    expect(rulesOf(await complete(all, id))).toEqual(['check_failed_shared'])
    await all.bo.call('complete_task', { task_id: other, status: 'failed', outcome: { summary: 'Nothing.' } })
  })

  test('a parent is judged with its subtasks, and is not proven while one is contradicted', async () => {
    const all = await journeys()
    const place = all.place('more 1')
    const parent = await start(all.ada, 'Whole', { done_when: { check: [checkOf('ok.sh')] } })
    const [good, bad] = [
      await start(all.ada, 'Good part', { parent_task_id: parent }),
      await start(all.ada, 'Empty part', { parent_task_id: parent }),
    ]
    expect(rulesOf(await complete(all, bad, { summary: `Changed ${place.dir}/api.ts.` }))).toContain(
      'claimed_not_changed',
    )
    place.edit()
    await complete(all, good, { summary: `Changed ${place.dir}/auth.ts.` })
    const answer = await complete(all, parent, { summary: `Changed ${place.dir}/auth.ts.` })
    expect(answer.verdict.is).toBe('unproven')
    expect(rulesOf(answer)).toEqual(['subtask_contradicted'])
  })

  test('a workflow ends with its last task, whatever the verdict', async () => {
    const all = await journeys()
    const { workflow_id } = await all.ada.call('start_workflow', { name: 'W' })
    const id = await start(all.ada, 'Only', { workflow_id })
    expect((await complete(all, id)).verdict.is).toBe('contradicted')
    expect(all.json('show', workflow_id)).toMatchObject({ status: 'COMPLETED' })
  })

  test('a completed mission names its contradicted task, and is completed', async () => {
    const all = await journeys()
    const { mission_id } = await all.ada.call('start_mission', { name: 'M', objective: 'O' })
    const id = await start(all.ada, 'Empty', { mission_id })
    await complete(all, id)
    expect(all.json('mission', 'timeline', mission_id)).toMatchObject({
      tasks: [{ id, status: 'done', needs_review: true }],
      attempts: [{ task_id: id, verdict: 'contradicted' }],
    })
    expect(all.json('plan', 'show', '--mission', mission_id).phases).toMatchObject([
      { tasks: [{ id, mark: 'done', needs_review: true }] },
    ])
    const words = ['--status', 'completed', '--summary', 'Done.']
    const { doubted, status } = await all.ada.call('complete_mission', {
      mission_id,
      status: 'completed',
      summary: 'Done.',
    })
    expect(status).toBe('completed')
    expect(doubted).toEqual({
      contradicted: 1,
      unproven: 0,
      tasks: [{ task_id: id, name: 'Empty', verdict: 'contradicted' }],
      next: `waymark review ${id}`,
    })
    expect(all.json('mission', 'complete', mission_id, ...words)).toMatchObject({
      already_completed: true,
      doubted,
    })
    expect(all.person('mission', 'complete', mission_id, ...words)).toContain(doubted.next)
  })

  test('a retried, and a resumed attempt count from the first', async () => {
    const all = await journeys()
    const place = all.place('more 2')
    const id = await start(all.ada, 'Again')
    place.edit()
    await complete(all, id, { status: 'failed' })
    await start(all.ada, 'Again', { planned_task_id: id })
    const resumed = await all.ada.call('start_task', { planned_task_id: id, name: 'Again' })
    expect(resumed).toMatchObject({ continued: true })
    expect(rulesOf(await complete(all, id, { summary: `Changed ${place.dir}/auth.ts.` }))).toEqual([
      'no_check',
    ])
  })

  test('a later attempt may claim, through a link, what an earlier one changed', async () => {
    const all = await journeys()
    const place = all.place('more 12')
    symlinkSync('.', join(all.folder, place.dir, 'alias'))
    const id = await start(all.ada, 'First', { done_when: { check: [checkOf('ok.sh')] } })
    place.write('alias/api.ts', 'export const api = 2\n')
    await complete(all, id, { status: 'failed' })
    await start(all.ada, 'First', { planned_task_id: id })
    place.edit()
    const summary = `Updated ${place.dir}/auth.ts and ${place.dir}/alias/api.ts.`
    expect(
      await complete(all, id, { summary: `${summary} Updated ${place.dir}/alias/auth.test.ts.` }),
    ).toMatchObject({
      verdict: { reasons: [{ rule: 'claimed_not_changed', paths: [`${place.dir}/alias/auth.test.ts`] }] },
    })
    expect((await complete(all, id, { summary })).verdict.is).toBe('proven')
  })

  test('a file that another task changed is no work of a later attempt', async () => {
    const all = await journeys()
    const place = all.place('more 7')
    const id = await start(all.ada, 'First', { done_when: { check: [checkOf('ok.sh')] } })
    place.edit()
    await complete(all, id)
    const other = await start(all.ada, 'Second')
    place.write('money.ts', 'export const money = 1\n')
    await complete(all, other)
    await all.ada.call('taskman_task_edit', { id, status: 'to_do' })
    await start(all.ada, 'First', { planned_task_id: id })
    const claim = { summary: `Changed ${place.dir}/money.ts.` }
    expect(rulesOf(await complete(all, id, claim))).toEqual(['claimed_not_own'])
    expect(rulesOf(await complete(all, id, claim))).toEqual(['claimed_not_own'])
    const { verdict } = await complete(all, id, { summary: `Changed ${place.dir}/auth.ts.` })
    expect(verdict.is).toBe('proven')
  })

  test('what an earlier attempt committed in another work tree stays its work after a merge', async () => {
    const all = await journeys()
    const place = all.place('more 11')
    const id = await start(all.ada, 'First', { done_when: { check: [checkOf('ok.sh')] } })
    all.git('worktree', 'add', '-q', '-b', 'beside', '../beside')
    all.write(`../beside/${place.dir}/limit.ts`, 'export const limit = 5\n')
    all.git('-C', '../beside', 'add', '.')
    all.git('-C', '../beside', 'commit', '-qm', 'Limit')
    await complete(all, id, { status: 'failed' })
    // A commit's time has no fraction of a second.
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    place.write('money.ts', 'export const money = 1\n')
    all.git('add', `${place.dir}/money.ts`)
    all.git('commit', '-qm', 'Money')
    all.git('merge', '-q', 'beside')
    await start(all.ada, 'First', { planned_task_id: id })
    place.edit()
    const summary = `Created ${place.dir}/limit.ts and changed ${place.dir}/auth.ts.`
    const more = await complete(all, id, { summary: `${summary} Created ${place.dir}/money.ts.` })
    expect(more.verdict.reasons).toMatchObject([
      { rule: 'claimed_not_own', paths: [`${place.dir}/money.ts`] },
    ])
    expect((await complete(all, id, { summary })).verdict.is).toBe('proven')
  })

  test('a proven task stays proven when someone else changes its file, and its page says so', async () => {
    const all = await journeys()
    const place = all.place('more 3')
    const id = await start(all.ada, 'Proven', { done_when: { check: [checkOf('ok.sh')] } })
    place.edit()
    expect((await complete(all, id)).verdict.is).toBe('proven')
    const path = `${place.dir}/auth.ts`
    place.write('auth.ts', 'export const auth = 3\n')
    utimesSync(join(all.folder, path), new Date(), new Date(Date.now() + 2_000))
    expect(all.json('show', id).attempts.at(-1)).toMatchObject({
      verdict: { is: 'proven' },
      changed_since: [path],
    })
  })

  test('a check that passes later on the same content proves the task', async () => {
    const all = await journeys()
    const place = all.place('more 4')
    const id = await start(all.ada, 'Later', { done_when: { check: [checkOf('late.sh')] } })
    place.edit()
    expect(rulesOf(await complete(all, id))).toEqual(['check_failed'])
    all.write('../ready', '')
    const { verdict } = all.json('verify', id)
    expect(verdict.is).toBe('proven')
    all.told.set(id, verdict)
    expect(all.json('show', id).attempts.at(-1).verdict).toEqual(verdict)
  })
})

describe('a contradicted task', () => {
  const contradicted = async (name: string) => {
    const all = await journeys()
    const place = all.place(name)
    const id = await start(all.ada, name)
    const answer = await complete(all, id, { summary: `Changed ${place.dir}/api.ts.` })
    expect(rulesOf(answer)).toEqual(['nothing_changed', 'claimed_not_changed', 'no_check'])
    const waiting = () =>
      all.json('inbox', '--kind', 'verdict').items.filter((one: Answer) => one.task_id === id)
    const [item] = waiting()
    return { all, place, id, item: item.item_id as string, waiting }
  }

  test.each<readonly [string, object, string | null]>([
    ['a reason', { outcome: { no_change_reason: 'It was there.' } }, 'unproven'],
    ['a part of success', { status: 'partial_success' }, 'unproven'],
    ['a failure', { status: 'failed' }, null],
  ])('is cleared by its agent with %s, on the same measurement', async (how, more, is) => {
    const { all, id, waiting } = await contradicted(
      `more ${5 + ['a reason', 'a part of success', 'a failure'].indexOf(how)}`,
    )
    const amended = await complete(all, id, { summary: 'Looked.', ...more })
    expect(amended).toMatchObject({ amended: true, waits_for: [] })
    expect(amended.verdict?.is ?? null).toBe(is)
    expect(waiting()).toEqual([])
  })

  test('is cleared by another attempt that does the work', async () => {
    const { all, place, id, waiting } = await contradicted('more 8')
    const { previous_attempts } = await all.ada.call('start_task', { name: 'Again', planned_task_id: id })
    expect(previous_attempts).toMatchObject([
      {
        verdict: 'contradicted',
        reasons: expect.arrayContaining([expect.stringContaining(`${place.dir}/api.ts`)]),
      },
    ])
    place.write('api.ts', 'export const api = 2\n')
    expect(waiting()).toHaveLength(1)
    expect((await complete(all, id, { summary: `Changed ${place.dir}/api.ts.` })).verdict.is).toBe('unproven')
    expect(waiting()).toEqual([])
  })

  test('is cleared by a person, and by no other agent', async () => {
    const { all, id, item, waiting } = await contradicted('more 9')
    const words = { task_id: id, status: 'partial_success', outcome: { summary: 'Looked.' } }
    expect(await all.bo.refused('complete_task', words)).toMatchObject({
      reason: 'attempt_already_completed',
    })
    expect(waiting()).toHaveLength(1)
    all.person('approve', item, 'I saw it.')
    expect(waiting()).toEqual([])
    expect(await all.ada.refused('complete_task', words)).toMatchObject({
      reason: 'attempt_already_completed',
    })
    expect(all.json('show', id).attempts.at(-1).verdict.is).toBe('contradicted')
  })
})

describe('the setting completion', () => {
  const set = ({ person }: Journeys, value: string) => person('setting', 'set', 'completion', value)

  test('flag: a contradicted task is marked, and settled', async () => {
    const all = await journeys()
    set(all, 'flag')
    const answer = await complete(all, await start(all.ada, 'Flagged'))
    set(all, 'review')
    expect(answer).toMatchObject({ verdict: { is: 'contradicted' }, waits_for: [{ kind: 'verdict' }] })
    expect(answer).not.toHaveProperty('settled')
  })

  test('refuse: a contradicted completion closes nothing, and an unproven one waits', async () => {
    const all = await journeys()
    const place = all.place('more 10')
    set(all, 'refuse')
    const id = await start(all.ada, 'Refused')
    const input = { task_id: id, status: 'success', outcome: { summary: 'Done.' } }
    const refused = await all.ada.refused('complete_task', input)
    place.edit()
    const answer = await complete(all, id)
    set(all, 'review')
    expect(refused).toMatchObject({ reason: 'completion_contradicted' })
    expect(answer).toMatchObject({ verdict: { is: 'unproven' }, settled: false })
  })
})

test('the HTTP API says of each task, and the dashboard of each kind, what its agent was told, and the record is whole', async () => {
  const { home, folder, told, json } = await journeys()
  const environment = serverEnvironment(home)
  const [first] = openProjects({ named: [folder], environment, workingFolder: home, reachesPrivate: true })
  const serving = await serveDay([first], {
    home,
    hours: 0,
    port: 0,
    assets: undefined,
    remove: () => undefined,
  })
  try {
    const { headers: given } = await fetch(serving.login(), { redirect: 'manual' })
    const cookie = given
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ')
    const session: Answer = await (
      await fetch(`${serving.address}/api/session`, { headers: { cookie } })
    ).json()
    const headers = { cookie, 'content-type': 'application/json', 'x-waymark-csrf': session.csrf }
    const [found, names] = [new Map<string, unknown>(), new Map<string, string>()]
    for (const id of told.keys()) {
      const asked = { method: 'POST', headers, body: JSON.stringify({ id }) }
      const { name, attempts }: Answer = await (await fetch(`${serving.address}/api/show`, asked)).json()
      found.set(id, attempts.at(-1).verdict)
      names.set(id, name)
    }
    expect(found).toEqual(told)
    expect(told.size).toBeGreaterThanOrEqual(40)
    const { screen, close } = await openScreen(serving, '/')
    try {
      const oneOfEach = new Map(
        [...told].map(([id, verdict]: readonly [string, Answer]) => [kindOf(verdict), id]),
      )
      expect(oneOfEach.size).toBeGreaterThanOrEqual(10)
      for (const id of oneOfEach.values()) {
        const verdict: Answer = told.get(id)
        screen.go(`/tasks/${id}`)
        const shown = () => ({
          task: screen.text('main h1'),
          rules: screen.all('.task-verdict [data-rule]').map((reason) => reason.dataset['rule']),
          is: screen.text('.task-verdict .completion-verdict .status-badge').toLowerCase(),
        })
        const rules = rulesOf({ verdict })
        await expect.poll(shown).toEqual({ task: names.get(id), rules, is: verdict?.is ?? '' })
      }
    } finally {
      await close()
    }
  } finally {
    await serving.stop()
  }
  expect(json('doctor')).toMatchObject({ healthy: true })
})

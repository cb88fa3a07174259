import { expect, test } from 'vitest'
import type { Answer } from '../../support/project.ts'
import { type Agent, numstat, openSharedTree } from './agents.ts'

const files = {
  'README.md': '# Numbers\n',
  'shared.js': 'export const version = 1\n',
  'src/parser/index.js': 'export const parse = Number\n',
  'src/printer/index.js': 'export const print = String\n',
  'src/printer/format.js': 'export const width = 80\n',
  'src/config/index.js': 'export const port = 1\n',
  'src/cli/index.js': 'export const main = () => 0\n',
  'docs/usage.md': '# Usage\n',
  'CHANGES.md': '# Changes\n',
}

const plan = {
  phases: [{ name: 'Parts' }, { name: 'Whole' }],
  tasks: [
    { key: 'parser', title: 'Parser', phase: 'Parts', areas: ['src/parser/'] },
    { key: 'printer', title: 'Printer', phase: 'Parts', areas: ['src/printer/'] },
    { key: 'config', title: 'Config', phase: 'Parts', areas: ['src/config/'] },
    {
      key: 'cli',
      title: 'Command line',
      phase: 'Whole',
      areas: ['src/cli/'],
      depends_on: ['parser', 'printer'],
    },
    { key: 'docs', title: 'Docs', phase: 'Whole', areas: ['docs/'], depends_on: ['cli', 'config'] },
    {
      key: 'release',
      title: 'Release',
      phase: 'Whole',
      areas: ['CHANGES.md'],
      depends_on: ['parser', 'printer', 'cli', 'docs'],
    },
  ],
}

/** Claims the next task and begins it, as every worker does. */
async function begin(agent: Agent, title: string): Promise<Answer> {
  const { task, claim } = await agent.call('taskman_task_next', { claim: true })
  expect(task.title).toBe(title)
  return agent.call('start_task', { planned_task_id: task.id, claim_token: claim.token })
}

const complete = (agent: Agent, task_id: string, summary: string, more: object = {}) =>
  agent.call('complete_task', { task_id, status: 'success', outcome: { summary }, ...more })

/** Each listed file with how sure it is and its lines. */
const measured = ({ details }: Answer) =>
  Object.fromEntries(
    details.map(({ path, attribution, added_lines, deleted_lines }: Answer) => [
      path,
      `${attribution} +${added_lines} -${deleted_lines}`,
    ]),
  )

const candidatesByPath = ({ contested_files = [] }: Answer) =>
  Object.fromEntries(contested_files.map(({ path, candidates: who }: Answer) => [path, who.join(', ')]))

test('a lead and three workers share a work tree for an hour, and every report is what really happened', async () => {
  const tree = openSharedTree(files)
  const before = tree.state()
  const [lead, ada, bob, cy] = await Promise.all(['lead', 'ada', 'bob', 'cy'].map((name) => tree.agent(name)))
  if (!lead || !ada || !bob || !cy) throw new Error('four agents are needed')

  // The lead plans six tasks with eight dependencies in one call.
  const { mission_id } = await lead.call('start_mission', {
    name: 'Numbers',
    objective: 'Read and print numbers',
  })
  const planned = await lead.call('plan_tasks', { mission_id, ...plan })
  expect(planned.tasks.map(({ key, ready }: Answer) => [key, ready])).toEqual([
    ['parser', true],
    ['printer', true],
    ['config', true],
    ['cli', false],
    ['docs', false],
    ['release', false],
  ])

  // Three workers at once.
  const parser = await begin(ada, 'Parser')
  const printer = await begin(bob, 'Printer')
  const config = await begin(cy, 'Config')
  tree.append('src/parser/index.js', 'export const digits = 10')
  tree.append('src/printer/format.js', 'export const pad = 2') // by ada, in bob's area
  tree.append('src/printer/index.js', 'export const loop = () => loop()')
  tree.append('src/config/index.js', 'export const host = "?"')
  tree.append('shared.js', 'export const byAda = 1')
  tree.append('shared.js', 'export const byBob = 1')
  tree.git('commit', '-qam', 'Parse digits') // by ada, with everybody's hunks

  // Before she ends, ada looks: what others probably wrote is named, not hers, and not held against her.
  const look = await complete(ada, parser.task_id, 'Parses digits.', { preview: true })
  expect(measured(look)).toEqual({ 'shared.js': 'contested +2 -0', 'src/parser/index.js': 'probable +1 -0' })
  expect(candidatesByPath(look)).toEqual({
    'src/config/index.js': 'cy',
    'src/printer/format.js': 'bob',
    'src/printer/index.js': 'bob',
  })
  expect(look).toMatchObject({
    measurement: 'partial',
    verification: { scope_match: true, unexpected_files: [] },
  })

  // She says what she did in bob's area, and it is in her report, outside her own.
  const first = await complete(
    ada,
    parser.task_id,
    'Parses digits. I had to change src/printer/format.js too.',
  )
  expect(measured(first)).toEqual({
    'shared.js': 'contested +2 -0',
    'src/parser/index.js': 'probable +1 -0',
    'src/printer/format.js': 'probable +1 -0',
  })
  expect(candidatesByPath(first)).toEqual({ 'src/config/index.js': 'cy', 'src/printer/index.js': 'bob' })
  expect(first.claimed_paths).toEqual([{ path: 'src/printer/format.js', found: 'uncontested' }])
  expect(first.commits).toMatchObject([{ subject: 'Parse digits', whose: 'unknown' }])
  expect(first).toMatchObject({
    measurement: 'partial',
    verification: { scope_match: false, unexpected_files: ['src/printer/format.js'] },
  })
  expect(first.verification.warnings.join('\n')).toMatch(
    /"Parse digits" also holds changes that are probably not yours/,
  )
  expect(first.waits_for).toMatchObject([{ kind: 'scope' }])

  // Nothing is ready, and it says why.
  const nothing = await ada.call('taskman_task_next', { claim: true })
  expect(nothing.task).toBeNull()
  expect(nothing.message).toMatch(/3 wait/)
  expect(nothing.message).toMatch(/bob/)

  // Bob fails, and loses his context with his process.
  const failed = await bob.call('complete_task', {
    task_id: printer.task_id,
    status: 'failed',
    outcome: {
      summary: 'The printer loops.',
      limitations: ['Wide tables loop for ever'],
      next_steps: ['Measure the columns first'],
    },
  })
  expect(measured(failed)).toEqual({
    'shared.js': 'contested +2 -0',
    'src/printer/index.js': 'probable +1 -0',
  })
  // Ada alone claims the file in his area.
  expect(candidatesByPath(failed)).toEqual({
    'src/config/index.js': 'cy',
    'src/parser/index.js': 'ada',
    'src/printer/format.js': 'ada',
  })
  expect(failed).toMatchObject({ measurement: 'partial', verification: { scope_match: true } })
  await bob.leave()

  // Whoever takes the failed task again is told what was learned.
  const bobAgain = await tree.agent('bob')
  const context = await bobAgain.call('get_context', { mission_id, include: ['tasks'] })
  const line = context.tasks.find(({ id }: Answer) => id === printer.task_id)
  expect(line).toMatchObject({ status: 'FAILED' })
  expect(JSON.stringify(line)).toContain('The printer loops.')
  const retried = await begin(bobAgain, 'Printer')
  expect(retried.previous_attempts).toMatchObject([
    {
      agent: 'bob',
      status: 'failed',
      summary: 'The printer loops.',
      limitations: ['Wide tables loop for ever'],
      next_steps: ['Measure the columns first'],
    },
  ])

  // Cy asks a person, and waits for the answer instead of polling.
  const asked = await cy.call('log_issue', {
    task_id: config.task_id,
    type: 'unclear_requirement',
    description: 'Which host?',
    requires_human_review: true,
  })
  expect(asked.blocker).toBe(true)
  const waiting = cy.call('get_context', {
    mission_id,
    include: ['blockers'],
    filter: { since: new Date().toISOString() },
    wait_seconds: 50,
  })
  const inbox = JSON.parse(tree.person('inbox', '--format', 'json'))
  expect(inbox.items.map(({ kind }: Answer) => kind).sort()).toEqual(['blocker', 'scope'])
  const question = inbox.items.find(({ kind }: Answer) => kind === 'blocker')
  expect(question).toMatchObject({ task_id: config.task_id, reason: 'Which host?' })
  tree.person('resolve', question.item_id, 'Use localhost.')
  expect(JSON.stringify(await waiting)).toContain('Use localhost.')

  // Two are left in the tree: each keeps to its area.
  tree.write('src/printer/index.js', 'export const print = (number) => String(number)\n')
  tree.append('src/config/index.js', 'export const name = "localhost"')
  const second = await complete(bobAgain, printer.task_id, 'Prints without a loop.')
  expect(measured(second)).toEqual({ 'src/printer/index.js': 'probable +1 -2' })
  expect(candidatesByPath(second)).toEqual({ 'src/config/index.js': 'cy' })
  const third = await complete(cy, config.task_id, 'The host is localhost.')
  expect(measured(third)).toEqual({ 'shared.js': 'contested +2 -0', 'src/config/index.js': 'probable +2 -0' })
  expect(candidatesByPath(third)).toEqual({
    'src/parser/index.js': 'ada',
    'src/printer/format.js': 'bob',
    'src/printer/index.js': 'bob',
  })

  // From here on one at a time: everything is certain.
  const alone = async (agent: Agent, title: string, path: string, words: string) => {
    const started = await begin(agent, title)
    tree.append(path, words)
    const report = await complete(agent, started.task_id, `Wrote ${path}.`)
    expect(measured(report)).toEqual({ [path]: 'certain +1 -0' })
    expect(report.contested_files).toBeUndefined()
    expect(report).toMatchObject({ measurement: 'exact', verification: { scope_match: true, warnings: [] } })
  }
  await alone(ada, 'Command line', 'src/cli/index.js', 'export const help = "?"')
  await alone(cy, 'Docs', 'docs/usage.md', 'Run it.')
  await alone(bobAgain, 'Release', 'CHANGES.md', '- The first')

  // The end: what waits is said, and the numbers are those of git.
  const ended = await lead.call('complete_mission', {
    mission_id,
    status: 'completed',
    summary: 'Numbers are read and printed.',
  })
  expect(ended.waits_for).toMatchObject([{ kind: 'scope' }])
  const truth = numstat(tree.folder, before, tree.state())
  const told = JSON.parse(tree.person('mission', 'changes', mission_id, '--format', 'json'))
  expect({
    paths: told.files.map(({ path }: Answer) => path).sort(),
    added: told.added_lines,
    deleted: told.deleted_lines,
  }).toEqual(truth)
  expect(ended.metrics.files_changed).toBe(truth.paths.length)
  expect(ended.metrics.total_tasks).toBe(6)
  const left = JSON.parse(tree.person('inbox', '--format', 'json'))
  expect(left.items).toMatchObject([
    { kind: 'scope', task_id: parser.task_id, paths: ['src/printer/format.js'], opened_by: 'waymark' },
  ])
  expect(tree.calls()).toBeLessThanOrEqual(60)
}, 240_000)

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inbox } from '../../../src/inbox/cli/inbox.ts'
import { amount } from '../../support/amount.ts'
import { person } from '../../support/project.ts'
import { process } from './processes.ts'
import { failureOf } from './run.ts'
import { gatedMission } from './subject.ts'

const ana = { ...person, name: 'Ana' }
const conditions = ['in_scope', 'touches_none, paths: ["utils.ts"]', 'touches_only, paths: ["src/"]', 'none']

async function gated(condition: string) {
  const guards = `  right: { type: changes, condition: ${condition} }`
  const mission = await gatedMission(process('p', { guards, guard: 'right' }), 'p')
  const { project, run } = mission
  const waiting = async () => (await project.call('inbox', { kind: 'scope' }, { actor: ana })).items
  const refused = async () => (await run.refused('go')).details as any
  const approve = (input: object) => project.call('approve', input, { actor: ana })
  /** A task that commits a change and puts it back on disk, and ends so. */
  const evade = async () => {
    const task = await mission.start()
    const before = readFileSync(join(project.folder, 'utils.ts'), 'utf8')
    project.write('utils.ts', 'export const utils = 2\n')
    project.git('commit', '-qam', 'More than is on disk')
    project.write('utils.ts', before)
    await mission.complete(task)
  }
  return { ...mission, waiting, refused, approve, evade }
}

test.each(conditions.slice(0, amount({ test: 1, soak: 4 })))(
  '%s: a person accepts what a task committed and put back on disk',
  async (condition) => {
    const { run, waiting, refused, approve, evade } = await gated(condition)
    await evade()
    const { item_id } = await refused()
    const [item] = await waiting()
    expect(item).toMatchObject({
      item_id,
      kind: 'scope',
      run_id: run.id,
      paths: ['utils.ts'],
      content: expect.stringMatching(/^[0-9a-f]{64}$/),
      request: {
        kind: 'changes',
        files: [{ path: 'utils.ts', git: expect.stringMatching(/^[0-9a-f]{40}/) }],
      },
    })
    expect(await approve({ id: item_id, content: item.content })).toMatchObject({ action: 'approved' })
    expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
  },
)

test('what git holds changes after the acceptance: it is void, and another question is asked', async () => {
  const { project, run, waiting, refused, approve, evade } = await gated('in_scope')
  await evade()
  const { item_id: first } = await refused()
  await approve({ id: first })
  const before = readFileSync(join(project.folder, 'utils.ts'), 'utf8')
  project.write('utils.ts', 'export const utils = "backdoor"\n')
  project.git('commit', '-qam', 'Another content')
  project.write('utils.ts', before)
  const { item_id: second } = await refused()
  expect(second).not.toBe(first)
  expect((await waiting()).map(({ item_id }: any) => item_id)).toEqual([second])
  await approve({ id: second })
  project.git('add', '-A')
  project.write('utils.ts', 'export const utils = "on disk"\n')
  expect((await refused()).item_id).not.toBe(second)
  project.write('utils.ts', before)
  project.git('reset', '-q')
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('an acceptance of changes that are others meanwhile is refused', async () => {
  const { project, refused, approve, evade } = await gated('in_scope')
  await evade()
  const { item_id } = await refused()
  project.git('commit', '-qam', 'What is on disk')
  expect(await failureOf(approve({ id: item_id }))).toMatchObject({
    code: 'CONFLICT',
    reason: 'content_changed',
  })
})

test('a person’s own edit between tasks is named as such, and they accept it', async () => {
  const { project, run, start, complete, waiting, refused, approve } = await gated(
    'touches_only, paths: ["src/"]',
  )
  await complete(await start())
  project.write('README.md', '# Edited by hand\n')
  await complete(await start({ name: 'Another' }))
  expect((await refused()).missing_guards).toEqual([
    'right: changed, and is not among the allowed paths: README.md (while no task of this work was open)',
  ])
  const [item] = await waiting()
  await approve({ id: item.item_id, content: item.content })
  project.write('README.md', '# Edited by an agent\n')
  await refused()
  project.write('README.md', '# Edited by hand\n')
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('an agent does not ask again for what a person said no to; a person does', async () => {
  const { project, run, waiting, refused, approve, evade } = await gated('in_scope')
  await evade()
  const { item_id } = await refused()
  await project.call('reject', { id: item_id, reason: 'Put it right.' }, { actor: ana })
  expect((await refused()).item_id).toBeUndefined()
  expect(await waiting()).toEqual([])
  expect(JSON.stringify(await run.state())).toContain('Put it right.')
  const decided = await failureOf(
    project.call('decide', { run_id: run.id, event: 'go', role: 'reviewer' }, { actor: ana }),
  )
  const { item_id: again } = decided.details as any
  await approve({ id: again })
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('a dry run asks nobody, agents accept nothing, and people are told how to look and accept', async () => {
  const { project, missionId, run, waiting, refused, evade } = await gated('in_scope')
  await evade()
  const { error } = await run.emit('go', { dry_run: true })
  expect(error.details.item_id).toBeUndefined()
  expect(await waiting()).toEqual([])
  const { item_id } = await refused()
  expect(item_id).toMatch(/^h-/)
  expect(await failureOf(project.call('approve', { id: item_id }))).toMatchObject({ code: 'FORBIDDEN' })
  const answer = await project.call('inbox', { kind: 'scope' }, { actor: ana })
  const text = inbox(answer, { ink: (_style: string, words: string) => words, now: Date.now() } as any)
  expect(text).toContain('git diff HEAD -- utils.ts')
  expect(text).toContain(`waymark approve ${item_id} --content ${answer.items[0].content.slice(0, 12)}`)
  // A review that approves the work leaves the question open: its diff does not show what git holds.
  const subject = { mission: missionId }
  const { content } = await project.call('review_show', { mission: missionId }, { actor: ana })
  await project.call('review_send', { subject, action: 'approve', content }, { actor: ana })
  expect((await waiting()).map((item: any) => item.item_id)).toEqual([item_id])
})

test('a file that was accepted out of scope is none that a later edit may hide in', async () => {
  const { project, run, start, complete, waiting, refused, approve } = await gated('in_scope')
  const task = await start()
  project.write('utils.ts', 'export const utils = 2\n')
  await complete(task)
  const [item] = await waiting()
  await approve({ id: item.item_id })
  expect(await run.emit('go', { dry_run: true })).toMatchObject({ success: true })
  project.write('utils.ts', 'export const utils = "backdoor"\n')
  expect((await refused()).missing_guards).toEqual([
    'right: utils.ts changed while no task of this work was open',
  ])
  project.write('utils.ts', 'export const utils = 2\n')
  const later = await start({ name: 'Later' })
  project.write('utils.ts', 'export const utils = 3\n')
  await complete(later)
  expect((await refused()).missing_guards).toEqual(['right: changed out of scope: utils.ts'])
})

test('an approval of the changes covers what git holds beside them, and is void when that changes', async () => {
  const text = process('p', {
    guards: '  right: { type: approval, role: reviewer, artifact: changes }',
    guard: 'right',
  }).replace('[agent, reviewer]', '[agent]')
  const { project, run, start, complete } = await gatedMission(text, 'p')
  const task = await start()
  const before = readFileSync(join(project.folder, 'utils.ts'), 'utf8')
  const item = (content: string) => {
    project.write('utils.ts', content)
    project.git('commit', '-qam', 'More than is on disk')
    project.write('utils.ts', before)
  }
  item('export const utils = 2\n')
  await complete(task)
  await project.call('approve', { id: run.id }, { actor: ana })
  expect(await run.emit('go', { dry_run: true })).toMatchObject({ success: true })
  item('export const utils = "backdoor"\n')
  expect(((await run.refused('go')).details as any).missing_guards[0]).toContain(
    'it changed after an approval',
  )
})

import { expect, test } from 'vitest'
import { process } from '../gate/runs/processes.ts'
import { runOf } from '../gate/runs/run.ts'
import { gatedMission } from '../gate/runs/subject.ts'
import { amount } from '../support/amount.ts'
import { person } from '../support/project.ts'

const ana = { actor: { ...person, name: 'Ana' } }

const text = process('reviewed', {
  guards: '  ok: { type: approval, role: reviewer, artifact: changes }',
  guard: 'ok',
}).replace('[agent, reviewer]', '[agent]')

test('to approve a mission approves its run, bound to what was shown', async () => {
  const { project, run, start, complete } = await gatedMission(text, 'reviewed')
  const task = await start()
  project.write('src/auth.ts', 'export const auth = 2\n')
  await complete(task)
  const { items } = await project.context.store.view(({ missions }) => missions.list({ limit: 1 }))
  const subject = { mission: items[0]?.item.id }
  const seen = await project.call('review_show', subject, ana)
  expect(seen.waiting).toMatchObject([{ kind: 'approval', run_id: run.id }])
  project.write('src/auth.ts', 'export const auth = "backdoor"\n')
  const verdict = { subject, action: 'approve', content: seen.content }
  expect(await project.refused('review_send', verdict, ana)).toMatchObject({
    code: 'CONFLICT',
    reason: 'content_changed',
  })
  project.write('src/auth.ts', 'export const auth = 2\n')
  expect(await project.call('review_send', verdict, ana)).toMatchObject({ runs: [{ run_id: run.id }] })
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('an approval stays current after its run was approved, until the files change', async () => {
  const { project, missionId, start, complete } = await gatedMission(text, 'reviewed')
  const task = await start()
  project.write('src/auth.ts', 'export const auth = 2\n')
  await complete(task)
  const subject = { mission: missionId }
  const seen = await project.call('review_show', subject, ana)
  await project.call('review_send', { subject, action: 'approve', content: seen.content }, ana)
  const approved = await project.call('review_show', subject, ana)
  expect(approved.reviews).toMatchObject([{ content: approved.content, current: true }])
  expect(approved.decision).toMatchObject({ action: 'approved', author: 'Ana' })
  const again = await start()
  project.write('src/auth.ts', 'export const auth = 3\n')
  await complete(again)
  const changed = await project.call('review_show', subject, ana)
  expect(changed.reviews).toMatchObject([{ current: false }])
  expect(changed.decision).toBeNull()
})

test('a run that the verdict cannot decide stays for the inbox, and what was decided is told', async () => {
  const { project, run, missionId, start, complete } = await gatedMission(text, 'reviewed')
  const task = await start()
  project.write('src/auth.ts', 'export const auth = 2\n')
  await complete(task)
  const other = process('chosen').replace('[agent, reviewer]', '[reviewer]').replace('["*"]', '[reviewer]')
  const chosen = await runOf(other, { project, input: { mission_id: missionId } })
  const subject = { mission: missionId }
  const seen = await project.call('review_show', subject, ana)
  expect(seen.waiting).toMatchObject([
    { run_id: run.id, is_answered: true, moves_to: null },
    { run_id: chosen.id, is_answered: false },
  ])
  const sent = await project.call('review_send', { subject, action: 'approve', content: seen.content }, ana)
  expect(sent.runs).toMatchObject([{ run_id: run.id }])
  expect(sent.notes).toMatchObject([
    expect.stringContaining(`Run ${chosen.id} was not decided`),
    expect.stringContaining('1 task'),
  ])
  const { reviews, waiting } = await project.call('review_show', subject, ana)
  expect(reviews).toMatchObject([{ action: 'approve' }])
  expect(waiting.map(({ run_id }: { run_id: string }) => run_id)).toContain(chosen.id)
})

test.each([true, false].slice(0, amount({ test: 1, soak: 2 })))(
  'decides every run that waits in one review, on another machine: %s',
  async (isOnMachine) => {
    const { project, run, missionId, start, complete } = await gatedMission(text, 'reviewed', { isOnMachine })
    const task = await start()
    project.write('src/auth.ts', 'export const auth = 2\n')
    await complete(task)
    const second = await runOf(text.replaceAll('reviewed', 'second'), {
      project,
      input: { mission_id: missionId },
    })
    const subject = { mission: missionId }
    const seen = await project.call('review_show', subject, ana)
    const sent = await project.call('review_send', { subject, action: 'approve', content: seen.content }, ana)
    expect(sent.runs.map(({ run_id }: { run_id: string }) => run_id)).toEqual([run.id, second.id])
    expect(sent.accepted).toEqual([task])
    for (const { emit } of [run, second]) expect(await emit('go')).toMatchObject({ status: 'succeeded' })
  },
)

test('to send a mission back withdraws the approval of its run by the same person', async () => {
  const { project, run, missionId, start, complete } = await gatedMission(text, 'reviewed')
  const task = await start()
  project.write('src/auth.ts', 'export const auth = 2\n')
  await complete(task)
  const subject = { mission: missionId }
  const send = async (action: string) => {
    const { content } = await project.call('review_show', subject, ana)
    await project.call('review_send', { subject, action, content, text: 'See above.' }, ana)
  }
  await send('approve')
  await send('send_back')
  expect(await run.refused('go')).toMatchObject({
    details: {
      missing_guards: ['ok: 0 of 1 approvals by reviewer of "changes"; Ana sent it back after approving it'],
    },
  })
  await send('approve')
  expect(await run.emit('go')).toMatchObject({ status: 'succeeded' })
})

test('to reject the review of a task withdraws an approval of its mission’s run', async () => {
  const { project, run, start, complete } = await gatedMission(text, 'reviewed')
  const task = await start()
  project.write('src/auth.ts', 'export const auth = 2\n')
  await complete(task, {
    outcome: { summary: 'Done.', achievements: ['It works'], manual_review_needed: true },
  })
  await project.call('approve', { id: run.id }, ana)
  const { items } = await project.call('inbox', { kind: 'review' }, ana)
  await project.call('reject', { id: items[0]?.item_id, reason: 'Not so.' }, ana)
  expect(await run.refused('go')).toMatchObject({
    details: { missing_guards: [expect.stringContaining('Ana sent it back after approving it')] },
  })
})

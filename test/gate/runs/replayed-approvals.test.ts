import { expect, test } from 'vitest'
import { agentActor, person } from '../../support/project.ts'
import { process } from './processes.ts'
import { runOf, type TestRun } from './run.ts'

const ana = { ...person, name: 'Ana' }

const text = process('planned', {
  guards: '  ok: { type: approval, role: reviewer, artifact: plan }',
  guard: 'ok, when_blocked: record',
  artifacts: '  - { type: plan, paths: ["plan.md"] }',
}).replace('[agent, reviewer]', '[agent]')

async function submitted(run: TestRun) {
  run.project.write('plan.md', 'The plan.\n')
  await run.emit('go', { artifact_paths: ['plan.md'] })
  const { items } = await run.project.call('inbox', { kind: 'approval' }, { actor: person })
  return items.find(({ run_id }: { readonly run_id: string }) => run_id === run.id)
}

test('an approval in one run opens no other run, though the content is the same', async () => {
  const one = await runOf(text, { git: true })
  const first = await submitted(one)
  const other = await runOf(text, { project: one.project })
  const second = await submitted(other)
  await one.project.call('approve', { id: first.item_id, content: first.content }, { actor: ana })
  expect((await other.emit('go')).unsatisfied_guards).toEqual(['ok: 0 of 1 approvals by reviewer of "plan"'])
  expect(await one.emit('go')).toMatchObject({ status: 'succeeded' })
  // The item of the run that has ended opens nothing any more, and the other one waits still.
  await expect(
    one.project.call('approve', { id: first.item_id, content: first.content }, { actor: ana }),
  ).rejects.toThrow()
  const { items } = await one.project.call('inbox', { kind: 'approval' }, { actor: person })
  expect(items.map(({ item_id }: { readonly item_id: string }) => item_id)).toEqual([second.item_id])
})

test('an agent approves nothing by naming the content', async () => {
  const run = await runOf(text, { git: true })
  const { item_id, content } = await submitted(run)
  for (const id of [item_id, run.id]) {
    const refused = await run.project.refused('approve', { id, content }, { actor: agentActor })
    expect(refused).toMatchObject({ code: 'FORBIDDEN' })
  }
  expect((await run.history()).approvals).toEqual([])
})

test('no approval of a run before a jump of the clock counts for what came after it', async () => {
  const run = await runOf(text, { git: true })
  const { content, item_id } = await submitted(run)
  run.project.wait(-365 * 24 * 3_600_000)
  run.project.write('plan.md', 'A year ago.\n')
  expect(await run.project.refused('approve', { id: item_id, content }, { actor: ana })).toMatchObject({
    reason: 'content_changed',
  })
  run.project.write('plan.md', 'The plan.\n')
  await run.project.call('approve', { id: item_id, content }, { actor: ana })
  run.project.wait(2 * 365 * 24 * 3_600_000)
  run.project.write('plan.md', 'Another plan.\n')
  expect((await run.emit('go')).unsatisfied_guards[0]).toContain('it changed after an approval')
})

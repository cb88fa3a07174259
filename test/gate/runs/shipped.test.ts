import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { inbox } from '../../../src/inbox/cli/inbox.ts'
import { status } from '../../../src/project/cli/project.ts'
import { reviewShow } from '../../../src/review/cli/review.ts'
import { soakTest } from '../../support/amount.ts'
import { type Answer, person } from '../../support/project.ts'
import { runOf } from './run.ts'
import { gatedMission } from './subject.ts'

const ana = { ...person, name: 'Ana' }
const ben = { ...person, name: 'Ben' }

function shipped(id: string): string {
  return readFileSync(join(import.meta.dirname, '..', '..', '..', 'processes', `${id}.yaml`), 'utf8')
}

test('change control: a proposal is sent back, handed in again, approved by two people, made and accepted', async () => {
  const { project, run, start, complete } = await gatedMission(shipped('change-control'), 'change-control')
  const { id } = run
  const propose = (risk: string) =>
    run.emit('propose', { payload: { risk }, artifact_paths: ['docs/change.md'] })
  project.write('docs/change.md', `Everything changes. ${'Why and how. '.repeat(20)}`)
  expect(await propose('high')).toMatchObject({ transition: { to_state: 'review' } })
  const sentBack = { id, reason: 'How is it undone?', event: 'send_back' }
  expect(await project.call('reject', sentBack, { actor: ana })).toMatchObject({ decided: true })
  expect((await run.state()).context).toMatchObject({ reason: 'How is it undone?' })
  const wasSentBack = async () => (await project.call('status', {})).missions[0].gates[0].sent_back
  expect(await wasSentBack()).toEqual({ author: 'Ana', reason: 'How is it undone?' })

  project.write('docs/change.md', `It is undone by a revert. ${'Why and how. '.repeat(20)}`)
  expect(await propose('high')).toMatchObject({ transition: { to_state: 'review' } })
  expect(await wasSentBack()).toBeNull()
  expect(await project.call('approve', { id, reason: 'Good.' }, { actor: ana })).toMatchObject({
    decided: false,
  })
  expect((await run.state()).current_state).toBe('review')
  expect(await project.call('approve', { id, reason: 'Good.' }, { actor: ben })).toMatchObject({
    decided: true,
  })
  expect((await run.state()).current_state).toBe('change')
  expect((await project.call('status', {})).missions[0].gates[0].step).toBe('Make the approved change')
  expect(await run.history()).toMatchObject({
    approvals: [
      { artifact: 'proposal', role: 'reviewer', author: 'Ana', reason: 'Good.' },
      { artifact: 'proposal', role: 'reviewer', author: 'Ben', reason: 'Good.' },
    ],
  })
  const { events: projectEvents } = await project.call('log', { limit: 200 })
  expect(projectEvents.filter(({ kind }: { readonly kind: string }) => kind === 'run.approved')).toHaveLength(
    2,
  )
  const task = await start()
  project.write('src/auth.ts', 'export const auth = 2\n')
  await complete(task)
  expect(await run.emit('submit_change')).toMatchObject({ transition: { to_state: 'acceptance' } })
  expect(await project.call('approve', { id }, { actor: ana })).toMatchObject({
    decided: true,
    status: 'succeeded',
  })
})

test('change control: what is changed after the approval needs another one', async () => {
  const run = await runOf(shipped('change-control'), { git: true })
  const { project, id } = run
  project.write('docs/change.md', `A small change. ${'Why and how. '.repeat(20)}`)
  await run.emit('propose', { payload: { risk: 'high' }, artifact_paths: ['docs/change.md'] })
  await project.call('approve', { id }, { actor: ana })
  project.write('docs/change.md', `A large change. ${'Why and how. '.repeat(20)}`)
  expect(await project.refused('approve', { id }, { actor: ben })).toMatchObject({
    code: 'REFUSED',
    reason: 'artifact_not_submitted',
  })
  expect((await run.state()).current_state).toBe('review')
})

test('change control: who is asked to approve a proposal reads which file it is, or that there is none', async () => {
  const page = { ink: (_: unknown, text: string) => text, width: 120, now: 0 }
  const asked = async (text: string, artifact_paths: readonly string[]) => {
    const { project, emit } = await runOf(text, { git: true })
    project.write('docs/change.md', `A small change. ${'Why and how. '.repeat(20)}`)
    await emit('propose', { payload: { risk: 'low' }, artifact_paths })
    const answer = await project.call('inbox', { include: ['evidence'] }, { actor: ana })
    return { artifacts: answer.items[0].evidence.artifacts, text: inbox(answer, page) }
  }
  const named = await asked(shipped('change-control'), ['docs/change.md'])
  expect(named.artifacts).toEqual([{ type: 'proposal', files: ['docs/change.md'], total: 1 }])
  expect(named.text).toContain('\n  proposal: docs/change.md\n')
  const none = await asked(shipped('change-control').replace('required_artifacts: [proposal]', ''), [])
  expect(none.artifacts).toEqual([{ type: 'proposal', files: [], total: 0 }])
  expect(none.text).toContain('proposal: The run recorded no file of it.')
})

test('feature: the reason of a person is in the history, also where the event has no place for it', async () => {
  const run = await runOf(shipped('feature'), { git: true })
  const decision = { run_id: run.id, event: 'abandon', reason: 'Nobody needs it any more.', role: 'owner' }
  await run.project.call('decide', decision, { actor: ana })
  expect((await run.history()).events[0]).toMatchObject({
    event: 'abandon',
    author: 'Ana',
    payload: { reason: 'Nobody needs it any more.' },
  })
})

test('release: status says what each step waits for, until the mission is completed', async () => {
  const { project, run, missionId, start, complete } = await gatedMission(shipped('release'), 'release')
  await project.call('start_mission', { name: 'Other', objective: 'Ready work' })
  await project.call('taskman_phase_add', { id: 'P1', name: 'Build' })
  await project.call('taskman_task_add', { title: 'Ready', phase: 'P1' })
  const page = { ink: (_: unknown, text: string) => text, width: 120, now: 0 }
  const next = async (): Promise<string> => {
    const text = status(await project.call('status', {}, { actor: ana }), page)
    return text.slice(text.indexOf('next  '), text.indexOf('project  '))
  }
  const work = async (path: string) => {
    const task = await start()
    project.write(path, 'export const auth = hash(2)\n')
    await complete(task)
    return task
  }
  const accept = async (task: string) => {
    const { content } = await project.call('review_show', { task }, { actor: ana })
    const send = { subject: { task }, action: 'approve', content }
    await project.call('review_send', send, { actor: ana })
  }

  const first = await work('src/auth.ts')
  expect(await next()).toContain(`"Sign in": Blocked by proven: "Build" (${first}) is unproven`)
  await accept(first)
  expect(await next()).toContain(`"Sign in": waymark run emit ${run.id}`)
  await run.emit('submit')
  await project.call('reject', { id: run.id, reason: 'Hash it.', event: 'send_back' }, { actor: ana })
  expect(await next()).toContain('Ana sent Release back: “Hash it.”. Tell your agent to go on, then:')
  // Its agent finds it, too: all planned tasks are done.
  const asked = { author: 'Ana', text: 'Hash it.' }
  expect(await project.call('taskman_task_get', { id: first })).toMatchObject({ sent_back: asked })
  expect((await project.call('taskman_task_next', { mission: missionId })).message).toContain(
    `Ana sent Release of mission ${missionId} back to "build": “Hash it.”. Next: state_gate_get_state`,
  )
  const [phase] = (await project.call('show', { id: missionId })).phase_summary
  const planned = { title: 'Hash', mission: missionId, phase: phase.phase_id }
  const { id: hash } = await project.call('taskman_task_add', planned)
  expect(await next()).toContain('Ana sent Release back: “Hash it.”. Tell your agent to go on.')
  await project.call('task_drop', { id: hash, reason: 'Done in another.' })
  await accept(await work('src/hash.ts'))
  expect(await next()).toContain('submit')
  expect(await next()).not.toContain('sent Release back')
  await run.emit('submit')
  await project.call('approve', { id: run.id }, { actor: ana })
  expect(await next()).toMatch(
    /"Sign in": Blocked by landed: it was not measured.*Run: waymark landed\n *Bring the approved changes to the default branch, then:\n *waymark run emit \S+ finish\n *tell your agent to go on/s,
  )
  project.git('add', '.')
  project.git('commit', '-qm', 'Land')
  await run.emit('finish')
  expect(await next()).toContain(`"Sign in": waymark mission complete ${missionId}`)
})

test('release: work that was sent back is not submitted again as it was', async () => {
  const { project, run, start, complete } = await gatedMission(shipped('release'), 'release')
  const accept = async (task: string) => {
    const { content } = await project.call('review_show', { task }, { actor: ana })
    await project.call('review_send', { subject: { task }, action: 'approve', content }, { actor: ana })
  }
  const task = await start()
  project.write('src/auth.ts', 'export const auth = 2\n')
  await complete(task)
  await accept(task)
  await run.emit('submit')
  await project.call('reject', { id: run.id, reason: 'Hash it.', event: 'send_back' }, { actor: ana })
  const missing = async () => (await run.refused('submit')).details
  expect(await missing()).toMatchObject({
    missing_guards: ['redone: no task was done since the work was sent back'],
  })

  await project.call('taskman_task_edit', { task_id: task, status: 'to_do' })
  await start({ task_id: task })
  expect(await complete(task)).toMatchObject({
    verdict: { reasons: expect.arrayContaining([expect.objectContaining({ rule: 'no_change' })]) },
  })
  expect(await missing()).toMatchObject({
    missing_guards: [
      expect.stringMatching(/^proven: /),
      expect.stringMatching(/^redone: .* changed nothing/),
    ],
  })
  expect((await project.call('inbox', { kind: 'verdict' }, { actor: ana })).items).toMatchObject([
    { task_id: task },
  ])

  const more = await start()
  project.write('src/hash.ts', 'export const auth = hash(2)\n')
  await complete(more)
  await Promise.all([task, more].map(accept))
  expect(await run.emit('submit')).toMatchObject({ transition: { to_state: 'review' } })
})

soakTest('release: sent back as a whole, its prompt says what to do with each task', async () => {
  const { project, run, missionId, start, complete } = await gatedMission(shipped('release'), 'release')
  const asAna = { actor: ana }
  const accept = async (task: string) => {
    const { content } = await project.call('review_show', { task }, asAna)
    await project.call('review_send', { subject: { task }, action: 'approve', content }, asAna)
  }
  const tasks = ['src/auth.ts', 'src/api.ts']
  const done: string[] = []
  for (const path of tasks) {
    const task = await start({ name: path })
    project.write(path, 'export const changed = 2\n')
    await complete(task)
    await accept(task)
    done.push(task)
  }
  await run.emit('submit')
  const review = { subject: { mission: missionId }, action: 'send_back', text: 'Hash it.' }
  await project.call('review_send', review, asAna)
  const { current_state, prompt } = await project.call('state_gate_get_state', { run_id: run.id })
  expect(current_state).toBe('build')
  expect(prompt).toContain('start each task of the status to_do again')
  expect(prompt).toContain('needs no change with\n"no_change_reason" in the outcome.')
  for (const id of done)
    expect(await project.call('taskman_task_get', { id })).toMatchObject({ status: 'to_do' })
  const [changed = '', kept = ''] = done
  await start({ task_id: changed })
  project.write('src/auth.ts', 'export const changed = hash(2)\n')
  await complete(changed)
  await start({ task_id: kept })
  expect(
    await complete(kept, { outcome: { summary: 'Done.', no_change_reason: 'It hashes.' } }),
  ).toMatchObject({
    verdict: { reasons: expect.arrayContaining([expect.objectContaining({ rule: 'no_change' })]) },
  })
  await Promise.all(done.map(accept))
  expect(await run.emit('submit')).toMatchObject({ transition: { to_state: 'review' } })
})

test.each(['work', 'her own word'])('release: an empty task redoes nothing, but %s does', async (how) => {
  const text = shipped('release').replace('tasks_done, proven', 'tasks_done')
  const { project, run, start, complete } = await gatedMission(text, 'release')
  const task = await start()
  project.write('src/auth.ts', 'export const auth = 2\n')
  await complete(task)
  await run.emit('submit')
  await project.call('reject', { id: run.id, reason: 'Hash it.', event: 'send_back' }, { actor: ana })
  const empty = await start({ name: 'Nothing', done_when: { changes: [] } })
  await complete(empty, { status: 'partial_success' })
  expect((await run.refused('submit')).details).toMatchObject({
    missing_guards: ['redone: "Nothing" was done since the work was sent back, and changed nothing'],
  })
  if (how === 'work') {
    const more = await start()
    project.write('src/hash.ts', 'export const auth = hash(2)\n')
    await complete(more)
  } else {
    const { content } = await project.call('review_show', { task: empty }, { actor: ana })
    await project.call(
      'review_send',
      { subject: { task: empty }, action: 'approve', content },
      { actor: ana },
    )
  }
  expect(await run.emit('submit')).toMatchObject({ transition: { to_state: 'review' } })
})

test('release: no agent takes work out of its sight, and what is begun after the approval is proven too', async () => {
  const { project, run, start, complete } = await gatedMission(shipped('release'), 'release')
  const accept = async (task: string) => {
    const { content } = await project.call('review_show', { task }, { actor: ana })
    await project.call('review_send', { subject: { task }, action: 'approve', content }, { actor: ana })
  }
  const work = async (path: string, task?: string) => {
    const begun = await start(task === undefined ? { name: path } : { task_id: task })
    project.write(path, 'export const auth = 2\n')
    await complete(begun)
    return begun as string
  }
  const first = await work('src/auth.ts')
  const other = await project.call('start_mission', { name: 'Other', objective: 'Else' })
  await project.call('taskman_phase_add', { id: 'P9', name: 'Else', mission: other.mission_id })
  const moving = { id: first, phase: 'P9' }
  expect(await project.refused('taskman_task_edit', moving)).toMatchObject({ reason: 'task_of_mission' })
  await accept(first)
  await project.call(
    'review_send',
    { subject: { task: first }, action: 'send_back', text: 'Hash it.' },
    { actor: ana },
  )
  const done = { id: first, status: 'done' }
  expect(await project.refused('taskman_task_edit', done)).toMatchObject({ reason: 'task_sent_back' })
  const { phase_id: phase } = await project.call('taskman_task_get', { id: first })
  await project.call('taskman_milestone_add', { id: 'M1', name: 'All', criterion: 'c', phase })
  await project.call('taskman_task_edit', { id: first, milestone: 'M1' })
  const away = { id: 'M1', phase: 'P9' }
  expect(await project.refused('taskman_milestone_edit', away)).toMatchObject({ reason: 'task_of_mission' })
  project.write('src/hash.ts', 'export const auth = hash(2)\n')
  await work('src/auth.ts', first)
  await accept(first)
  await run.emit('submit')
  await project.call('approve', { id: run.id }, { actor: ana })
  const late = await work('src/late.ts')
  project.git('add', '.')
  project.git('commit', '-qm', 'Land')
  expect((await run.refused('finish')).details).toMatchObject({
    missing_guards: [
      expect.stringMatching(/^proven: /),
      `seen: the approval does not show "src/late.ts" (${late}), completed after it`,
    ],
  })
  await accept(late)
  expect(await run.emit('finish')).toMatchObject({ transition: { to_state: 'released' } })
})

test('release: a task that its check proves, and that no approval shows, waits for a person', async () => {
  const { project, run, start, complete } = await gatedMission(shipped('release'), 'release')
  const asAna = { actor: ana }
  const prove = async (path: string, more: object = {}) => {
    const task = await start({ name: path, done_when: { check: ['true'] }, ...more })
    const { items } = await project.call('inbox', { kind: 'command' }, asAna)
    for (const { item_id } of items) await project.call('approve', { id: item_id }, asAna)
    project.write(path, 'export const auth = 2\n')
    const proven = { verdict: { is: 'proven' } }
    await vi.waitFor(async () => expect(await complete(task)).toMatchObject(proven), { timeout: 30_000 })
    return task
  }
  const { phase_id: phase } = await project.call('taskman_task_get', { id: await prove('src/auth.ts') })
  const moved = await prove('src/moved.ts', { mission_id: 'none' })
  await run.emit('submit')
  await project.call('approve', { id: run.id }, asAna)
  await project.call('taskman_task_edit', { id: moved, phase }, asAna)
  project.git('add', '.')
  project.git('commit', '-qm', 'Land')
  expect((await run.refused('finish')).details).toMatchObject({
    missing_guards: [expect.stringContaining(`"src/moved.ts" (${moved})`)],
  })
  const [asked] = (await project.call('inbox', {}, asAna)).items
  expect(asked).toMatchObject({ kind: 'review', task_id: moved })
  await project.call('approve', { id: asked.item_id }, asAna)
  const late = await prove('src/late.ts')
  project.git('add', '.')
  project.git('commit', '-qm', 'Land')
  expect((await run.refused('finish')).details).toMatchObject({
    missing_guards: [`seen: the approval does not show "src/late.ts" (${late}), completed after it`],
  })
  await run.refused('finish')
  const { items } = await project.call('inbox', {}, asAna)
  expect(items).toMatchObject([
    { kind: 'review', task_id: late, reason: expect.stringContaining('approval') },
  ])
  await project.call('approve', { id: items[0].item_id }, asAna)
  expect(await run.emit('finish')).toMatchObject({ transition: { to_state: 'released' } })
})

/** Work of a release that Ana sent back, and that was done again, in a process that needs no check. */
async function sentBackWork() {
  const text = shipped('release').replace('tasks_done, proven', 'tasks_done')
  const gated = await gatedMission(text, 'release')
  const { project, start, complete } = gated
  const redo = async (name: string, outcome: object = {}, second = 2) => {
    const task = await start({ name })
    project.write(`src/${name}.ts`, 'export const one = 1\n')
    await complete(task)
    const send = { subject: { task }, action: 'send_back', text: `Hash ${name}.` }
    await project.call('review_send', send, { actor: ana })
    await start({ task_id: task })
    project.write(`src/${name}.ts`, `export const one = ${second}\n`)
    await complete(task, { outcome: { summary: 'Done.', ...outcome } })
    project.wait(10)
    return task
  }
  return { ...gated, redo, contradict: () => redo('contradicted', { no_change_reason: undefined }, 1) }
}

test('release: to approve the changes answers the reviews of tasks that were done again in them', async () => {
  const { project, run, redo, contradict } = await sentBackWork()
  const asAna = { actor: ana }
  const open = async () => (await project.call('inbox', { kind: 'review' }, asAna)).items as readonly Answer[]
  const told = await redo('told')
  const others = [
    await redo('asked', { manual_review_needed: true, manual_review_reason: 'Is it safe?' }),
    await contradict(),
  ]
  await run.emit('submit')
  others.push(await redo('later'))
  const item = (await open()).find(({ task_id }) => task_id === told)
  expect(item?.reason).toBe('Ana sent it back: “Hash told.” It was done again.')
  expect(await project.call('approve', { id: run.id }, asAna)).toMatchObject({
    transition: { to_state: 'land' },
    note: `Answered with it: review ${item?.item_id}.`,
  })
  expect((await open()).map(({ task_id }) => task_id)).toEqual(others)
  const { items } = await project.call('inbox', { kind: 'review', closed: true }, asAna)
  expect(items).toMatchObject([{ task_id: told, action: 'approved', closed_by: 'Ana' }])
})

test('the inbox says that one answer settles the verdict on redone work and its review', async () => {
  const { project, contradict } = await sentBackWork()
  await contradict()
  const { items } = await project.call('inbox', { include: ['evidence'] }, { actor: ana })
  const page = { ink: (_: unknown, text: string) => text, width: 120, now: 0 }
  const verdict = items.find(({ kind }: Answer) => kind === 'verdict')
  const text = inbox({ items, total: 2, next_cursor: null } as never, page)
  expect(text).toMatch(
    new RegExp(`without a change: “Done.”\\n.*answers this review, too\\. The verdict: ${verdict.item_id}`),
  )
  expect(text.match(/waymark reject /g)).toHaveLength(1)
  const done = await project.call('approve', { id: verdict.item_id }, { actor: ana })
  expect(done.notes).toEqual([expect.stringMatching(/^Answered with it: review h-/)])
})

test('the review of a mission quotes what a person asked for until its changes are approved', async () => {
  const { project, run, missionId, redo } = await sentBackWork()
  const request = async () =>
    (await project.call('review_show', { mission: missionId }, { actor: ana })).request
  await redo('told')
  expect(await request()).toEqual({ author: 'Ana', text: 'Hash told.' })
  await run.emit('submit')
  await project.call('reject', { id: run.id, reason: 'Say it at the gate.' }, { actor: ana })
  expect(await request()).toEqual({ author: 'Ana', text: 'Say it at the gate.' })
  await redo('more')
  project.wait(10)
  await run.emit('submit')
  await project.call('approve', { id: run.id }, { actor: ana })
  expect(await request()).toBeNull()
})

test('an approval of what a review decided says that the run moved on, and names no file as gone', async () => {
  const { project, run, missionId, redo } = await sentBackWork()
  await redo('told')
  await run.emit('submit')
  const { items } = await project.call('inbox', { kind: 'approval' }, { actor: ana })
  const subject = { mission: missionId }
  const { content } = await project.call('review_show', subject, { actor: ana })
  await project.call('review_send', { subject, action: 'approve', content }, { actor: ana })
  const again = { id: run.id, content: items[0].content }
  expect(await project.refused('approve', again, { actor: ana })).toMatchObject({
    code: 'CONFLICT',
    reason: 'content_changed',
    message: `${run.id} left "review" after you reviewed it, and is in "land": an answer or an event decided what you reviewed.`,
  })
})

test('the prompt of a run has the reason with which a person sent a task back', async () => {
  const { project, run, redo } = await sentBackWork()
  const task = await redo('told')
  const prompts = [(await run.state()).prompt, (await project.call('show', { id: run.id })).prompt]
  for (const prompt of prompts) expect(prompt).toContain(`The reason: Ana sent task ${task} back: Hash told.`)
})

test('inbox and review tell their contents of the same changes apart', async () => {
  const { project, run, missionId, redo } = await sentBackWork()
  await redo('told')
  await run.emit('submit')
  const page = { ink: (_: unknown, text: string) => text, width: 120, now: 0 }
  const waiting = await project.call('inbox', { kind: 'approval', include: ['evidence'] }, { actor: ana })
  expect(inbox(waiting as never, page)).toContain(
    'Read the changed lines; the --content that it prints is not that of this approval',
  )
  const shown = await project.call('review_show', { mission: missionId }, { actor: ana })
  const text = reviewShow(shown as never, page)
  expect(text).toContain(`content of this review ${shown.content.slice(0, 12)}`)
})

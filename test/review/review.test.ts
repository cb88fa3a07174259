import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { brief } from '../../src/gate/domain/hook/session-briefing.ts'
import { readBriefing } from '../../src/gate/operations/hook.ts'
import { excerpt } from '../../src/kernel/text.ts'
import { reviewHeading } from '../../src/review/cli/review.ts'
import { uniqueLineIndex } from '../../src/review/domain/lines.ts'
import { maxQuoteLength } from '../../src/review/domain/review.ts'
import { type Answer, openProject, person, type TestProject } from '../support/project.ts'
import { allStatementsSent } from '../support/statements.ts'

const as = { actor: person }

interface Worked {
  readonly project: TestProject
  readonly task: string
  readonly show: (input?: object) => Promise<Answer>
  readonly file: (path: string, more?: object) => Promise<Answer>
}

/** A task whose agent changed one file and added another. */
async function workedTask(edit?: (project: TestProject) => void): Promise<Worked> {
  const project = await openProject()
  const { task_id: task } = await project.call('start_task', { name: 'Sign in', agent_name: 'backend' })
  if (edit) edit(project)
  else {
    project.write('src/auth.ts', 'export const auth = 2\nexport const user = 1\n')
    project.write('src/new.ts', 'one\ntwo\nthree\n')
  }
  await finish(project, task)
  return {
    project,
    task,
    show: (input = { task }) => project.call('review_show', input, as),
    file: (path, more = {}) => project.call('review_file', { subject: { task }, path, ...more }, as),
  }
}

async function finish({ call }: TestProject, task: string) {
  await call('complete_task', {
    task_id: task,
    status: 'success',
    outcome: { summary: 'Done', achievements: ['It works'] },
  })
}

function printed({ hunks }: Answer): string[] {
  return hunks.flatMap(({ lines }: Answer) => lines.map(({ kind, text }: Answer) => `${kind}${text}`))
}

test('a review of a task shows its files with counts and contents', async () => {
  const { show, file } = await workedTask()
  const review = await show()
  expect(
    review.files.map(({ path, status, added, removed }: Answer) => [path, status, added, removed]),
  ).toEqual([
    ['src/auth.ts', 'modified', 2, 1],
    ['src/new.ts', 'added', 3, 0],
  ])
  expect(review.totals).toEqual({ files: 2, added: 5, removed: 1, viewed: 0 })
  expect(review.agents).toEqual(['backend'])
  expect(review.may).toEqual({ decide: true, why: null })
  expect(printed(await file('src/auth.ts'))).toEqual([
    '-export const auth = 1',
    '+export const auth = 2',
    '+export const user = 1',
  ])
})

test('names the files that an agent claims and did not change, in the review and the inbox', async () => {
  const project = await openProject()
  const { call, write } = project
  const { task_id: task } = await call('start_task', { name: 'Sign in' })
  write('src/auth.ts', 'export const auth = 2\n')
  await call('complete_task', {
    task_id: task,
    status: 'success',
    outcome: {
      summary: 'Changed src/auth.ts and added test/auth.test.ts.',
      manual_review_needed: true,
      manual_review_reason: 'Please look.',
    },
  })
  const review = await call('review_show', { task }, as)
  expect(review.unchanged_claims).toEqual(['test/auth.test.ts'])
  expect(reviewHeading(review, { ink: (_, text) => text })).toContain(
    '✗ Claimed as new, but not added: test/auth.test.ts',
  )
  const { items } = await call('inbox', { include: ['evidence'] }, as)
  const claim = { rule: 'claimed_not_changed', paths: ['test/auth.test.ts'] }
  const evidence = {
    unchanged_claims: ['test/auth.test.ts'],
    verdict: { is: 'contradicted', reasons: [claim, { rule: 'no_check' }] },
  }
  expect(items).toMatchObject([
    { kind: 'review', evidence },
    { kind: 'verdict', evidence },
  ])
})

test('a claim of a file that the attempt before changed is not called unchanged', async () => {
  const { call, write } = await openProject()
  const { task_id: task } = await call('start_task', { name: 'Limit logins' })
  write('src/limit.ts', 'export const limit = 5\n')
  await call('complete_task', { task_id: task, status: 'failed', outcome: { summary: 'Half done.' } })
  await call('start_task', { planned_task_id: task })
  write('src/auth.ts', "import './limit.ts'\n")
  const outcome = { summary: 'Added src/limit.ts and used it in src/auth.ts.' }
  const { verdict } = await call('complete_task', { task_id: task, status: 'success', outcome })
  expect(verdict.reasons.map(({ rule }: Answer) => rule)).toEqual(['no_check'])
  const review = await call('review_show', { task }, as)
  expect(review).toMatchObject({ unchanged_claims: [], verdict: { is: 'unproven' } })
})

test('a file that changes after it was looked at comes back, with the difference since', async () => {
  const { project, task, show, file } = await workedTask()
  const subject = { task }
  const [first] = (await show()).files
  await project.call('review_mark', { subject, path: first.path, content: first.after, viewed: true }, as)
  expect((await show()).files[0].viewed).toMatchObject({ content: first.after, current: true })
  const sent = await show()
  await project.call(
    'review_send',
    { subject, action: 'send_back', text: 'Add one', content: sent.content },
    as,
  )
  await project.call('start_task', { planned_task_id: task, agent_name: 'backend' })
  project.write('src/auth.ts', 'export const auth = 2\nexport const user = 1\nexport const more = 1\n')
  await finish(project, task)
  const [again] = (await show()).files
  expect(again.viewed).toMatchObject({ content: first.after, current: false })
  expect(again.attempts).toHaveLength(2)
  expect(printed(await file('src/auth.ts', { since: first.after }))).toEqual([
    ' export const auth = 2',
    ' export const user = 1',
    '+export const more = 1',
  ])
  const whole = await file('src/auth.ts')
  const makers = whole.hunks[0].lines.map(({ attempt }: Answer) => again.attempts.indexOf(attempt))
  expect(makers).toEqual([0, 0, 0, 1])
  expect(
    await project.refused('review_file', { subject, path: 'src/auth.ts', since: 'a'.repeat(40) }, as),
  ).toMatchObject({ code: 'NOT_FOUND', reason: 'content_not_seen' })
})

test('comments are drafts of their author until they are sent back with the work', async () => {
  const { project, task, show } = await workedTask()
  const subject = { task }
  const draft = await project.call(
    'review_comment',
    { subject, path: 'src/auth.ts', line: 2, kind: 'request', text: 'Why user?' },
    as,
  )
  expect(draft).toMatchObject({ quoted: 'export const user = 1', side: 'new', task_id: task })
  const words = { kind: 'request', text: 'Rename user' }
  await project.call('review_comment', { subject, comment_id: draft.comment_id, ...words }, as)
  const other = { actor: { ...person, name: 'Uma', identity: 'user:uma' } }
  expect((await project.call('review_show', { task }, other)).drafts).toEqual([])
  const { content, drafts } = await show()
  expect(drafts).toMatchObject([{ text: 'Rename user', line: 2 }])
  const sent = await project.call('review_send', { subject, action: 'send_back', content }, as)
  expect(sent).toMatchObject({ comments: 1, reopened: [task] })
  expect((await project.call('taskman_task_get', { id: task })).status).toBe('to_do')
  const after = await show()
  expect(after.drafts).toEqual([])
  expect(after.comments).toMatchObject([
    { text: 'Rename user', status: 'open', now: { line: 2, line_is: 'same' } },
  ])
  const { comment_id: id } = after.comments[0]
  await project.call('reply_to_review', { comment_id: id, text: 'Renamed.', done: true })
  expect((await show()).comments[0]).toMatchObject({
    status: 'done',
    replies: [{ text: 'Renamed.', is_person: false, agent_name: 'backend' }],
  })
})

test('a mission ends with a word on the comments that nobody answered', async () => {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'm', objective: 'o' })
  const { task_id: task } = await project.call('start_task', { name: 'Sign in', mission_id })
  project.write('src/auth.ts', 'export const auth = 2\n')
  await project.call('complete_task', { task_id: task, status: 'success', outcome: { summary: 'Done.' } })
  const subject = { task }
  const comment = { subject, path: 'src/auth.ts', line: 1, kind: 'question', text: 'Why 2?' }
  await project.call('review_comment', comment, as)
  const { content } = await project.call('review_show', subject, as)
  await project.call('review_send', { subject, action: 'comment', content }, as)
  const { warnings } = await project.call('complete_mission', {
    mission_id,
    status: 'completed',
    summary: 's',
  })
  expect(warnings).toContainEqual(expect.stringMatching(/^1 comment of a review has no answer: get_context/))
})

/** A task that was sent back with one request. */
async function commentedTask() {
  const { project, task, show } = await workedTask()
  const comment = { subject: { task }, path: 'src/auth.ts', line: 2, kind: 'request', text: 'Rename user' }
  await project.call('review_comment', comment, as)
  const { content } = await show()
  await project.call('review_send', { subject: { task }, action: 'send_back', content, viewed: true }, as)
  const { comment_id } = (await show()).comments[0]
  return { project, task, comment_id }
}

test('a person closes a comment that agents answered as often as they may', async () => {
  const { project, comment_id } = await commentedTask()
  for (let answers = 0; answers < 50; answers += 1)
    await project.call('reply_to_review', { comment_id, text: 'Not yet.' })
  expect(await project.refused('reply_to_review', { comment_id, text: 'Again.' })).toMatchObject({
    reason: 'too_many_replies',
  })
  const closed = await project.call('reply_to_review', { comment_id, text: 'I did it.', done: true }, as)
  expect(closed.status).toBe('done')
})

test('a person who answers a comment that was marked as done opens it again for the agent', async () => {
  const { project, task, comment_id } = await commentedTask()
  await project.call('reply_to_review', { comment_id, text: 'Renamed.', done: true })
  const reply = { comment_id, text: 'No: line 2 is as before.' }
  expect(await project.call('reply_to_review', reply, as)).toMatchObject({ status: 'open' })
  const started = await project.call('start_task', { planned_task_id: task })
  expect(started.review_comments).toMatchObject([{ comment_id, answers: ['Renamed.', reply.text] }])
})

test('answers all comments of a review at once, by the id of the review', async () => {
  const { project, task, show } = await workedTask()
  const subject = { task }
  for (const text of ['Rename user', 'Add a test'])
    await project.call('review_comment', { subject, path: 'src/auth.ts', line: 2, kind: 'request', text }, as)
  const { content } = await show()
  const review = { subject, action: 'send_back', content, viewed: true }
  const { review_id: id } = await project.call('review_send', review, as)
  const reply = await project.call('reply_to_review', { comment_id: id, text: 'Both done.', done: true })
  const { comments } = await show()
  expect(reply.comments).toEqual(comments.map(({ comment_id }: Answer) => comment_id))
  expect(comments).toMatchObject([{ status: 'done' }, { status: 'done' }])
  const page = await project.call('review_comments', { task, limit: 1 })
  expect(page).toMatchObject({ total: 2, comments: [{ comment_id: comments[0].comment_id }] })
  expect(page.reviews).toMatchObject([{ review_id: id }])
  const next = await project.call('review_comments', { task, limit: 1, cursor: page.next_cursor })
  expect(next).toMatchObject({ comments: [{ comment_id: comments[1].comment_id }], next_cursor: null })
  expect(next.reviews).toEqual([])
  expect(await project.refused('reply_to_review', { comment_id: 'rv-none', text: 'x' })).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'comment_not_found',
  })
})

test('a file that became a program after it was looked at comes back', async () => {
  const { project, task, show } = await workedTask()
  const [first] = (await show()).files
  const subject = { task }
  await project.call('review_mark', { subject, path: first.path, content: first.after, viewed: true }, as)
  await project.call(
    'review_send',
    { subject, action: 'send_back', text: 'Run it', content: (await show()).content },
    as,
  )
  await project.call('start_task', { planned_task_id: task, agent_name: 'backend' })
  chmodSync(join(project.folder, first.path), 0o755)
  await finish(project, task)
  const [again] = (await show()).files
  expect(again).toMatchObject({ after: first.after, viewed: { content: first.after, current: false } })
  await project.call('review_mark', { subject, path: first.path, content: again.after, viewed: true }, as)
  expect((await show()).files[0].viewed).toMatchObject({ content: first.after, current: true })
})

test('a long line is found again by its beginning', () => {
  const long = 'x'.repeat(400)
  expect(uniqueLineIndex(excerpt(long, maxQuoteLength), ['first', long])).toBe(2)
})

test('a comment follows its line, and says that it is gone', async () => {
  const { project, task, show } = await workedTask((own) => own.write('src/new.ts', 'one\ntwo\nthree\n'))
  const subject = { task }
  for (const line of [2, 3]) {
    await project.call(
      'review_comment',
      { subject, path: 'src/new.ts', line, kind: 'question', text: `${line}?` },
      as,
    )
  }
  await project.call('review_send', { subject, action: 'send_back', content: (await show()).content }, as)
  await project.call('start_task', { planned_task_id: task })
  project.write('src/new.ts', 'zero\none\ntwo\n3\n')
  await finish(project, task)
  expect((await show()).comments.map(({ now, quoted }: Answer) => [quoted, now.line, now.line_is])).toEqual([
    ['two', 3, 'moved'],
    ['three', null, 'gone'],
  ])
})

test('an approval is bound to what was shown', async () => {
  const project = await openProject()
  const { task_id: task } = await project.call('start_task', { name: 'Sign in' })
  project.write('src/auth.ts', 'export const auth = 2\n')
  const { content, files } = await project.call('review_show', { task }, as)
  expect(files).toHaveLength(1)
  project.write('src/auth.ts', 'export const auth = 3\n')
  const refused = await project.refused('review_send', { subject: { task }, action: 'approve', content }, as)
  expect(refused).toMatchObject({ code: 'CONFLICT', reason: 'content_changed' })
  const { content: now } = await project.call('review_show', { task }, as)
  const approved = await project.call(
    'review_send',
    { subject: { task }, action: 'approve', content: now },
    as,
  )
  expect(approved.author).toBe('Tess')
})

test('an approval holds when a question was answered since, and not when one was asked', async () => {
  const project = await openProject()
  const { task_id: task } = await project.call('start_task', { name: 'Sign in' })
  project.write('src/auth.ts', 'export const auth = 2\n')
  const issue = { task_id: task, type: 'other', resolution: 'none', requires_human_review: true }
  await project.call('log_issue', { ...issue, description: 'Which provider?' })
  const { content, waiting } = await project.call('review_show', { task }, as)
  const approve = { subject: { task }, action: 'approve', content }
  await project.call('log_issue', { ...issue, description: 'Which scopes?' })
  expect(await project.refused('review_send', approve, as)).toMatchObject({ reason: 'content_changed' })
  const { waiting: both } = await project.call('review_show', { task }, as)
  const [asked] = both.filter((one: Answer) => one.item_id !== waiting[0].item_id)
  for (const { item_id: id } of [asked, waiting[0]]) await project.call('resolve', { id, answer: 'Ours' }, as)
  expect(await project.call('review_send', approve, as)).toMatchObject({ action: 'approve' })
})

test('an agent sends no review', async () => {
  const { project, task, show } = await workedTask()
  const { content } = await show()
  const refused = await project.refused('review_send', { subject: { task }, action: 'approve', content })
  expect(refused).toMatchObject({ code: 'FORBIDDEN', reason: 'person_needed' })
})

test('the words of a verdict reach the agent where it takes the task up, and say what they are', async () => {
  const project = await openProject()
  const { mission_id: mission } = await project.call('start_mission', {
    name: 'Rounding',
    objective: 'Round',
  })
  const { task_id: task } = await project.call('start_task', { name: 'Round', mission_id: mission })
  const { task_id: other } = await project.call('start_task', { name: 'Other', mission_id: mission })
  project.write('src/auth.ts', 'export const auth = 2\n')
  const end = (manual_review_needed: boolean) =>
    project.call('complete_task', {
      task_id: task,
      status: 'success',
      outcome: { summary: 'Done', manual_review_needed },
    })
  await end(false)
  const send = async (action: string, text: string) =>
    project.call(
      'review_send',
      {
        subject: { task },
        action,
        text,
        content: (await project.call('review_show', { task }, as)).content,
      },
      as,
    )
  await send('send_back', 'Use whole cents.')
  const first = { action: 'sent back', author: 'Tess', text: 'Use whole cents.' }
  expect((await project.call('taskman_task_get', { id: task })).reviews).toMatchObject([first])
  expect((await project.call('taskman_task_next', {})).message).toBe(
    `Task ${task} was sent back by Tess: Use whole cents.`,
  )
  const briefing = await project.context.store.view((reads) =>
    readBriefing(reads, { attempts: [], runs: [], settings: new Map() }),
  )
  expect(brief(briefing)).toContain(`Task ${task} was sent back by Tess: Use whole cents.`)
  const begun = await project.call('start_task', { planned_task_id: task })
  expect(begun.reviews).toMatchObject([first])
  expect(begun.review_comments).toBeUndefined()
  project.write('src/auth.ts', 'export const auth = 3\n')
  await end(false)
  // It goes back to the person who sent it back, although the agent asks nobody.
  const waiting = await project.call('inbox')
  expect(waiting.items).toMatchObject([
    { kind: 'review', task_id: task, reason: expect.stringMatching(/^Tess /) },
  ])
  await send('send_back', 'Nearly. See the sign.')
  await project.call('start_task', { planned_task_id: task })
  await end(true)
  project.wait(10)
  const { as_of: then } = await project.call('get_context', { mission_id: mission, include: ['tasks'] })
  await send('approve', 'Good.')
  const context = { mission_id: mission, include: ['blockers'] }
  const known = await project.call('get_context', context)
  expect(known.answered_blockers.map(({ resolved }: Answer) => [resolved.action, resolved.answer])).toEqual([
    ['approved', 'Good.'],
    ['sent back', 'Nearly. See the sign.'],
  ])
  expect(known.reviews).toMatchObject([
    { ...first, task_ids: [task] },
    { action: 'sent back', text: 'Nearly. See the sign.' },
    { action: 'approved', text: 'Good.' },
  ])
  const since = await project.call('get_context', { ...context, filter: { since: then } })
  expect(since.reviews).toMatchObject([{ action: 'approved' }])
  expect((await project.call('taskman_task_get', { id: other })).reviews).toBeUndefined()
})

test('a task that was done again twice has one open review, the newest', async () => {
  const { project, task } = await workedTask()
  const redo = async (text: string) => {
    project.wait(10)
    await project.call('review_send', { subject: { since: true }, action: 'send_back', text }, as)
    await project.call('start_task', { planned_task_id: task })
    project.write('src/auth.ts', `export const auth = '${text}'\n`)
    const { waits_for } = await project.call('complete_task', {
      task_id: task,
      status: 'success',
      outcome: { summary: 'Done' },
    })
    const reviews = (await project.call('inbox', { kind: 'review' })).items
    const waiting = waits_for.filter(({ kind }: Answer) => kind === 'review')
    expect(waiting.map(({ item_id }: Answer) => item_id)).toEqual(
      reviews.map(({ item_id }: Answer) => item_id),
    )
    expect(reviews).toMatchObject([
      { task_id: task, reason: `Tess sent it back: “${text}”. It was done again.` },
    ])
  }
  await redo('one')
  await redo('two')
})

test('approving a mission accepts the tasks whose changes it showed', async () => {
  const project = await openProject()
  const { mission_id: mission } = await project.call('start_mission', { name: 'Two', objective: 'Both' })
  const work = async (name: string, edit: () => void) => {
    const { task_id: task } = await project.call('start_task', { name, mission_id: mission })
    edit()
    const outcome = { summary: 'Done', no_change_reason: 'It was there.' }
    await project.call('complete_task', { task_id: task, status: 'success', outcome })
    return task
  }
  const changed = await work('Changed', () => project.write('src/auth.ts', 'export const auth = 2\n'))
  const unchanged = await work('Unchanged', () => {})
  const subject = { mission }
  const { content } = await project.call('review_show', subject, as)
  const sent = await project.call('review_send', { subject, action: 'approve', content }, as)
  expect(sent).toMatchObject({
    accepted: [changed],
    notes: [expect.any(String), expect.stringContaining(`waymark review ${unchanged}`)],
  })
  const ended = { mission_id: mission, status: 'completed', summary: 'Done' }
  expect((await project.call('complete_mission', ended)).doubted).toMatchObject({
    unproven: 1,
    tasks: [{ task_id: unchanged }],
  })
})

test('a mission that is sent back tells each task that it means', async () => {
  const project = await openProject()
  const { mission_id: mission } = await project.call('start_mission', { name: 'Two', objective: 'Both' })
  const tasks: string[] = []
  for (const path of ['src/auth.ts', 'src/api.ts']) {
    const { task_id: task } = await project.call('start_task', { name: path, mission_id: mission })
    project.write(path, 'export const changed = 1\n')
    await finish(project, task)
    tasks.push(task)
  }
  const subject = { mission }
  const send = async (text: string) =>
    project.call(
      'review_send',
      {
        subject,
        action: 'send_back',
        text,
        content: (await project.call('review_show', subject, as)).content,
      },
      as,
    )
  const said = async (id: string) =>
    ((await project.call('taskman_task_get', { id })).reviews ?? []).map(({ text }: Answer) => text)
  await send('All of it.')
  await project.call(
    'review_comment',
    { subject, path: 'src/api.ts', line: 1, kind: 'request', text: 'No' },
    as,
  )
  await send('Only one.')
  expect(await said(tasks[0] ?? '')).toEqual(['All of it.'])
  expect(await said(tasks[1] ?? '')).toEqual(['All of it.', 'Only one.'])
  const why = async (location: string) => (await project.call('why', { location })).reviews
  expect(await why('src/auth.ts:1')).toMatchObject([{ text: 'All of it.' }])
  expect(await why('src/api.ts:1')).toMatchObject([{ text: 'All of it.' }, { text: 'Only one.' }])
  const begun = await project.call('start_task', { planned_task_id: tasks[1] })
  const preview = await project.call('complete_task', {
    task_id: tasks[1],
    status: 'success',
    outcome: { summary: 'Done' },
    preview: true,
  })
  expect(preview.review).toMatchObject({ total: 1, open: [begun.review_comments[0].comment_id] })
})

test('a mission that is completed over work that was sent back says so, and names the tasks', async () => {
  const project = await openProject()
  const { mission_id: mission } = await project.call('start_mission', { name: 'Sent', objective: 'Back' })
  const { task_id: task } = await project.call('start_task', { name: 'Sign in', mission_id: mission })
  project.write('src/auth.ts', 'export const auth = 2\n')
  await finish(project, task)
  await project.call('review_send', { subject: { task }, action: 'send_back', text: 'Use whole cents.' }, as)
  expect((await project.call('list_missions', {})).missions).toMatchObject([
    { open_tasks: 0, to_do_tasks: 1, done_tasks: 0 },
  ])
  const closing = { mission_id: mission, status: 'completed', summary: 'Done' }
  await project.call('setting_set', { name: 'inbox_gate', value: 'all' }, as)
  const refused = await project.refused('complete_mission', closing)
  expect(refused).toMatchObject({
    code: 'REFUSED',
    reason: 'tasks_sent_back',
    fix: { operation: 'start_task' },
  })
  await project.call('setting_set', { name: 'inbox_gate', value: 'blockers' }, as)
  const { warnings } = await project.call('complete_mission', closing)
  expect(warnings).toEqual([
    `Completed although a person sent 1 task back, and nobody has redone it: ${task} "Sign in".`,
  ])
})

test('work may be sent back unseen, but not approved', async () => {
  const { project, task } = await workedTask()
  const subject = { task }
  expect(await project.refused('review_send', { subject, action: 'approve' }, as)).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'content_missing',
    fix: { operation: 'review_show' },
  })
  const sent = await project.call('review_send', { subject, action: 'send_back', text: 'Again' }, as)
  expect(sent.reopened).toEqual([task])
})

test('status reads the tasks that were sent back with the same statements, however many they are', async () => {
  const project = await openProject()
  const statements = async (tasks: number) => {
    for (let number = 0; number < tasks; number += 1) {
      const { task_id: task } = await project.call('start_task', { name: 'Sign in' })
      project.write('src/auth.ts', `export const auth = ${number + 2}\n`)
      await project.call('complete_task', { task_id: task, status: 'success', outcome: { summary: 'Done' } })
      await project.call('review_send', { subject: { task }, action: 'send_back', text: 'Again' }, as)
    }
    const sent = allStatementsSent()
    const { sent_back: tasks_sent_back } = await project.call('status', {}, as)
    return { tasks: tasks_sent_back.length, statements: sent.length }
  }
  const one = await statements(1)
  expect(await statements(3)).toEqual({ tasks: 4, statements: one.statements })
})

test('an answer to the review of an attempt also answers its verdict, and the other way round', async () => {
  const asked = { summary: 'Added src/limit.ts.', manual_review_needed: true }
  for (const [verb, kind] of [
    ['reject', 'verdict'],
    ['approve', 'review'],
  ] as const) {
    const project = await openProject()
    const { task_id: task } = await project.call('start_task', { name: 'Sign in' })
    project.write('src/auth.ts', 'export const auth = 2\n')
    await project.call('complete_task', { task_id: task, status: 'success', outcome: asked })
    const { items } = await project.call('inbox', {})
    expect(items.map((item: Answer) => item.kind).toSorted()).toEqual(['review', 'verdict'])
    const { item_id: id } = items.find((item: Answer) => item.kind === kind)
    await project.call(verb, { id, reason: 'As said' }, as)
    expect((await project.call('inbox', {})).items).toEqual([])
    const { items: closed } = await project.call('inbox', { closed: true })
    const action = verb === 'approve' ? 'approved' : 'sent back'
    expect(closed).toMatchObject([
      { action, answer: 'As said' },
      { action, answer: 'As said' },
    ])
  }
})

test('to approve the review that an agent asked for accepts the work, until more is asked about it', async () => {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'm', objective: 'o' })
  const { task_id: task } = await project.call('start_task', { name: 'Sign in', mission_id })
  project.write('src/auth.ts', 'export const auth = 2\n')
  const outcome = { summary: 'Changed src/auth.ts.', manual_review_needed: true }
  await project.call('complete_task', { task_id: task, status: 'success', outcome })
  const accepted = async () => (await project.call('show', { id: task })).attempts[0].accepted_by
  expect(await accepted()).toBeUndefined()
  const { items } = await project.call('inbox', {})
  await project.call('approve', { id: items[0].item_id }, as)
  expect(await accepted()).toBe('Tess')
  const end = { mission_id, status: 'completed', summary: 'Done.' }
  const { warnings = [] } = await project.call('complete_mission', end)
  expect(warnings.join()).not.toMatch(/unproven/)
})

test('an inbox entry of a review names the review; to reject it sends the task back', async () => {
  const project = await openProject()
  const { task_id: task } = await project.call('start_task', { name: 'Sign in' })
  project.write('src/auth.ts', 'export const auth = 2\n')
  const outcome = { summary: 'Done', manual_review_needed: true }
  await project.call('complete_task', { task_id: task, status: 'success', outcome })
  const { items } = await project.call('inbox', {})
  expect(items[0].answers[0].command).toBe(`waymark review ${task}`)
  expect(await project.refused('approve', { id: task }, as)).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'inbox_id_invalid',
  })
  await project.call('reject', { id: items[0].item_id, reason: 'Use a dot' }, as)
  expect((await project.call('taskman_task_get', { id: task })).status).toBe('to_do')
  expect(await project.refused('review_comments', {}, as)).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'subject_missing',
    fix: { operation: 'review_comments' },
  })
})

describe('what a person typed around an undo or a restore', () => {
  const agent = 'export const auth = 2\n'
  const typed = '// typed by a person\n'

  async function undoneTask() {
    const worked = await workedTask(({ write }) => write('src/auth.ts', `one\n${agent}`))
    const { project, task, show } = worked
    project.write('src/auth.ts', `one\n${agent}${typed}`)
    const undone = await project.call('undo', { id: task, yes: true }, as)
    return { project, task, show, undone, path: join(project.folder, 'src/auth.ts') }
  }

  test('is not shown as the work of an undone task', async () => {
    const { show, path } = await undoneTask()
    expect(readFileSync(path, 'utf8')).toContain(typed)
    const review = await show()
    expect(review.files).toEqual([])
    expect(review.notes.join()).toContain('src/auth.ts also changed while no attempt was open')
  })

  test('is not shown as the work of a task whose undo was taken back', async () => {
    const { project, show, undone, path } = await undoneTask()
    await project.call('restore', { id: undone.snapshot_id, yes: true, force: true }, as)
    expect(readFileSync(path, 'utf8')).toBe(`one\n${agent}${typed}`)
    expect((await show()).files).toMatchObject([{ path: 'src/auth.ts', added: 2, removed: 1 }])
  })

  test('leaves it open whose a file of several tasks is', async () => {
    const project = await openProject()
    const { mission_id: mission } = await project.call('start_mission', { name: 'Mission', objective: 'o' })
    const work = async (content: string) => {
      const { task_id: task } = await project.call('start_task', { name: 'Any', mission_id: mission })
      project.write('src/new.ts', content)
      await finish(project, task)
      return task
    }
    const lines = 'a\nb\nc\nd\ne\nf\n'
    const first = await work(lines)
    await work(`${lines}second\n`)
    project.write('src/new.ts', `${typed}${lines}second\n`)
    await project.call('undo', { id: first, yes: true, conflicts: true }, as)
    const { files } = await project.call('review_show', { mission }, as)
    expect(files).toMatchObject([{ path: 'src/new.ts', certainty: 'contested' }])
  })
})

import { expect, test } from 'vitest'
import { amount } from '../support/amount.ts'
import { isPostgresLeftOut, sharedPostgres } from '../support/postgres/database.ts'
import { type Answer, openProject, person, type TestProject } from '../support/project.ts'

const engines = [
  { engine: 'sqlite', open: () => openProject() },
  ...(isPostgresLeftOut
    ? []
    : [{ engine: 'postgres', open: async () => openProject({ postgres: await sharedPostgres() }) }]),
]
const as = { actor: person }
const outcome = { summary: 'Done', achievements: ['It works'] }

async function worked(project: TestProject, mission?: string): Promise<string> {
  const { task_id } = await project.call('start_task', {
    name: 'Sign in',
    ...(mission !== undefined && { mission_id: mission }),
  })
  project.write('src/auth.ts', 'export const auth = 2\n')
  project.write('logo.png', '\u0089PNG\u0000\u0001')
  await project.call('complete_task', { task_id, status: 'success', outcome })
  return task_id
}

test.each(engines.slice(0, amount({ test: 1, soak: 2 })))(
  'a review is kept, replayed and asked for on $engine',
  async ({ open }) => {
    const project = await open()
    const { mission_id: mission } = await project.call('start_mission', {
      name: 'Auth',
      objective: 'Sign in',
    })
    const task = await worked(project, mission)
    const subject = { mission }
    const show = () => project.call('review_show', subject, as)
    const comment = {
      subject,
      kind: 'question',
      path: 'src/auth.ts',
      line: 1,
      side: 'old',
      text: 'Was it 1?',
    }
    await project.call('review_comment', comment, as)
    await project.call('review_comment', { subject, kind: 'request', text: 'Write a guide' }, as)
    const dropped = await project.call('review_comment', { subject, kind: 'request', text: 'No' }, as)
    await project.call('review_comment_drop', { comment_id: dropped.comment_id }, as)
    const before = await show()
    expect(before.drafts.map(({ text, task_id }: Answer) => [text, task_id])).toEqual([
      ['Was it 1?', task],
      ['Write a guide', task],
    ])
    const sent = await project.call(
      'review_send',
      { subject, action: 'send_back', content: before.content, viewed: true },
      as,
    )
    expect(sent.reopened).toEqual([task])
    const { review_comments: reviewComments } = await project.call('get_context', {
      mission_id: mission,
      include: ['tasks'],
    })
    expect(reviewComments.map(({ text, side, line }: Answer) => [text, side, line])).toEqual([
      ['Was it 1?', 'old', 1],
      ['Write a guide', undefined, undefined],
    ])
    await project.call('reply_to_review', { comment_id: reviewComments[0].comment_id, text: 'Yes.' })
    const after = await show()
    expect(after.totals).toMatchObject({ files: 2, viewed: 2 })
    expect(after.comments.map(({ status, now }: Answer) => [status, now.line_is])).toEqual([
      ['answered', 'same'],
      ['open', null],
    ])
    expect(after.reviews).toMatchObject([{ action: 'send_back', comments: 2, author: 'Tess' }])
    const inspection = await project.context.store.inspect()
    expect(inspection).toMatchObject({ error: null, brokenAt: null, differing: 0, differences: [] })
  },
)

test.each(engines.slice(0, amount({ test: 1, soak: 2 })))(
  'what a person decided on a task or mission is not new to them, on $engine',
  async ({ open }) => {
    const project = await open()
    const task = await worked(project)
    const isNew = async (actor: object = as) =>
      (await project.call('review_show', { since: true }, actor)).files.length > 0
    expect(await isNew()).toBe(true)
    const { content } = await project.call('review_show', { task }, as)
    await project.call('review_send', { subject: { task }, action: 'approve', content }, as)
    expect(await isNew()).toBe(false)
    expect(await isNew({ actor: { ...person, identity: 'user:uma' } })).toBe(true)
  },
)

test.each(engines.slice(0, amount({ test: 1, soak: 2 })))(
  'what is new is told since it was last looked at, on $engine',
  async ({ open }) => {
    const project = await open()
    const first = await worked(project)
    const show = () => project.call('review_show', { since: true }, as)
    const { content, files } = await show()
    expect(files.map(({ path, kind }: Answer) => [path, kind])).toEqual([
      ['logo.png', 'image'],
      ['src/auth.ts', 'text'],
    ])
    const image = { subject: { task: first }, path: 'logo.png', side: 'new' }
    expect(await project.call('review_image', image, as)).toMatchObject({ type: 'image/png', size: 7 })
    await project.call(
      'review_send',
      { subject: { since: true }, action: 'comment', text: 'Well', content },
      as,
    )
    expect((await show()).files).toHaveLength(2)
    await project.call('review_send', { subject: { since: true }, action: 'approve', content }, as)
    expect((await show()).files).toEqual([])
    expect((await project.call('show', { id: first })).kind).toBe('task')
    const other = { actor: { ...person, identity: 'user:uma' } }
    expect((await project.call('review_show', { since: true }, other)).files).toHaveLength(2)
  },
)

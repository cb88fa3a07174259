import { expect, test } from 'vitest'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import type { Access } from '../../src/people/domain/access.ts'
import { type Answer, openProject, person } from '../support/project.ts'

async function team() {
  const project = await openProject()
  const { task_id: task } = await project.call('start_task', { name: 'Sign in' })
  project.write('src/auth.ts', 'export const auth = 2\n')
  project.write('package-lock.json', '{}\n')
  const outcome = { summary: 'Done', achievements: ['It works'], manual_review_needed: true }
  await project.call('complete_task', { task_id: task, status: 'success', outcome })
  const asMember = (access: Access) => async (name: string, input: object) => {
    const operation = catalog.find((one) => one.name === name)
    if (!operation) throw new Error(name)
    const permissions = {
      personId: `u-${access}`,
      personName: access,
      tokenId: null,
      sessionId: null,
      access,
      admin: false,
      roles: [],
      expiresAt: Number.MAX_SAFE_INTEGER,
    }
    const context = { ...project.context, actor: { ...person, name: access }, permissions }
    return invoke(operation, context, input) as Promise<Answer>
  }
  return { project, task, subject: { task }, asMember }
}

test('a viewer looks, a contributor comments, a maintainer decides', async () => {
  const { task, subject, asMember } = await team()
  const [viewer, contributor, maintainer] = [
    asMember('viewer'),
    asMember('contributor'),
    asMember('maintainer'),
  ]
  const seen = await viewer('review_show', { task })
  expect(seen.may).toEqual({
    decide: false,
    why: 'Approving or sending back needs maintainer access, and viewer has viewer.',
  })
  const [lock, file] = seen.files
  expect(lock).toMatchObject({ path: 'package-lock.json', folded: 'lock file' })
  await viewer('review_mark', { subject, path: file.path, content: file.after, viewed: true })
  expect((await viewer('review_show', { task })).totals.viewed).toBe(1)
  expect((await contributor('review_show', { task })).totals.viewed).toBe(0)
  const comment = { subject, kind: 'question', text: 'Why?' }
  await expect(viewer('review_comment', comment)).rejects.toThrow('needs contributor access')
  await contributor('review_comment', comment)
  const { content } = await contributor('review_show', { task })
  await expect(contributor('review_send', { subject, action: 'approve', content })).rejects.toThrow(
    'Approving or sending back needs maintainer access, and contributor has contributor.',
  )
  expect(await contributor('review_send', { subject, action: 'comment', content })).toMatchObject({
    comments: 1,
  })
  const before = await maintainer('review_show', { task })
  expect(before.waiting).toMatchObject([{ kind: 'review' }])
  const approved = await maintainer('review_send', { subject, action: 'approve', content: before.content })
  expect(approved.closed_items).toEqual([before.waiting[0].item_id])
  expect((await maintainer('review_show', { task })).waiting).toEqual([])
})

test("an agent with a person's token reads no comment that the person did not send", async () => {
  const { project, task, subject, asMember } = await team()
  const maintainer = asMember('maintainer')
  const text = 'Not for the agent yet'
  const { comment_id: draft } = await maintainer('review_comment', { subject, kind: 'question', text })
  const asAgent = async (name: string, input: object) => {
    const operation = catalog.find((one) => one.name === name)
    if (!operation) throw new Error(name)
    const permissions = {
      personId: 'u-maintainer',
      personName: 'maintainer',
      tokenId: 'k-1',
      sessionId: null,
      access: 'maintainer' as const,
      admin: false,
      roles: [],
      expiresAt: Number.MAX_SAFE_INTEGER,
    }
    const actor = { ...project.context.actor, kind: 'agent' as const, channel: 'http' as const }
    return invoke(operation, { ...project.context, actor, permissions }, input) as Promise<Answer>
  }
  const seen = await asAgent('review_show', { task })
  expect(seen.drafts).toEqual([])
  for (const [name, input] of [
    ['review_comments', { task }],
    ['show', { id: task }],
    ['log', {}],
    ['get_context', {}],
  ] as const) {
    expect(JSON.stringify(await asAgent(name, input).catch(String))).not.toContain(text)
  }
  await expect(asAgent('review_comment_drop', { comment_id: draft })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  })
  expect((await maintainer('review_show', { task })).drafts).toMatchObject([{ text }])
})

test('what cannot be is refused with a sentence', async () => {
  const { project, subject, task } = await team()
  const as = { actor: person }
  const refused = (name: string, input: object) => project.refused(name, input, as)
  expect(await refused('review_show', {})).toMatchObject({ code: 'INVALID_INPUT', reason: 'subject_missing' })
  expect(await refused('review_show', { task: 't-none' })).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'task_not_found',
    fix: { operation: 'get_context', input: { include: ['tasks'] } },
  })
  const words = { subject, kind: 'question', text: 'Why?' }
  expect(await refused('review_comment', { ...words, path: 'nope.ts' })).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'file_not_in_review',
    fix: { operation: 'review_show' },
  })
  expect(await refused('review_comment', { ...words, path: 'src/auth.ts', line: 9 })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'lines_out_of_range',
  })
  expect(
    await refused('review_comment', { ...words, path: 'src/auth.ts', line: 1, quoted: 'other' }),
  ).toMatchObject({ code: 'CONFLICT', reason: 'content_changed' })
  const { content } = await project.call('review_show', { task }, as)
  expect(await refused('review_send', { subject, action: 'send_back', content })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'review_empty',
  })
  expect(await refused('reply_to_review', { comment_id: 'rc-none', text: 'Done' })).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'comment_not_found',
    fix: { operation: 'get_context' },
  })
})

import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { filesToKeep, heldFiles, reportedBriefFor } from '../../src/review/operations/files-to-keep.ts'
import { connectedMachine, teamServer } from '../remote/edges.ts'
import { type Answer, openProject } from '../support/project.ts'

test('work on another machine is reviewed at the server, and the agent there reads what was said', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server)
  const agent = await machine.connect()
  const outcome = { summary: 'Done', achievements: ['It works'] }
  const { task_id: task } = await agent.call('start_task', { name: 'Sign in' })
  machine.write('src/auth.ts', 'export const auth = 2\nexport const user = 1\n')
  await agent.call('complete_task', { task_id: task, status: 'success', outcome })
  const show = () => server.api('review_show', { task })
  const first = await show()
  expect(
    first.files.map(({ path, added, removed, trouble }: Answer) => [path, added, removed, trouble]),
  ).toEqual([['src/auth.ts', 2, 1, null]])
  const subject = { task }
  await server.api('review_comment', {
    subject,
    path: 'src/auth.ts',
    line: 2,
    kind: 'request',
    text: 'Rename',
  })
  const sent = { subject, verdict: 'send_back', content: first.content, viewed: true }
  expect(await server.api('review_send', sent)).toMatchObject({ comments: 1, reopened: [task] })
  const begun = await agent.call('start_task', { planned_task_id: task })
  expect(begun.review_comments).toMatchObject([{ path: 'src/auth.ts', line: 2, text: 'Rename' }])
  machine.write('src/auth.ts', 'export const auth = 2\nexport const account = 1\n')
  await agent.call('complete_task', { task_id: task, status: 'success', outcome })
  const again = await show()
  expect(again.files[0].viewed).toMatchObject({ content: first.files[0].after, current: false })
  const since = await server.api('review_file', { subject, path: 'src/auth.ts', since: first.files[0].after })
  expect(since.hunks[0].lines.map(({ kind, text }: Answer) => `${kind}${text}`)).toEqual([
    ' export const auth = 2',
    '-export const user = 1',
    '+export const account = 1',
  ])
  expect(again.comments).toMatchObject([{ now: { line: null, line_is: 'gone' } }])
  await agent.close()
})

test('of much that changed on another machine the server keeps what there is room for, and the task ends', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server)
  const agent = await machine.connect()
  const { task_id: task } = await agent.call('start_task', { name: 'Pictures' })
  // Files that cannot be made shorter: there is room for three.
  for (let at = 0; at < 5; at += 1) machine.write(`image${at}.txt`, randomBytes(450_000 + at).toString('hex'))
  machine.write('small.ts', 'export const small = 1\n')
  const outcome = { summary: 'Done', achievements: ['It works'] }
  await agent.call('complete_task', { task_id: task, status: 'success', outcome })
  const { files } = await server.api('review_show', { task })
  const kept = files.filter(({ trouble }: Answer) => trouble === null).map(({ path }: Answer) => path)
  expect(files).toHaveLength(6)
  expect(kept).toEqual(['image0.txt', 'image1.txt', 'image2.txt', 'small.ts'])
  await agent.close()
})

test('a content that another machine sends under the id of another one is not kept', async () => {
  const project = await openProject()
  const { task_id: task } = await project.call('start_task', { name: 'Lie' })
  project.write('README.md', 'what is there\n')
  const { context } = project
  const attempt = await context.store.view(({ tasks }) => tasks.openAttempt(task))
  if (attempt === null) throw new Error('no attempt')
  const { ref: endSnapshot } = await context.witness.snapshot({ folder: context.folder, name: 'end' })
  const { changes } = await context.witness.changes(attempt.snapshot, endSnapshot)
  const kept = async (word: string) => {
    const { contents } = context.witness
    const read: typeof contents.read = async (...asked) => {
      const found = await contents.read(...asked)
      const bytes = new TextEncoder().encode(word)
      return new Map([...found].map(([id, { size }]) => [id, { size, bytes }]))
    }
    const machine = {
      ...context,
      edge: { id: 'e-1', name: 'm' },
      witness: { ...context.witness, contents: { ...contents, read } },
    }
    const measured = {
      changes: changes.map((change) => ({ ...change, scope: null, attribution: 'certain' })),
      endSnapshot,
    }
    const brief = reportedBriefFor({ edge: machine.edge, isOn: true }, attempt as never, measured as never)
    const held = brief && (await heldFiles.measure(machine as never, brief, {}))
    return (await filesToKeep(held))?.contents.length
  }
  expect(await kept('what is there\n')).toBe(1)
  expect(await kept('what is said\n')).toBe(0)
})

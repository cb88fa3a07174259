import { expect, test } from 'vitest'
import type { SnapshotContents } from '../../src/git/ports/work-tree.ts'
import type { TaskId } from '../../src/kernel/id.ts'
import {
  fileContentsToKeep,
  filesToKeep,
  reportedBriefFor,
} from '../../src/review/operations/files-to-keep.ts'
import { connectedMachine, teamServer } from '../remote/machines.ts'
import { soakTest } from '../support/amount.ts'
import { type Answer, openProject, type TestProject } from '../support/project.ts'

test('work on another machine is reviewed at the server, but for a file that is too large, and the agent there reads what was said', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server)
  const agent = await machine.connect()
  const outcome = { summary: 'Done', achievements: ['It works'] }
  const { task_id: task } = await agent.call('start_task', { name: 'Sign in' })
  machine.write('src/auth.ts', 'export const auth = 2\nexport const user = 1\n')
  machine.write('image.txt', `${'x'.repeat(1_000_000)}\n`)
  await agent.call('complete_task', { task_id: task, status: 'success', outcome })
  const show = () => server.api('review_show', { task })
  const first = await show()
  const fileIn = ({ files }: Answer) => files.find(({ path }: Answer) => path === 'src/auth.ts')
  expect(first.files).toMatchObject([
    { path: 'image.txt', error: expect.any(String) },
    { path: 'src/auth.ts', added: 2, removed: 1, error: null },
  ])
  const subject = { task }
  await server.api('review_comment', {
    subject,
    path: 'src/auth.ts',
    line: 2,
    kind: 'request',
    text: 'Rename',
  })
  const sent = { subject, action: 'send_back', content: first.content, viewed: true }
  expect(await server.api('review_send', sent)).toMatchObject({ comments: 1, reopened: [task] })
  const begun = await agent.call('start_task', { planned_task_id: task })
  expect(begun.review_comments).toMatchObject([{ path: 'src/auth.ts', line: 2, text: 'Rename' }])
  machine.write('src/auth.ts', 'export const auth = 2\nexport const account = 1\n')
  await agent.call('complete_task', { task_id: task, status: 'success', outcome })
  const again = await show()
  const { after } = fileIn(first)
  expect(fileIn(again).viewed).toMatchObject({ content: after, current: false })
  const since = await server.api('review_file', { subject, path: 'src/auth.ts', since: after })
  expect(since.hunks[0].lines.map(({ kind, text }: Answer) => `${kind}${text}`)).toEqual([
    ' export const auth = 2',
    '-export const user = 1',
    '+export const account = 1',
  ])
  expect(again.comments).toMatchObject([{ now: { line: null, line_is: 'gone' } }])
  await agent.close()
})

soakTest('another machine sends the contents that there is room for, the shortest first', async () => {
  const project = await openProject()
  const { task_id: task } = await project.call('start_task', { name: 'Pictures' })
  const content = (count: number) => '7 bytes'.repeat(count)
  // There is room for three of the images.
  for (let at = 0; at < 5; at += 1) project.write(`image${at}.txt`, content(128_000 + at))
  project.write('small.ts', content(1))
  const kept = await filesToKeep(await measureHeld(project, task))
  expect(kept?.contents.map(({ bytes }) => bytes.length / 7)).toEqual([1, 128_000, 128_001, 128_002])
  expect(kept?.files).toHaveLength(6)
})

test('a content that another machine sends under the id of another one is not kept', async () => {
  const project = await openProject()
  const { task_id: task } = await project.call('start_task', { name: 'Lie' })
  project.write('README.md', 'what is there\n')
  const kept = async (word: string) => {
    const held = await measureHeld(project, task, (contents) => ({
      ...contents,
      read: async (...asked) => {
        const found = await contents.read(...asked)
        const bytes = new TextEncoder().encode(word)
        return new Map([...found].map(([id, { size }]) => [id, { size, bytes }]))
      },
    }))
    return (await filesToKeep(held))?.contents.length
  }
  expect(await kept('what is there\n')).toBe(1)
  expect(await kept('what is said\n')).toBe(0)
})

/** What a machine would send of the files of an open task. */
async function measureHeld(
  { context }: TestProject,
  task: string,
  change: (contents: SnapshotContents) => SnapshotContents = (contents) => contents,
) {
  const attempt = await context.store.view(({ tasks }) => tasks.openAttempt(task as TaskId))
  if (attempt === null) throw new Error('no attempt')
  const { ref: endSnapshot } = await context.witness.snapshot({ folder: context.folder, name: 'end' })
  const { changes } = await context.witness.changes(attempt.snapshot, endSnapshot)
  const machine = {
    ...context,
    machine: { id: 'e-1', name: 'm' },
    witness: { ...context.witness, contents: change(context.witness.contents) },
  }
  const measured = {
    changes: changes.map((found) => ({ ...found, scope: null, attribution: 'certain' })),
    endSnapshot,
  }
  const brief = reportedBriefFor({ machine: machine.machine, isOn: true }, attempt, measured as never)
  if (brief === undefined) throw new Error('nothing to keep')
  return fileContentsToKeep.measure(machine as never, brief, {})
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inWords, openCaptured } from './captured-project.ts'

const folder = join(import.meta.dirname, 'recorded')
const both = (tool: string, program: string) => [
  `command began: ${tool} ${program}`,
  `command ended: ${tool} ${program}`,
]
const session = ['session started: startup', 'prompted: 2']
const edited = (write: string, edit: string) => [
  `edit began: ${write} b.txt, absent`,
  `edit ended: ${write} b.txt, explained`,
  `edit began: ${edit} b.txt`,
  `edit ended: ${edit} b.txt, explained`,
]

/** A call of ours, a file made and edited, a command, and one that fails, as far as each client tells it. */
const expected: Readonly<Record<string, readonly string[]>> = {
  'claude-2.1.330.jsonl': [
    ...session,
    'own tool: mcp__waymark__list_missions null',
    ...edited('Write', 'Edit'),
    ...both('Bash', 'echo'),
    'command began: Bash false',
    'command ended: Bash false, failed',
    'stopped: done',
    'session ended: other',
  ],
  // A patch is told as a shell line, and never to end.
  'codex-0.169.0.jsonl': [
    ...session,
    'own tool: mcp__waymark__list_missions null',
    'command began: Bash apply_patch',
    ...both('Bash', 'echo'),
    ...both('Bash', 'false'),
    'stopped: done',
  ],
  'copilot-1.0.102.jsonl': [
    ...session,
    'own tool: waymark-list_missions null',
    ...edited('Write', 'Edit'),
    ...both('Bash', 'echo'),
    ...both('Bash', 'false'),
    'stopped: done',
    'session ended: complete',
  ],
  'gemini-0.61.0.jsonl': [
    ...session,
    'own tool: mcp_waymark_list_missions null',
    ...edited('write_file', 'replace'),
    ...both('run_shell_command', 'echo'),
    ...both('run_shell_command', 'false'),
    'stopped: done',
    'session ended: exit',
  ],
}

const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))

interface Recorded {
  readonly event: string
  readonly payload: {
    readonly tool_input?: Readonly<Record<string, string>>
  }
}

/** What a client's tool does to the files, after its hook was told of it. */
function effectOf({ event, payload: { tool_input: input = {} } }: Recorded, read: (path: string) => string) {
  if (!['PreToolUse', 'BeforeTool'].includes(event)) return null
  const { file_path, path = file_path, command = '' } = input
  const content = input['content'] ?? input['file_text']
  if (path !== undefined && content !== undefined) return { path, content }
  const [from, to] = [input['old_string'] ?? input['old_str'], input['new_string'] ?? input['new_str']]
  if (path !== undefined && from !== undefined && to !== undefined) {
    return { path, content: read(path).replace(from, to) }
  }
  const [, target] = /> (\S+)/.exec(command) ?? []
  return target === undefined || command.includes('<<') ? null : { path: target, content: 'x\n' }
}

test.each(files)('what %s really sent is told in the words of the domain', async (file) => {
  const project = openCaptured()
  const [client = ''] = file.split('-')
  const text = readFileSync(join(folder, file), 'utf8')
    .replaceAll('/project', project.folder)
    .replaceAll('/home/user', project.home)
  const lines: readonly Recorded[] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const inProject = (path: string) => path.replace(`${project.folder}/`, '')
  for (const line of lines) {
    project.tell(client, line.payload)
    const effect = effectOf(line, (path) => readFileSync(join(project.folder, inProject(path)), 'utf8'))
    if (effect) project.write(inProject(effect.path), effect.content)
  }
  expect(project.log()).toBe('')
  const hookEvents = await project.drain()
  expect(new Set(hookEvents.map(({ session }) => session)).size).toBe(1)
  expect(hookEvents.map((hookEvent) => inWords({ ...hookEvent, turn: null }, project.folder))).toEqual(
    expected[file],
  )
  expect(project.events()).toEqual([])
})

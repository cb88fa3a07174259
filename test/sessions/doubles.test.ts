import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { localPath } from '../../src/sessions/capture/captured-project.ts'
import { isExplained } from '../../src/sessions/capture/edit-explanation.ts'
import { isNewer } from '../../src/sessions/capture/read-event.ts'
import { inWords, openCaptured } from './captured-project.ts'

const tools = { tool_name: 'Edit', tool_use_id: 'c1' }

test('hooks that are registered twice tell each event once', async () => {
  const project = openCaptured()
  const common = { session_id: 's', cwd: project.folder, prompt_id: 'p1' }
  project.write('src/app.ts', 'one\n')
  // At one time: two that are two seconds apart are two.
  const twice = (said: object) => {
    const at = Date.now()
    for (const _ of ['one', 'two']) project.tell('claude', { ...common, ...said }, {}, at)
  }
  const tool_input = { file_path: 'src/app.ts', old_string: 'one', new_string: 'two' }
  twice({ hook_event_name: 'SessionStart', source: 'startup' })
  twice({ hook_event_name: 'UserPromptSubmit', prompt: 'x' })
  twice({ hook_event_name: 'PreToolUse', ...tools, tool_input })
  // The second hook of one event may be read by another round than the first.
  await project.drain()
  project.tell('claude', { ...common, hook_event_name: 'PreToolUse', ...tools, tool_input })
  project.write('src/app.ts', 'two\n')
  twice({ hook_event_name: 'PostToolUse', ...tools, tool_input, tool_response: {} })
  for (const task_id of ['1', '2', '3'])
    twice({ hook_event_name: 'TaskCreated', task_id, task_subject: `Step ${task_id}` })
  twice({ hook_event_name: 'Stop' })
  const drained = await project.drain()
  expect(drained.map((hookEvent) => inWords(hookEvent, project.folder))).toEqual([
    'edit ended: Edit src/app.ts, explained in p1',
    'items: 0 of 1 done in p1',
    'items: 0 of 1 done in p1',
    'items: 0 of 1 done in p1',
    'stopped: done in p1',
  ])
  // Of what they are called nothing is kept, and yet they are three.
  const items = drained.flatMap(({ what }) => (what.kind === 'items' ? what.items.map(({ key }) => key) : []))
  expect(new Set(items).size).toBe(3)
  expect(project.copies()).toEqual([])
})

test('case 8: of two edits that overlap, each is explained by what stood there when it wrote', async () => {
  const project = openCaptured()
  project.write('src/app.ts', 'one\ntwo\n')
  const tell = (session: string, event: string, old_string: string) =>
    project.tell('claude', {
      session_id: session,
      cwd: project.folder,
      hook_event_name: event,
      tool_name: 'Edit',
      tool_use_id: `${session}-1`,
      tool_input: { file_path: 'src/app.ts', old_string, new_string: `${old_string}!` },
      ...(event === 'PostToolUse' && { tool_response: {} }),
    })
  tell('a', 'PreToolUse', 'one')
  tell('b', 'PreToolUse', 'two')
  project.write('src/app.ts', 'one!\ntwo\n')
  tell('a', 'PostToolUse', 'one')
  project.write('src/app.ts', 'one!\ntwo!\n')
  await project.drain()
  // Read by another round than the first, which it rests on.
  tell('b', 'PostToolUse', 'two')
  const [last] = await project.drain()
  expect(last?.what).toMatchObject({
    kind: 'edit_ended',
    edits: [{ explained: true, onto: expect.stringMatching(/\.after-[0-9a-f]{16}$/) }],
  })
})

test('VS Code and Copilot run the hooks of Claude Code’s file as well as their own', async () => {
  const project = openCaptured()
  const said = [
    {
      client: 'vscode',
      payload: {
        sessionId: 'v',
        cwd: project.folder,
        hookEventName: 'PreToolUse',
        tool_name: 'run_in_terminal',
        tool_use_id: 't',
        tool_input: { command: 'ls' },
      },
    },
    {
      client: 'copilot',
      payload: {
        session_id: 'c',
        cwd: project.folder,
        hook_event_name: 'PreToolUse',
        tool_name: 'Bash',
        tool_input: { command: 'ls' },
      },
    },
  ]
  for (const { client, payload } of said) {
    const at = Date.now()
    project.tell(client, { ...payload, timestamp: '2026-11-22T10:00:00.001Z' }, {}, at)
    project.tell('claude', { ...payload, timestamp: '2026-11-22T10:00:00.014Z' }, {}, at)
  }
  const hookEvents = await project.drain()
  expect(hookEvents.map(({ client, what }) => [client.name, what.kind])).toEqual([
    ['vscode', 'command_began'],
    ['copilot', 'command_began'],
  ])
})

test('a newer version than was looked at, and a tool that is not known, are recorded with less certainty', async () => {
  const project = openCaptured()
  const common = { conversation_id: 'c', generation_id: 'g', workspace_roots: [project.folder] }
  const tool = {
    hook_event_name: 'preToolUse',
    tool_name: 'RewriteEverything',
    tool_use_id: 'n',
    tool_input: { target: 'src/app.ts' },
  }
  project.tell('cursor', { ...common, ...tool, cursor_version: '2.6.99' })
  project.tell('cursor', { ...common, ...tool, conversation_id: 'd', cursor_version: '2.7.0' })
  const [known, newer] = await project.drain()
  expect(known).toMatchObject({
    client: { version: '2.6.99' },
    coverage: { edits: true },
    what: { kind: 'command_began', tool: 'RewriteEverything' },
  })
  expect(newer?.coverage).toEqual({ edits: false, failures: false, subagents: false, ids: false })
  expect(newer?.what.kind).toBe('command_began')
  expect(isNewer('3.0', '2.6')).toBe(true)
  expect(isNewer('2.1.400', '2.1')).toBe(false)
  expect(isNewer(null, '2.1')).toBe(false)
})

test('one file is one path, however it is spelt', async () => {
  const project = openCaptured()
  const { folder } = project
  project.write('src/dir é/a b.ts', 'x\n')
  symlinkSync(join(folder, 'src'), join(folder, 'source'))
  const spellings = [
    'src/dir é/a b.ts',
    './src/../src/dir é/a b.ts',
    `${folder}/src//dir é/a b.ts`,
    'source/dir é/a b.ts',
  ]
  for (const [n, file_path] of spellings.entries()) {
    project.tell('claude', {
      session_id: 's',
      cwd: folder,
      hook_event_name: 'PreToolUse',
      tool_name: 'Write',
      tool_use_id: `${n}`,
      tool_input: { file_path, content: 'x\n' },
    })
  }
  const hookEvents = await project.drain()
  const paths = hookEvents.flatMap(({ what }) =>
    what.kind === 'edit_began' ? what.edits.map(({ path }) => path) : [],
  )
  expect(paths).toHaveLength(4)
  expect(new Set(paths)).toEqual(new Set([join(folder, 'src', 'dir é', 'a b.ts')]))
})

test('a path of Windows is a place on Windows, and none elsewhere', () => {
  const folder = 'C:\\Users\\Zoé\\my project'
  const whole = 'C:\\Users\\Zoé\\my project\\src\\a.ts'
  for (const path of [
    'src\\a.ts',
    'src/a.ts',
    whole,
    '/c/Users/Zoé/my project/src/a.ts',
    '/cygdrive/c/Users/Zoé/my project/src/a.ts',
  ]) {
    expect(localPath(path, folder, 'win32')?.toLowerCase()).toBe(whole.toLowerCase())
  }
  expect(localPath(whole, '/home/zoe', 'linux')).toBeNull()
  expect(localPath('\\\\server\\share\\a.ts', '/home/zoe', 'darwin')).toBeNull()
  expect(localPath('src/a.ts', '/home/zoe', 'linux')).toBe('/home/zoe/src/a.ts')
})

test('a linked work tree, and a folder where the agent stands, belong to the project', async () => {
  const project = openCaptured()
  const tree = join(project.home, 'tree')
  const gitFolder = join(project.folder, '.git', 'worktrees', 'tree')
  mkdirSync(gitFolder, { recursive: true })
  mkdirSync(tree)
  writeFileSync(join(gitFolder, 'commondir'), '../..\n')
  writeFileSync(join(tree, '.git'), `gitdir: ${gitFolder}\n`)
  writeFileSync(join(tree, 'a.ts'), 'x\n')
  const tool = { session_id: 's', hook_event_name: 'PreToolUse', tool_name: 'Write' }
  project.tell('claude', {
    ...tool,
    cwd: tree,
    tool_use_id: '1',
    tool_input: { file_path: 'a.ts', content: '' },
  })
  // An isolated agent that writes into its parent's tree, and one that stands elsewhere.
  project.tell('claude', {
    ...tool,
    cwd: tree,
    tool_use_id: '2',
    tool_input: { file_path: join(project.folder, 'b.ts'), content: '' },
  })
  project.tell(
    'claude',
    {
      ...tool,
      cwd: project.home,
      tool_use_id: '3',
      tool_input: { file_path: join(tree, 'a.ts'), content: '' },
    },
    { CLAUDE_PROJECT_DIR: project.folder },
  )
  const hookEvents = await project.drain()
  expect(
    hookEvents.map(({ folder, what }) => [folder, what.kind === 'edit_began' && what.edits[0]?.path]),
  ).toEqual([
    [tree, join(tree, 'a.ts')],
    [tree, join(project.folder, 'b.ts')],
    [project.folder, join(tree, 'a.ts')],
  ])
})

test('the part of a patch about a file is found by its whole name', () => {
  const patch = [
    '*** Begin Patch',
    '*** Delete File: auth.ts',
    '*** Update File: ./oauth.ts',
    '-one',
    '+two',
    '*** End Patch',
  ].join('\n')
  const edit = { kind: 'patch', patch } as const
  expect(isExplained(edit, { path: '/p/oauth.ts', before: 'one\n', after: 'two\n' })).toBe(true)
  expect(isExplained(edit, { path: '/p/auth.ts', before: 'one\n', after: null })).toBe(true)
  expect(isExplained(edit, { path: '/p/other.ts', before: 'one\n', after: 'two\n' })).toBeNull()
})

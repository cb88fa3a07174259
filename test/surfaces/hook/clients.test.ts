import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isOwnTool } from '../../../src/gate/domain/hook/tool-use.ts'
import { catalog } from '../../../src/kernel/operations/catalog.ts'
import { fileIn, openHookProject } from './hook-project.ts'

test('the help explains the hooks', () => {
  const { run } = openHookProject()
  expect(run('hook', '--help').out).toContain('waymark hook pre-tool-use|session-start|stop')
  expect(run('help', '--all').out).toMatch(/^ +hook +\S/m)
})

test('Cursor is answered in its own words, and a question there is a no', () => {
  const { createRun, startTask, hook, json, folder } = openHookProject()
  const run = createRun()
  const cursor = (tool: string, input: object = {}) =>
    hook('pre-tool-use', { hook_event_name: 'preToolUse', tool_name: tool, tool_input: input })
  const denied = JSON.parse(cursor('Shell', { command: 'ls' }).out)
  expect(denied).toEqual({
    permission: 'deny',
    user_message: expect.stringContaining('denies Shell'),
    agent_message: denied.user_message,
  })
  expect(cursor('Read', fileIn(folder, 'src/app.ts')).out).toBe('')
  expect(cursor('MCP:state_gate_emit_event').out).toBe('')
  expect(cursor('MCP:other').out).toContain('"deny"')
  json('run', 'cancel', run, '--reason', 'not needed')
  startTask('Add the form', ['src/auth/'])
  expect(JSON.parse(cursor('Write', fileIn(folder, 'src/pay.ts')).out).permission).toBe('deny')
  expect(cursor('Write', fileIn(folder, 'src/auth/a.ts')).out).toBe('')
  const brief = hook('session-start', {
    hook_event_name: 'sessionStart',
    cwd: undefined,
    workspace_roots: [folder],
  })
  expect(JSON.parse(brief.out).additional_context).toContain('Add the form')
  expect(hook('stop', { hook_event_name: 'stop' }).out).toBe('')
})

test('every tool that Waymark offers is known as its own without the name of its server', () => {
  const tools = catalog.flatMap(({ tool }) => tool ?? [])
  expect(tools.filter((tool) => !isOwnTool({ names: [`MCP:${tool}`] }))).toEqual([])
})

test('the plugin calls only hooks that exist, and names the version of the package', () => {
  const plugin = (path: string) =>
    JSON.parse(readFileSync(join(import.meta.dirname, '../../../plugin', path), 'utf8'))
  const commands = Object.values<{ hooks: { command: string }[] }[]>(plugin('hooks/hooks.json').hooks)
    .flat()
    .flatMap(({ hooks }) => hooks.map(({ command }) => command))
  const cursor = Object.values<{ command: string }[]>(plugin('cursor/hooks.json').hooks)
    .flat()
    .map(({ command }) => command)
  const { createRun, raw, folder, environment } = openHookProject()
  createRun()
  const input = JSON.stringify({ cwd: folder, tool_name: 'Read' })
  const capture = join(import.meta.dirname, '../../../bin/waymark-capture.cjs')
  for (const command of [...commands, ...cursor])
    expect(command).toMatch(/^waymark hook |^waymark-capture (?:claude|cursor) \w+$/)
  // The recorder takes whatever event it is given.
  const recording = ['waymark-capture claude', 'waymark-capture cursor'].map((begin) =>
    commands.concat(cursor).find((command) => command.startsWith(begin)),
  )
  const answering = commands.concat(cursor).filter((command) => command.startsWith('waymark hook'))
  for (const command of new Set([...answering, ...recording])) {
    const [program, ...words] = command?.split(' ') ?? []
    const recorded = () => {
      const { status, stderr } = spawnSync(process.execPath, [capture, ...words], {
        cwd: folder,
        env: environment,
        input,
        encoding: 'utf8',
      })
      return { code: status, error: stderr }
    }
    const { code, error } = program === 'waymark' ? raw(words, input) : recorded()
    expect({ command, code, error }).toEqual({ command, code: 0, error: '' })
  }
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'))
  expect(plugin('.claude-plugin/plugin.json')).toMatchObject({ name: 'waymark', version: manifest.version })
})

test('Gemini CLI is answered with allow or deny: a question is a no', () => {
  const { createRun, startTask, hook, json, folder } = openHookProject()
  const run = createRun()
  const gemini = (tool: string, input: object = {}) =>
    hook('pre-tool-use', {
      hook_event_name: 'BeforeTool',
      transcript_path: '/tmp/t.json',
      timestamp: '2026-11-01T10:00:00Z',
      tool_name: tool,
      tool_input: input,
    })
  expect(JSON.parse(gemini('run_shell_command', { command: 'ls' }).out)).toEqual({
    decision: 'deny',
    reason: expect.stringContaining('denies run_shell_command'),
  })
  expect(gemini('mcp_waymark_state_gate_emit_event').out).toBe('')
  json('run', 'cancel', run, '--reason', 'not needed')
  startTask('Add the form', ['src/auth/'])
  expect(JSON.parse(gemini('write_file', fileIn(folder, 'src/pay.ts')).out)).toEqual({
    decision: 'deny',
    reason: expect.stringContaining('src/pay.ts is out of scope'),
  })
  expect(gemini('replace', fileIn(folder, 'src/auth/form.ts')).out).toBe('')
  expect(gemini('read_file', fileIn(folder, 'src/pay.ts')).out).toBe('')
  const brief = JSON.parse(hook('session-start', { hook_event_name: 'SessionStart', source: 'startup' }).out)
  expect(brief.hookSpecificOutput.additionalContext).toContain('Add the form')
})

test('Cline tells a call in an object of its own, and is asked to cancel it', () => {
  const { startTask, raw, folder } = openHookProject()
  startTask('Add the form', ['src/auth/'])
  const cline = (toolName: string, parameters: object) =>
    raw(
      ['hook', 'pre-tool-use', 'cline'],
      JSON.stringify({
        clineVersion: '4.1.0',
        hookName: 'PreToolUse',
        taskId: '1',
        workspaceRoots: [folder],
        preToolUse: { toolName, parameters },
      }),
    )
  expect(JSON.parse(cline('write_to_file', { path: 'src/pay.ts', content: '' }).out)).toEqual({
    cancel: true,
    errorMessage: expect.stringContaining('src/pay.ts is out of scope'),
  })
  expect(cline('replace_in_file', { path: 'src/auth/form.ts' })).toEqual({ code: 0, out: '', error: '' })
  expect(cline('read_file', { path: 'src/pay.ts' }).out).toBe('')
})

test.each([
  ['opencode', 'write', 'filePath'],
  ['devin', 'edit', 'file_path'],
  ['vscode', 'create_file', 'filePath'],
])('the edits of %s are known by the names that it has for them', (client, tool, field) => {
  const { startTask, raw, folder } = openHookProject()
  startTask('Add the form', ['src/auth/'])
  const said = (path: string) =>
    raw(
      ['hook', 'pre-tool-use', client],
      JSON.stringify({
        hook_event_name: 'PreToolUse',
        cwd: folder,
        tool_name: tool,
        tool_input: { [field]: path },
      }),
    ).out
  expect(JSON.parse(said(join(folder, 'src/pay.ts'))).hookSpecificOutput.permissionDecision).toBe('ask')
  expect(said(join(folder, 'src/auth/form.ts'))).toBe('')
})

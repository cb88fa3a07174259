import type { CapturedFolder } from './captured-project.ts'

/**
 * One short session of each client, as its hooks tell it: a prompt, an edit of `src/app.ts`, a new file `src/new.ts`, a
 * command, the end. Field names and forms are those of the page named; ids and texts are ours.
 */
export interface PlayedClient {
  readonly client: string
  readonly version: string | null
  readonly seen: string
  readonly source: string
  /** Tells each payload, and does to the files what the client would do in between. */
  readonly play: (project: CapturedFolder) => void
  /** What must come of it, in the words of `inWords`. */
  readonly expected: readonly string[]
}

const before = 'export const app = 1\n'
const after = 'export const app = 2\n'

type Tell = (said: object) => void

function telling({ tell }: CapturedFolder, client: string, common: object): Tell {
  return (said) => tell(client, { ...common, ...said })
}

const claude: PlayedClient = {
  client: 'claude',
  version: '2.1.330',
  seen: '2026-11-07',
  source: 'code.claude.com/docs/en/hooks; runs of attention-queue docs/hooks.md',
  play: (project) => {
    const { folder, write } = project
    write('src/app.ts', before)
    const tell = telling(project, 'claude', {
      session_id: '8c35adc1-0000-4000-8000-000000000001',
      transcript_path: `${project.home}/.claude/projects/-project/8c35adc1.jsonl`,
      cwd: folder,
      permission_mode: 'default',
    })
    tell({ hook_event_name: 'SessionStart', source: 'startup', model: 'claude-opus-4-6' })
    tell({ hook_event_name: 'UserPromptSubmit', prompt: 'Please fix it', prompt_id: 'p1' })
    const edit = { file_path: `${folder}/src/app.ts`, old_string: 'app = 1', new_string: 'app = 2' }
    const call = { prompt_id: 'p1', tool_name: 'Edit', tool_input: edit, tool_use_id: 'toolu_1' }
    tell({
      hook_event_name: 'PreToolUse',
      prompt_id: 'p1',
      tool_name: 'Read',
      tool_input: {},
      tool_use_id: 'toolu_0',
    })
    tell({ hook_event_name: 'PreToolUse', ...call })
    write('src/app.ts', after)
    tell({
      hook_event_name: 'PostToolUse',
      ...call,
      tool_response: { filePath: edit.file_path },
      duration_ms: 4,
    })
    const toolInput = { file_path: `${folder}/src/new.ts`, content: 'export {}\n' }
    const make = {
      prompt_id: 'p1',
      tool_name: 'Write',
      tool_input: toolInput,
      tool_use_id: 'toolu_2',
      agent_id: 'a1',
      agent_type: 'Explore',
    }
    tell({ hook_event_name: 'SubagentStart', prompt_id: 'p1', agent_id: 'a1', agent_type: 'Explore' })
    tell({ hook_event_name: 'PreToolUse', ...make })
    write('src/new.ts', 'export {}\n')
    tell({ hook_event_name: 'PostToolUse', ...make, tool_response: {} })
    tell({
      hook_event_name: 'SubagentStop',
      prompt_id: 'p1',
      agent_id: 'a1',
      agent_type: 'Explore',
      agent_transcript_path: '/x',
    })
    tell({ hook_event_name: 'SubagentStop', prompt_id: 'p1', agent_id: 'a2', agent_type: '' })
    const shell = {
      prompt_id: 'p1',
      tool_name: 'Bash',
      tool_input: { command: 'cd src && npm test -- x' },
      tool_use_id: 'toolu_3',
    }
    tell({ hook_event_name: 'PreToolUse', ...shell })
    tell({ hook_event_name: 'PostToolUseFailure', ...shell, error: 'Exit code 1', is_interrupt: false })
    const own = {
      prompt_id: 'p1',
      tool_name: 'mcp__waymark__start_task',
      tool_input: {},
      tool_use_id: 'toolu_4',
    }
    tell({ hook_event_name: 'PreToolUse', ...own })
    tell({
      hook_event_name: 'PostToolUse',
      ...own,
      tool_response: [{ type: 'text', text: '{"task_id":"t-1","attempt_id":"a-17"}' }],
    })
    tell({ hook_event_name: 'TaskCreated', prompt_id: 'p1', task_id: '1', task_subject: 'Fix the app' })
    tell({ hook_event_name: 'TaskCompleted', prompt_id: 'p1', task_id: '1', task_subject: 'Fix the app' })
    const todos = [
      { content: 'One', status: 'completed', activeForm: '' },
      { content: 'Two', status: 'pending', activeForm: '' },
    ]
    const list = { prompt_id: 'p1', tool_name: 'TodoWrite', tool_input: { todos }, tool_use_id: 'toolu_9' }
    tell({ hook_event_name: 'PreToolUse', ...list })
    tell({ hook_event_name: 'PostToolUse', ...list, tool_response: {} })
    tell({ hook_event_name: 'PostModelSwitch', prompt_id: 'p1', to_model: 'claude-haiku-4-5' })
    tell({
      hook_event_name: 'Stop',
      prompt_id: 'p1',
      stop_hook_active: false,
      last_assistant_message: 'Done',
      background_tasks: [{ id: 'b1', type: 'local_bash', status: 'running' }],
    })
    tell({
      hook_event_name: 'UserPromptSubmit',
      prompt: '<task-notification><task-id>b1</task-id></task-notification>',
      prompt_id: 'p2',
    })
    tell({ hook_event_name: 'StopFailure', prompt_id: 'p2', error: 'rate_limit' })
    tell({ hook_event_name: 'SessionEnd', prompt_id: 'p2', reason: 'prompt_input_exit' })
  },
  expected: [
    'session started: startup',
    'prompted: 13 in p1',
    'edit began: Edit src/app.ts in p1',
    'edit ended: Edit src/app.ts, explained in p1',
    'agent started by Explore in p1',
    'edit began: Write src/new.ts, absent by Explore in p1',
    'edit ended: Write src/new.ts, explained by Explore in p1',
    'agent stopped by Explore in p1',
    'command began: Bash npm in p1',
    'command ended: Bash npm, failed in p1',
    'own tool: mcp__waymark__start_task a-17 in p1',
    'items: 0 of 1 done in p1',
    'items: 1 of 1 done in p1',
    'items: 1 of 2 done in p1',
    'model switched in p1',
    'stopped: done, 1 running in p1',
    'prompted: 60, woken in p2',
    'stopped: rate_limit in p2',
    'session ended: prompt_input_exit in p2',
  ],
}

const cursor: PlayedClient = {
  client: 'cursor',
  version: '2.6.20',
  seen: '2026-11-22',
  source: 'cursor.com/docs/hooks',
  play: (project) => {
    const { folder, write } = project
    write('src/app.ts', before)
    const tell = telling(project, 'cursor', {
      conversation_id: 'conv-1',
      generation_id: 'gen-1',
      model: 'gpt-6',
      cursor_version: '2.6.20',
      workspace_roots: [folder],
      user_email: 'someone@example.com',
      transcript_path: null,
    })
    tell({
      hook_event_name: 'sessionStart',
      session_id: 'conv-1',
      is_background_agent: false,
      composer_mode: 'agent',
    })
    tell({ hook_event_name: 'beforeSubmitPrompt', prompt: 'Please fix it', attachments: [] })
    const edit = { path: `${folder}/src/app.ts`, old_string: 'app = 1', new_string: 'app = 2' }
    const call = { tool_name: 'StrReplace', tool_input: edit, tool_use_id: 'c1', cwd: folder }
    tell({ hook_event_name: 'preToolUse', ...call })
    write('src/app.ts', after)
    tell({
      hook_event_name: 'afterFileEdit',
      file_path: edit.path,
      edits: [{ old_string: 'app = 1', new_string: 'app = 2' }],
    })
    tell({ hook_event_name: 'postToolUse', ...call, tool_output: '{"success":true}', duration: 5 })
    const made = { path: `${folder}/src/new.ts`, contents: 'export {}\n' }
    write('src/new.ts', 'export {}\n')
    // Print mode sends this alone.
    tell({
      hook_event_name: 'afterFileEdit',
      file_path: made.path,
      edits: [{ old_string: '', new_string: 'export {}\n' }],
    })
    const shell = {
      tool_name: 'Shell',
      tool_input: { command: 'npm test', cwd: '' },
      tool_use_id: 'c3',
      cwd: folder,
    }
    tell({ hook_event_name: 'preToolUse', ...shell })
    tell({ hook_event_name: 'postToolUse', ...shell, tool_output: '{"exitCode":0}' })
    tell({ hook_event_name: 'afterTabFileEdit', file_path: edit.path, edits: [] })
    tell({ hook_event_name: 'stop', status: 'aborted', loop_count: 0 })
    tell({ hook_event_name: 'sessionEnd', session_id: 'conv-1', reason: 'user_close', duration_ms: 1 })
  },
  expected: [
    'session started: startup in gen-1',
    'prompted: 13 in gen-1',
    'edit began: StrReplace src/app.ts in gen-1',
    'edit ended: StrReplace src/app.ts, explained in gen-1',
    'edit ended: afterFileEdit src/new.ts, explained in gen-1',
    'command began: Shell npm in gen-1',
    'command ended: Shell npm in gen-1',
    'stopped: interrupted in gen-1',
    'session ended: user_close in gen-1',
  ],
}

const codex: PlayedClient = {
  client: 'codex',
  version: '0.169.0',
  seen: '2026-11-22',
  source: 'openai/codex codex-rs/hooks/schema/generated',
  play: (project) => {
    const { folder, write } = project
    write('src/app.ts', before)
    const tell = telling(project, 'codex', {
      session_id: '0199-codex',
      transcript_path: `${project.home}/.codex/sessions/2026/11/22/rollout-1.jsonl`,
      cwd: folder,
      model: 'gpt-5.4-codex',
      permission_mode: 'default',
    })
    tell({ hook_event_name: 'SessionStart', source: 'startup' })
    tell({ hook_event_name: 'UserPromptSubmit', turn_id: 'turn-1', prompt: 'Please fix it' })
    const patch = [
      '*** Begin Patch',
      '*** Update File: src/app.ts',
      '@@',
      '-export const app = 1',
      '+export const app = 2',
      '*** Add File: src/new.ts',
      '+export {}',
      '*** End Patch',
    ].join('\n')
    const call = {
      turn_id: 'turn-1',
      tool_name: 'apply_patch',
      tool_input: { command: patch },
      tool_use_id: 'call_1',
    }
    tell({ hook_event_name: 'PreToolUse', ...call })
    write('src/app.ts', after)
    write('src/new.ts', 'export {}\n')
    tell({ hook_event_name: 'PostToolUse', ...call, tool_response: 'Success.' })
    const shell = {
      turn_id: 'turn-1',
      tool_name: 'Bash',
      tool_input: { command: 'git status' },
      tool_use_id: 'call_2',
    }
    tell({ hook_event_name: 'PreToolUse', ...shell })
    tell({ hook_event_name: 'Interrupt', turn_id: 'turn-1' })
  },
  expected: [
    'session started: startup',
    'prompted: 13 in turn-1',
    'edit began: apply_patch src/app.ts and src/new.ts, absent in turn-1',
    'edit ended: apply_patch src/app.ts, explained and src/new.ts, explained in turn-1',
    'command began: Bash git in turn-1',
    'stopped: interrupted in turn-1',
  ],
}

const gemini: PlayedClient = {
  client: 'gemini',
  version: null,
  seen: '2026-08-21',
  source: 'google-gemini/gemini-cli docs/hooks/reference.md at 5411f113 (0.56)',
  play: (project) => {
    const { folder, write } = project
    write('src/app.ts', before)
    const common = {
      session_id: 'gem-1',
      transcript_path: `${project.home}/.gemini/tmp/x/chats/1.json`,
      cwd: folder,
    }
    let second = 10
    const tell = (said: object) => {
      second += 1
      project.tell('gemini', { ...common, timestamp: `2026-11-22T10:00:${second}.000Z`, ...said })
    }
    tell({ hook_event_name: 'SessionStart', source: 'startup' })
    tell({ hook_event_name: 'BeforeAgent', prompt: 'Please fix it' })
    const edit = { file_path: `${folder}/src/app.ts`, old_string: 'app = 1', new_string: 'app = 2' }
    tell({ hook_event_name: 'BeforeTool', tool_name: 'replace', tool_input: edit })
    write('src/app.ts', after)
    tell({
      hook_event_name: 'AfterTool',
      tool_name: 'replace',
      tool_input: edit,
      tool_response: { llmContent: 'ok' },
    })
    const toolInput = { file_path: `${folder}/src/new.ts`, content: 'export {}\n' }
    tell({ hook_event_name: 'BeforeTool', tool_name: 'write_file', tool_input: toolInput })
    write('src/new.ts', 'export {}\n')
    tell({
      hook_event_name: 'AfterTool',
      tool_name: 'write_file',
      tool_input: toolInput,
      tool_response: { llmContent: 'ok' },
    })
    // The same command twice is two calls.
    for (let round = 0; round < 2; round += 1) {
      const shell = { tool_name: 'run_shell_command', tool_input: { command: 'npm test' } }
      tell({ hook_event_name: 'BeforeTool', ...shell })
      tell({
        hook_event_name: 'AfterTool',
        ...shell,
        tool_response: { llmContent: '', ...(round === 1 && { error: { message: 'x' } }) },
      })
    }
    tell({
      hook_event_name: 'AfterAgent',
      prompt: 'Please fix it',
      prompt_response: 'Done',
      stop_hook_active: false,
    })
    tell({ hook_event_name: 'SessionEnd', reason: 'exit' })
  },
  expected: [
    'session started: startup',
    'prompted: 13',
    'edit began: replace src/app.ts',
    'edit ended: replace src/app.ts, explained',
    'edit began: write_file src/new.ts, absent',
    'edit ended: write_file src/new.ts, explained',
    'command began: run_shell_command npm',
    'command ended: run_shell_command npm',
    'command began: run_shell_command npm',
    'command ended: run_shell_command npm, failed',
    'stopped: done',
    'session ended: exit',
  ],
}

const opencode: PlayedClient = {
  client: 'opencode',
  version: '1.18.0',
  seen: '2026-11-22',
  source: 'anomalyco/opencode packages/plugin/src/index.ts, by our plugin',
  play: (project) => {
    const { folder, write } = project
    write('src/app.ts', before)
    const tell = telling(project, 'opencode', { cwd: folder })
    tell({ event: 'session.created', sessionID: 'ses_1', version: '1.18.0' })
    tell({
      event: 'chat.message',
      sessionID: 'ses_1',
      messageID: 'msg_1',
      agent: 'build',
      model: 'anthropic/claude',
    })
    const edit = { filePath: `${folder}/src/app.ts`, oldString: 'app = 1', newString: 'app = 2' }
    const call = { tool: 'edit', sessionID: 'ses_1', callID: 'call_1' }
    tell({
      event: 'tool.execute.before',
      ...call,
      args: edit,
      hook_event_name: 'PreToolUse',
      tool_name: 'edit',
    })
    write('src/app.ts', after)
    tell({ event: 'tool.execute.after', ...call, args: edit, output: { title: 'src/app.ts', metadata: {} } })
    // A subagent is a session with a parent.
    tell({ event: 'session.created', sessionID: 'ses_2', parentID: 'ses_1' })
    tell({ event: 'chat.message', sessionID: 'ses_2', messageID: 'msg_2' })
    const make = { tool: 'write', sessionID: 'ses_2', callID: 'call_2' }
    const args = { filePath: `${folder}/src/new.ts`, content: 'export {}\n' }
    tell({ event: 'tool.execute.before', ...make, args })
    write('src/new.ts', 'export {}\n')
    tell({ event: 'tool.execute.after', ...make, args, output: {} })
    tell({ event: 'session.idle', sessionID: 'ses_2' })
    const shell = { tool: 'bash', sessionID: 'ses_1', callID: 'call_3' }
    tell({ event: 'tool.execute.before', ...shell, args: { command: 'npm test' } })
    tell({ event: 'session.idle', sessionID: 'ses_1' })
    tell({ event: 'session.deleted', sessionID: 'ses_1' })
  },
  expected: [
    'session started: startup',
    'prompted: 0 in msg_1',
    'edit began: edit src/app.ts',
    'edit ended: edit src/app.ts, explained',
    'agent started by ses_2',
    'edit began: write src/new.ts, absent by ses_2',
    'edit ended: write src/new.ts, explained by ses_2',
    'agent stopped by ses_2',
    'command began: bash npm',
    'stopped: done',
    'session ended: null',
  ],
}

const copilot: PlayedClient = {
  client: 'copilot',
  version: '1.0.102',
  seen: '2026-11-22',
  source: 'github/docs content/copilot/reference/hooks-reference.md',
  play: (project) => {
    const { folder, write } = project
    write('src/app.ts', before)
    const tell = telling(project, 'copilot', {
      session_id: 'cop-1',
      timestamp: '2026-11-22T10:00:00.000Z',
      cwd: folder,
    })
    tell({ hook_event_name: 'SessionStart', source: 'new' })
    tell({ hook_event_name: 'UserPromptSubmit', prompt: 'Please fix it' })
    const edit = { path: `${folder}/src/app.ts`, old_str: 'app = 1', new_str: 'app = 2' }
    tell({ hook_event_name: 'PreToolUse', tool_name: 'Edit', tool_input: edit })
    write('src/app.ts', after)
    tell({
      hook_event_name: 'PostToolUse',
      tool_name: 'Edit',
      tool_input: edit,
      tool_result: { result_type: 'success', text_result_for_llm: 'ok' },
    })
    const made = { path: `${folder}/src/new.ts`, file_text: 'export {}\n' }
    tell({ hook_event_name: 'PreToolUse', tool_name: 'Write', tool_input: JSON.stringify(made) })
    write('src/new.ts', 'export {}\n')
    tell({
      hook_event_name: 'PostToolUse',
      tool_name: 'Write',
      tool_input: JSON.stringify(made),
      tool_result: { result_type: 'success' },
    })
    const shell = { tool_name: 'Bash', tool_input: { command: 'npm test', mode: 'async' } }
    tell({ hook_event_name: 'PreToolUse', ...shell })
    tell({ hook_event_name: 'PostToolUseFailure', ...shell, error: 'no' })
    tell({
      hook_event_name: 'SubagentStop',
      agent_id: 'a1',
      agent_type: 'explore',
      agent_name: 'explore',
      stop_reason: 'end_turn',
    })
    tell({
      hook_event_name: 'ErrorOccurred',
      error: { message: 'secret', name: 'RateLimit' },
      recoverable: true,
    })
    tell({
      hook_event_name: 'ErrorOccurred',
      error: { message: 'secret', name: 'RateLimit' },
      recoverable: false,
    })
    tell({ hook_event_name: 'Stop', stop_reason: 'end_turn', stop_hook_active: false })
    tell({ hook_event_name: 'SessionEnd', reason: 'complete' })
  },
  expected: [
    'session started: startup',
    'prompted: 13',
    'edit began: Edit src/app.ts',
    'edit ended: Edit src/app.ts, explained',
    'edit began: Write src/new.ts, absent',
    'edit ended: Write src/new.ts, explained',
    'command began: Bash npm, in the background',
    'command ended: Bash npm, in the background, failed',
    'agent stopped by explore',
    'stopped: RateLimit',
    'stopped: done',
    'session ended: complete',
  ],
}

const vscode: PlayedClient = {
  client: 'vscode',
  version: null,
  seen: '2026-06-03',
  source: 'microsoft/vscode-docs docs/agent-customization/hooks.md',
  play: (project) => {
    const { folder, write } = project
    write('src/app.ts', before)
    const tell = (said: object) =>
      project.tell('vscode', {
        timestamp: '2026-11-22T10:00:00.000Z',
        cwd: folder,
        sessionId: 'vs-1',
        transcript_path: `${project.home}/t.json`,
        ...said,
      })
    tell({ hookEventName: 'SessionStart', source: 'new' })
    tell({ hookEventName: 'UserPromptSubmit', prompt: 'Please fix it' })
    const edit = { filePath: `${folder}/src/app.ts`, oldString: 'app = 1', newString: 'app = 2' }
    const call = { tool_name: 'replace_string_in_file', tool_input: edit, tool_use_id: 'tool-1' }
    tell({ hookEventName: 'PreToolUse', ...call })
    write('src/app.ts', after)
    tell({ hookEventName: 'PostToolUse', ...call, tool_response: 'File edited successfully' })
    const made = { tool_name: 'editFiles', tool_input: { files: ['src/new.ts'] }, tool_use_id: 'tool-2' }
    tell({ hookEventName: 'PreToolUse', ...made })
    write('src/new.ts', 'export {}\n')
    tell({ hookEventName: 'PostToolUse', ...made, tool_response: 'File edited successfully' })
    const shell = {
      tool_name: 'run_in_terminal',
      tool_input: { command: 'npm test', isBackground: false },
      tool_use_id: 'tool-3',
    }
    tell({ hookEventName: 'PreToolUse', ...shell })
    tell({ hookEventName: 'PostToolUse', ...shell, tool_response: '' })
    tell({ hookEventName: 'Stop' })
  },
  expected: [
    'session started: startup',
    'prompted: 13',
    'edit began: replace_string_in_file src/app.ts',
    'edit ended: replace_string_in_file src/app.ts, explained',
    'edit began: editFiles src/new.ts, absent',
    'edit ended: editFiles src/new.ts',
    'command began: run_in_terminal npm',
    'command ended: run_in_terminal npm',
    'stopped: done',
  ],
}

const devin: PlayedClient = {
  client: 'devin',
  version: null,
  seen: '2026-11-22',
  source: 'docs.devin.ai: runs the hooks of .claude/settings.json',
  play: (project) => {
    const { folder, write } = project
    write('src/app.ts', before)
    const tell = telling(project, 'devin', { session_id: 'dev-1', cwd: folder })
    tell({ hook_event_name: 'UserPromptSubmit', prompt: 'Please fix it' })
    const edit = { file_path: `${folder}/src/app.ts`, old_string: 'app = 1', new_string: 'app = 2' }
    tell({ hook_event_name: 'PreToolUse', tool_name: 'Edit', tool_input: edit, tool_use_id: 'd1' })
    write('src/app.ts', `// formatted\n${after}`)
    tell({
      hook_event_name: 'PostToolUse',
      tool_name: 'Edit',
      tool_input: edit,
      tool_use_id: 'd1',
      tool_response: {},
    })
    tell({ hook_event_name: 'Stop' })
  },
  expected: [
    'prompted: 13',
    'edit began: Edit src/app.ts',
    'edit ended: Edit src/app.ts, not explained',
    'stopped: done',
  ],
}

const cline: PlayedClient = {
  client: 'cline',
  version: '4.1.13',
  seen: '2026-08-22',
  source: 'cline/cline .clinerules/hooks/README.md and apps/vscode/proto/cline/hooks.proto at 21cb8d25',
  play: (project) => {
    const { folder, write } = project
    write('src/app.ts', before)
    const tell = telling(project, 'cline', {
      clineVersion: '4.1.13',
      timestamp: '1795342800000',
      taskId: 'task-1',
      workspaceRoots: [folder],
      userId: 'someone',
      model: { provider: 'anthropic', slug: 'claude-opus' },
    })
    tell({
      hookName: 'TaskStart',
      taskStart: { taskMetadata: { taskId: 'task-1', initialTask: 'Please fix it' } },
    })
    tell({ hookName: 'UserPromptSubmit', userPromptSubmit: { prompt: 'Please fix it', attachments: [] } })
    const parameters = { path: 'src/new.ts', content: 'export {}\n' }
    tell({ hookName: 'PreToolUse', preToolUse: { toolName: 'write_to_file', parameters } })
    write('src/new.ts', 'export {}\n')
    tell({
      hookName: 'PostToolUse',
      postToolUse: {
        toolName: 'write_to_file',
        parameters,
        result: 'ok',
        success: true,
        executionTimeMs: 3,
      },
    })
    const shell = { toolName: 'execute_command', parameters: { command: 'npm test' } }
    tell({ hookName: 'PreToolUse', preToolUse: shell })
    tell({
      hookName: 'PostToolUse',
      postToolUse: { ...shell, result: '', success: false, executionTimeMs: 3 },
    })
    tell({ hookName: 'TaskResume', taskResume: {} })
    tell({ hookName: 'TaskComplete', taskComplete: {} })
  },
  expected: [
    'session started: startup',
    'prompted: 13',
    'edit began: write_to_file src/new.ts, absent',
    'edit ended: write_to_file src/new.ts, explained',
    'command began: execute_command npm',
    'command ended: execute_command npm, failed',
    'session started: resume',
    'stopped: done',
  ],
}

export const playedClients: readonly PlayedClient[] = [
  claude,
  cursor,
  codex,
  gemini,
  opencode,
  copilot,
  vscode,
  devin,
  cline,
]

import { type Client, jsonEntry, jsonPlace, strictJson } from '../setup/client.ts'
import type { Edit } from '../setup/edit/edit-file.ts'
import { jsonValue } from '../setup/edit/json.ts'
import { claudeShape } from '../setup/hook-shapes.ts'
import { type SetupContext, setupPathsOf } from '../setup/setup-context.ts'

/** Frequent tools that only read: no hook process starts for them. */
const reading = '^(?!(?:Read|Grep|Glob|LS|WebFetch|WebSearch)$)'

export const claude: Client = {
  id: 'claude',
  title: 'Claude Code',
  aliases: ['claude-code'],
  checked: { version: '2.1.330', on: '2026-11', method: 'program' },
  server: (context, scope) =>
    jsonPlace(
      scope === 'project'
        ? setupPathsOf(context).project('.mcp.json')
        : setupPathsOf(context).home('.claude.json'),
      strictJson,
      'mcpServers',
      'waymark',
    ),
  entry: ({ command, args }) => jsonEntry({ type: 'stdio', command, args }),
  formerly: ({ command, args }) => [jsonEntry({ command, args })],
  plugin: (context, read) =>
    claudeHookFiles(context).find((file) => {
      const enabled = jsonValue(read(file) ?? '', ['enabledPlugins'])
      return Object.entries(enabled ?? {}).some(([name, on]) => name.startsWith('waymark@') && on === true)
    }) ?? null,
  allow: {
    kind: 'files',
    edits: ({ context, scope, byPlugin }) => {
      // The user's file stays as it is: it would also allow a server of this name in another repository.
      const file =
        scope === 'project'
          ? setupPathsOf(context).project('.claude', 'settings.local.json')
          : setupPathsOf(context).home('.claude', 'settings.json')
      const allowEdit = (keys: readonly string[], value: string): Edit => ({
        kind: 'json',
        part: 'allow',
        file,
        format: strictJson,
        place: { keys, item: true },
        value,
      })
      if (byPlugin) return [allowEdit(['permissions', 'allow'], 'mcp__plugin_waymark_waymark__*')]
      const tools = allowEdit(['permissions', 'allow'], 'mcp__waymark__*')
      return scope === 'project' ? [tools, allowEdit(['enabledMcpjsonServers'], 'waymark')] : [tools]
    },
    says: ({ scope }) =>
      scope === 'project'
        ? ['.claude/settings.local.json is your own file: keep it out of the repository.']
        : [],
  },
  hooks: {
    kind: 'hooks',
    file: (context, scope) =>
      scope === 'project'
        ? setupPathsOf(context).project('.claude', 'settings.json')
        : setupPathsOf(context).home('.claude', 'settings.json'),
    own: (context) => setupPathsOf(context).project('.claude', 'settings.local.json'),
    edits: claudeShape(),
    sees: (context) => claudeHookFiles(context),
    events: [
      { name: 'SessionStart', gate: 'session-start' },
      { name: 'UserPromptSubmit' },
      { name: 'PreToolUse', gate: 'pre-tool-use', matcher: reading },
      { name: 'PostToolUse', matcher: reading, isAsync: true },
      { name: 'PostToolUseFailure', matcher: reading, isAsync: true },
      { name: 'PostModelSwitch', isAsync: true },
      { name: 'SubagentStart', isAsync: true },
      { name: 'SubagentStop', isAsync: true },
      { name: 'TaskCreated', isAsync: true },
      { name: 'TaskCompleted', isAsync: true },
      { name: 'Stop', gate: 'stop' },
      { name: 'StopFailure' },
      { name: 'SessionEnd', seconds: 1 },
    ],
  },
  skills: ['.claude/skills'],
  rules: (context, scope) =>
    scope === 'project'
      ? setupPathsOf(context).project('CLAUDE.md')
      : setupPathsOf(context).home('.claude', 'CLAUDE.md'),
  terminal: 'claude',
  signs: (context) => ({
    project: ['.mcp.json', '.claude', 'CLAUDE.md'].map((name) => setupPathsOf(context).project(name)),
    user: [setupPathsOf(context).home('.claude'), setupPathsOf(context).home('.claude.json')],
    programs: ['claude'],
  }),
  afterwards: ({ scope, server, allow }) =>
    scope === 'project' && server
      ? [
          allow
            ? 'Claude Code starts the server once you trust this folder: it asks when you start claude here.'
            : 'Claude Code asks once whether it may use .mcp.json of this folder.',
        ]
      : [],
  trust: (context, read) => {
    const everywhere = setupPathsOf(context).home('.claude', 'settings.json')
    const approved = jsonValue(read(everywhere) ?? '', ['enabledMcpjsonServers'])
    if (Array.isArray(approved) && approved.includes('waymark')) {
      const says = `${everywhere} approves a server of that name in every repository, also a stranger's. Remove waymark from enabledMcpjsonServers there`
      return { ok: false, says }
    }
    const settings = jsonValue(read(setupPathsOf(context).home('.claude.json')) ?? '', [
      'projects',
      context.folder,
    ])
    if (typeof settings !== 'object' || settings === null) return null
    const project = settings as {
      readonly hasTrustDialogAccepted?: unknown
      readonly disabledMcpjsonServers?: unknown
    }
    if (Array.isArray(project.disabledMcpjsonServers) && project.disabledMcpjsonServers.includes('waymark')) {
      return { ok: false, says: 'the server of .mcp.json was refused in Claude Code: /mcp there allows it' }
    }
    if (project.hasTrustDialogAccepted === true) return { ok: true, says: 'the folder is trusted' }
    return { ok: false, says: 'the folder is not trusted yet: start claude in it once' }
  },
}

/** Files with hooks that Claude Code runs, as do other clients. */
export function claudeHookFiles(context: SetupContext): readonly string[] {
  const { project, home } = setupPathsOf(context)
  return [
    project('.claude', 'settings.json'),
    project('.claude', 'settings.local.json'),
    home('.claude', 'settings.json'),
  ]
}

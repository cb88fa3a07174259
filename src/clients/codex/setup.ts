import type { Client } from '../setup/client.ts'
import { tomlTable, tomlTables } from '../setup/edit/toml.ts'
import { claudeShape } from '../setup/hook-shapes.ts'
import { folderNamed, type SetupContext, type SetupScope, setupPathsOf } from '../setup/setup-context.ts'

export const codex: Client = {
  id: 'codex',
  title: 'Codex',
  checked: { version: '0.169', on: '2026-11', method: 'program' },
  server: (context, scope) => ({
    file: fileOf(context, scope, 'config.toml'),
    holder: { kind: 'toml', name: ['mcp_servers', 'waymark'] },
  }),
  entry: ({ command, args, allow }) => ({
    kind: 'toml',
    table: {
      name: ['mcp_servers', 'waymark'],
      entries: [
        ['command', command],
        ['args', args],
        // Codex passes only these variables on.
        [
          'env_vars',
          ['WAYMARK_DATABASE', 'WAYMARK_SERVER', 'WAYMARK_TOKEN', 'WAYMARK_ACTOR', 'WAYMARK_ROLE'],
        ],
        ['startup_timeout_sec', 20],
        ...(allow ? [['default_tools_approval_mode', 'approve'] as const] : []),
      ],
    },
  }),
  formerly: ({ command, args }) => [
    {
      kind: 'toml',
      table: {
        name: ['mcp_servers', 'waymark'],
        entries: [
          ['command', command],
          ['args', args],
        ],
      },
    },
  ],
  plugin: (context, read) => {
    const file = fileOf(context, 'user', 'config.toml')
    const plugins = Object.entries(tomlTables(read(file) ?? '', 'plugins'))
    return plugins.some(([name, plugin]) => name.startsWith('waymark@') && isPluginEnabled(plugin))
      ? file
      : null
  },
  allow: { kind: 'entry' },
  hooks: {
    kind: 'hooks',
    file: (context, scope) => fileOf(context, scope, 'hooks.json'),
    edits: claudeShape(),
    sees: (context) => [fileOf(context, 'project', 'hooks.json'), fileOf(context, 'user', 'hooks.json')],
    // Codex trusts each hook by the hash of its line: a line must never change.
    events: [
      { name: 'SessionStart', gate: 'session-start' },
      { name: 'UserPromptSubmit' },
      { name: 'PreToolUse', gate: 'pre-tool-use' },
      { name: 'PostToolUse' },
      { name: 'SubagentStart' },
      { name: 'SubagentStop' },
      { name: 'Stop', gate: 'stop' },
      // Codex allows at most these, and warns at each start about more.
      { name: 'Interrupt', seconds: 3 },
      { name: 'SessionEnd', seconds: 3 },
    ],
  },
  skills: ['.agents/skills'],
  rules: (context, scope) =>
    scope === 'project' ? setupPathsOf(context).project('AGENTS.md') : fileOf(context, 'user', 'AGENTS.md'),
  terminal: 'codex',
  signs: (context) => ({
    project: [setupPathsOf(context).project('.codex')],
    user: [folderNamed(context, 'CODEX_HOME', setupPathsOf(context).home('.codex'))],
    programs: ['codex'],
  }),
  afterwards: ({ scope, hooks }) => [
    ...(scope === 'project' ? ['Codex reads .codex/config.toml only in a project that you trust.'] : []),
    ...(hooks ? ['Codex runs a hook only once you have trusted it: type /hooks there.'] : []),
  ],
  trust: (context, read) => {
    const text = read(fileOf(context, 'user', 'config.toml')) ?? ''
    const project = tomlTable(text, ['projects', context.folder])
    if (typeof project !== 'object' || project === null || !('trust_level' in project)) {
      return { ok: false, says: 'the project is not trusted yet: start codex in it once' }
    }
    return project.trust_level === 'trusted'
      ? { ok: true, says: 'the project is trusted' }
      : { ok: false, says: `the project is ${String(project.trust_level)} in Codex` }
  },
}

function isPluginEnabled(plugin: unknown): boolean {
  return typeof plugin === 'object' && plugin !== null && 'enabled' in plugin && plugin.enabled === true
}

function fileOf(context: SetupContext, scope: SetupScope, name: string): string {
  const { project, home } = setupPathsOf(context)
  if (scope === 'project') return project('.codex', name)
  const folder = context.environment['CODEX_HOME']
  return folder
    ? `${folder.replace(/[\\/]$/, '')}${context.platform === 'win32' ? '\\' : '/'}${name}`
    : home('.codex', name)
}

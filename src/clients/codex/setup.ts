import type { Client } from '../setup/client.ts'
import { tomlTable, tomlTables } from '../setup/edit/toml.ts'
import { claudeShape } from '../setup/hook-shapes.ts'
import { folderNamed, pathsOf, type SetupContext, type SetupScope } from '../setup/setup-context.ts'

export const codex: Client = {
  id: 'codex',
  title: 'Codex',
  checked: { version: '0.169', on: '2026-11', by: 'program' },
  server: (ground, scope) => ({
    file: fileOf(ground, scope, 'config.toml'),
    holder: { kind: 'toml', name: ['mcp_servers', 'waymark'] },
  }),
  entry: ({ command, args, allow }) => ({
    kind: 'toml',
    table: {
      name: ['mcp_servers', 'waymark'],
      entries: [
        ['command', command],
        ['args', args],
        // It clears the environment but for these.
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
  plugin: (ground, read) => {
    const file = fileOf(ground, 'user', 'config.toml')
    const plugins = Object.entries(tomlTables(read(file) ?? '', 'plugins'))
    return plugins.some(([name, said]) => name.startsWith('waymark@') && isPluginEnabled(said)) ? file : null
  },
  allow: { kind: 'entry' },
  hooks: {
    kind: 'hooks',
    file: (ground, scope) => fileOf(ground, scope, 'hooks.json'),
    edits: claudeShape(),
    sees: (ground) => [fileOf(ground, 'project', 'hooks.json'), fileOf(ground, 'user', 'hooks.json')],
    // Each is trusted by the hash of its line, so that a line never changes.
    events: [
      { name: 'SessionStart', gate: 'session-start' },
      { name: 'UserPromptSubmit' },
      { name: 'PreToolUse', gate: 'pre-tool-use' },
      { name: 'PostToolUse' },
      { name: 'SubagentStart' },
      { name: 'SubagentStop' },
      { name: 'Stop', gate: 'stop' },
      // It gives these no more, and says so at each start where more is asked for.
      { name: 'Interrupt', seconds: 3 },
      { name: 'SessionEnd', seconds: 3 },
    ],
  },
  skills: ['.agents/skills'],
  rules: (ground, scope) =>
    scope === 'project' ? pathsOf(ground).project('AGENTS.md') : fileOf(ground, 'user', 'AGENTS.md'),
  terminal: 'codex',
  signs: (ground) => ({
    project: [pathsOf(ground).project('.codex')],
    user: [folderNamed(ground, 'CODEX_HOME', pathsOf(ground).home('.codex'))],
    programs: ['codex'],
  }),
  afterwards: ({ scope, hooks }) => [
    ...(scope === 'project' ? ['Codex reads .codex/config.toml only in a project that you trust.'] : []),
    ...(hooks ? ['Codex runs a hook only once you have trusted it: type /hooks there.'] : []),
  ],
  trust: (ground, read) => {
    const text = read(fileOf(ground, 'user', 'config.toml')) ?? ''
    const known = tomlTable(text, ['projects', ground.folder])
    if (typeof known !== 'object' || known === null || !('trust_level' in known)) {
      return { ok: false, says: 'the project is not trusted yet: start codex in it once' }
    }
    return known.trust_level === 'trusted'
      ? { ok: true, says: 'the project is trusted' }
      : { ok: false, says: `the project is ${String(known.trust_level)} in Codex` }
  },
}

function isPluginEnabled(plugin: unknown): boolean {
  return typeof plugin === 'object' && plugin !== null && 'enabled' in plugin && plugin.enabled === true
}

function fileOf(ground: SetupContext, scope: SetupScope, name: string): string {
  const { project, home } = pathsOf(ground)
  if (scope === 'project') return project('.codex', name)
  const folder = ground.environment['CODEX_HOME']
  return folder
    ? `${folder.replace(/[\\/]$/, '')}${ground.platform === 'win32' ? '\\' : '/'}${name}`
    : home('.codex', name)
}

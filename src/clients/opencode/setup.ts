import { type Client, jsonc, jsonEntry, jsonPlace } from '../setup/client.ts'
import { pluginShape } from '../setup/hook-shapes.ts'
import { pathsOf } from '../setup/setup-context.ts'

export const opencode: Client = {
  id: 'opencode',
  title: 'OpenCode',
  checked: { version: '1.18', on: '2026-11', by: 'program' },
  server: (ground, scope) =>
    jsonPlace(
      scope === 'project'
        ? pathsOf(ground).project('opencode.json')
        : pathsOf(ground).home('.config', 'opencode', 'opencode.json'),
      jsonc,
      'mcp',
      'waymark',
    ),
  otherName: (ground, scope) => {
    const { project, home } = pathsOf(ground)
    const file =
      scope === 'project' ? project('opencode.jsonc') : home('.config', 'opencode', 'opencode.jsonc')
    return jsonPlace(file, jsonc, 'mcp', 'waymark')
  },
  entry: ({ command, args }) => jsonEntry({ type: 'local', command: [command, ...args], enabled: true }),
  formerly: ({ command, args }) => [jsonEntry({ type: 'local', command: [command, ...args] })],
  seesServers: (ground) => {
    const { project, home } = pathsOf(ground)
    return [project('opencode.jsonc'), home('.config', 'opencode', 'opencode.jsonc')].map((file) =>
      jsonPlace(file, jsonc, 'mcp', 'waymark'),
    )
  },
  allow: { kind: 'always' },
  hooks: {
    kind: 'hooks',
    file: (ground, scope) =>
      scope === 'project'
        ? pathsOf(ground).project('.opencode', 'plugins', 'waymark.ts')
        : pathsOf(ground).home('.config', 'opencode', 'plugins', 'waymark.ts'),
    edits: pluginShape,
    sees: (ground) => [
      pathsOf(ground).project('.opencode', 'plugins', '*.ts'),
      pathsOf(ground).home('.config', 'opencode', 'plugins', '*.ts'),
    ],
    events: [
      { name: 'session.created' },
      { name: 'chat.message' },
      { name: 'tool.execute.before', gate: 'pre-tool-use' },
      { name: 'tool.execute.after' },
      { name: 'session.idle' },
      { name: 'session.error' },
      { name: 'session.deleted' },
    ],
  },
  skills: ['.agents/skills', '.claude/skills'],
  rules: (ground, scope) =>
    scope === 'project'
      ? pathsOf(ground).project('AGENTS.md')
      : pathsOf(ground).home('.config', 'opencode', 'AGENTS.md'),
  terminal: 'opencode',
  signs: (ground) => ({
    project: ['opencode.json', 'opencode.jsonc', '.opencode'].map((name) => pathsOf(ground).project(name)),
    user: [pathsOf(ground).home('.config', 'opencode')],
    programs: ['opencode'],
  }),
}

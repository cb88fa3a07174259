import { type Client, jsonc, jsonEntry, jsonPlace } from '../setup/client.ts'
import { pluginShape } from '../setup/hook-shapes.ts'
import { setupPathsOf } from '../setup/setup-context.ts'

export const opencode: Client = {
  id: 'opencode',
  title: 'OpenCode',
  checked: { version: '1.18', on: '2026-11', method: 'program' },
  server: (context, scope) =>
    jsonPlace(
      scope === 'project'
        ? setupPathsOf(context).project('opencode.json')
        : setupPathsOf(context).home('.config', 'opencode', 'opencode.json'),
      jsonc,
      'mcp',
      'waymark',
    ),
  otherName: (context, scope) => {
    const { project, home } = setupPathsOf(context)
    const file =
      scope === 'project' ? project('opencode.jsonc') : home('.config', 'opencode', 'opencode.jsonc')
    return jsonPlace(file, jsonc, 'mcp', 'waymark')
  },
  entry: ({ command, args }) => jsonEntry({ type: 'local', command: [command, ...args], enabled: true }),
  formerly: ({ command, args }) => [jsonEntry({ type: 'local', command: [command, ...args] })],
  seesServers: (context) => {
    const { project, home } = setupPathsOf(context)
    return [project('opencode.jsonc'), home('.config', 'opencode', 'opencode.jsonc')].map((file) =>
      jsonPlace(file, jsonc, 'mcp', 'waymark'),
    )
  },
  allow: { kind: 'always' },
  hooks: {
    kind: 'hooks',
    file: (context, scope) =>
      scope === 'project'
        ? setupPathsOf(context).project('.opencode', 'plugins', 'waymark.ts')
        : setupPathsOf(context).home('.config', 'opencode', 'plugins', 'waymark.ts'),
    edits: pluginShape,
    sees: (context) => [
      setupPathsOf(context).project('.opencode', 'plugins', '*.ts'),
      setupPathsOf(context).home('.config', 'opencode', 'plugins', '*.ts'),
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
  rules: (context, scope) =>
    scope === 'project'
      ? setupPathsOf(context).project('AGENTS.md')
      : setupPathsOf(context).home('.config', 'opencode', 'AGENTS.md'),
  terminal: 'opencode',
  signs: (context) => ({
    project: ['opencode.json', 'opencode.jsonc', '.opencode'].map((name) =>
      setupPathsOf(context).project(name),
    ),
    user: [setupPathsOf(context).home('.config', 'opencode')],
    programs: ['opencode'],
  }),
}

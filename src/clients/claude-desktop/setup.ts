import { type Client, jsonEntry, jsonPlace, strictJson } from '../setup/client.ts'
import { folderName, setupPathsOf } from '../setup/setup-context.ts'

export const claudeDesktop: Client = {
  id: 'claude-desktop',
  title: 'Claude Desktop',
  checked: { version: null, on: '2026-11', method: 'documentation' },
  server: (context, scope) =>
    scope === 'project'
      ? null
      : jsonPlace(
          setupPathsOf(context).application('Claude', 'claude_desktop_config.json'),
          strictJson,
          'mcpServers',
          `waymark-${folderName(context)}`,
        ),
  entry: ({ command, args, context }) => jsonEntry({ command, args: [...args, '--project', context.folder] }),
  namesProject: true,
  allow: {
    kind: 'person',
    says: 'Claude Desktop keeps no list of allowed tools in a file. Choose "Always allow" at the first call of a tool.',
  },
  hooks: {
    kind: 'none',
    says: "Claude Desktop has no hooks: only calls of Waymark's tools are recorded.",
  },
  skills: [],
  rules: () => null,
  signs: (context) => ({
    project: [],
    user: [setupPathsOf(context).application('Claude')],
    programs: ['claude-desktop'],
  }),
  afterwards: () => ['Restart Claude Desktop: it reads its file when it starts.'],
}

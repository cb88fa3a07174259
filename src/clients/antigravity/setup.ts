import { agentsFile, type Client, jsonEntry, jsonPlace, jsonWithComments } from '../setup/client.ts'
import { setupPathsOf } from '../setup/setup-context.ts'

export const antigravity: Client = {
  id: 'antigravity',
  title: 'Antigravity',
  aliases: ['agy'],
  checked: { version: null, on: '2026-11', method: 'documentation' },
  server: (context, scope) =>
    jsonPlace(
      scope === 'project'
        ? setupPathsOf(context).project('.agents', 'mcp_config.json')
        : setupPathsOf(context).home('.gemini', 'config', 'mcp_config.json'),
      jsonWithComments,
      'mcpServers',
      'waymark',
    ),
  entry: ({ command, args }) => jsonEntry({ command, args }),
  allow: {
    kind: 'person',
    says: 'Antigravity keeps no list of allowed tools in a file. Allow the server in its settings.',
  },
  hooks: {
    kind: 'none',
    says: 'Antigravity reads hooks only from plugins, so none are written.',
  },
  skills: ['.agents/skills'],
  rules: agentsFile,
  terminal: 'agy',
  signs: (context) => ({
    project: [setupPathsOf(context).project('.agents', 'mcp_config.json')],
    user: [
      setupPathsOf(context).home('.gemini', 'config'),
      setupPathsOf(context).home('.gemini', 'antigravity'),
    ],
    programs: ['agy', 'antigravity'],
  }),
}

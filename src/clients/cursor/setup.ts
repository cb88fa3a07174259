import { claudeHookFiles } from '../claude/setup.ts'
import { agentsFile, type Client, jsonc, jsonEntry, jsonPlace } from '../setup/client.ts'
import { cursorShape } from '../setup/hook-shapes.ts'
import { setupPathsOf } from '../setup/setup-context.ts'

export const cursor: Client = {
  id: 'cursor',
  title: 'Cursor',
  checked: { version: null, on: '2026-11', method: 'documentation' },
  server: (context, scope) =>
    jsonPlace(
      setupPathsOf(context)[scope === 'project' ? 'project' : 'home']('.cursor', 'mcp.json'),
      jsonc,
      'mcpServers',
      'waymark',
    ),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Cursor puts the folder there
  entry: ({ command, args }) => jsonEntry({ command, args, env: { WAYMARK_PROJECT: '${workspaceFolder}' } }),
  formerly: ({ command, args }) => [jsonEntry({ command, args })],
  allow: {
    kind: 'files',
    edits: ({ context, scope }) => [
      {
        kind: 'json',
        part: 'allow',
        file: setupPathsOf(context)[scope === 'project' ? 'project' : 'home']('.cursor', 'permissions.json'),
        format: jsonc,
        place: { keys: ['mcpAllowlist'], item: true },
        value: 'waymark:*',
      },
    ],
    says: () => [
      'If there is a permissions.json, Cursor uses its list instead of the one in the application.',
    ],
  },
  hooks: {
    kind: 'hooks',
    file: (context, scope) =>
      setupPathsOf(context)[scope === 'project' ? 'project' : 'home']('.cursor', 'hooks.json'),
    edits: cursorShape,
    sees: (context) => [
      setupPathsOf(context).project('.cursor', 'hooks.json'),
      setupPathsOf(context).home('.cursor', 'hooks.json'),
      ...claudeHookFiles(context),
    ],
    // Cursor ignores the whole file if it does not know one name.
    events: [
      { name: 'sessionStart', gate: 'session-start' },
      { name: 'beforeSubmitPrompt' },
      { name: 'preToolUse', gate: 'pre-tool-use' },
      { name: 'postToolUse' },
      { name: 'postToolUseFailure' },
      { name: 'afterFileEdit' },
      { name: 'subagentStart' },
      { name: 'subagentStop' },
      { name: 'stop' },
      { name: 'sessionEnd' },
    ],
  },
  skills: ['.agents/skills'],
  rules: agentsFile,
  terminal: 'cursor-agent',
  signs: (context) => ({
    project: [setupPathsOf(context).project('.cursor'), setupPathsOf(context).project('.cursorrules')],
    user: [setupPathsOf(context).home('.cursor')],
    programs: ['cursor', 'cursor-agent'],
  }),
  afterwards: () => ['Switch the server on in Cursor: Settings, MCP.'],
}

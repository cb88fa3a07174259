import { claude } from '../claude/setup.ts'
import { copilotHooks } from '../copilot/setup.ts'
import { agentsFile, type Client, jsonc, jsonEntry, jsonPlace } from '../setup/client.ts'
import { setupPathsOf } from '../setup/setup-context.ts'

export const vscode: Client = {
  id: 'vscode',
  title: 'VS Code',
  aliases: ['vs-code', 'code'],
  checked: { version: null, on: '2026-11', method: 'documentation' },
  server: (context, scope) =>
    jsonPlace(
      scope === 'project'
        ? setupPathsOf(context).project('.vscode', 'mcp.json')
        : setupPathsOf(context).application('Code', 'User', 'mcp.json'),
      jsonc,
      'servers',
      'waymark',
    ),
  entry: ({ command, args }) =>
    jsonEntry({
      type: 'stdio',
      command,
      args,
      // biome-ignore-start lint/suspicious/noTemplateCurlyInString: VS Code puts the folder there
      cwd: '${workspaceFolder}',
      env: { WAYMARK_PROJECT: '${workspaceFolder}' },
      // biome-ignore-end lint/suspicious/noTemplateCurlyInString: VS Code puts the folder there
    }),
  formerly: ({ command, args }) => [
    jsonEntry({ command, args }),
    jsonEntry({ type: 'stdio', command, args }),
  ],
  seesServers: (context) => [claude.server(context, 'project')].filter((place) => place !== null),
  allow: {
    kind: 'person',
    says: 'VS Code keeps no list of allowed tools in a file. Choose "Always Allow" at the first call of a tool.',
  },
  hooks: {
    ...copilotHooks,
    events: [
      { name: 'SessionStart', gate: 'session-start' },
      { name: 'UserPromptSubmit' },
      { name: 'PreToolUse', gate: 'pre-tool-use' },
      { name: 'PostToolUse' },
      { name: 'SubagentStart' },
      { name: 'SubagentStop' },
      { name: 'Stop', gate: 'stop' },
    ],
  },
  skills: ['.agents/skills', '.claude/skills'],
  rules: agentsFile,
  signs: (context) => ({
    project: [setupPathsOf(context).project('.vscode')],
    user: [setupPathsOf(context).application('Code', 'User')],
    programs: ['code'],
  }),
  afterwards: () => ['VS Code asks once whether it may start the server: choose Trust.'],
}

import { claudeHookFiles } from '../claude/setup.ts'
import { agentsFile, type Client, type HookSetup, jsonEntry, jsonPlace, strictJson } from '../setup/client.ts'
import { copilotShape } from '../setup/hook-shapes.ts'
import { setupPathsOf } from '../setup/setup-context.ts'

/** Its hook files, which VS Code reads too. */
export const copilotHooks: Omit<HookSetup, 'events'> = {
  kind: 'hooks',
  clientName: 'copilot',
  file: (context, scope) =>
    scope === 'project'
      ? setupPathsOf(context).project('.github', 'hooks', 'waymark.json')
      : setupPathsOf(context).home('.copilot', 'hooks', 'waymark.json'),
  edits: copilotShape,
  sees: (context) => [
    setupPathsOf(context).project('.github', 'hooks', '*.json'),
    setupPathsOf(context).home('.copilot', 'hooks', '*.json'),
    ...claudeHookFiles(context),
  ],
}

export const copilot: Client = {
  id: 'copilot',
  title: 'Copilot CLI',
  aliases: ['copilot-cli'],
  checked: { version: '1.0.102', on: '2026-11', method: 'program' },
  server: (context, scope) =>
    jsonPlace(
      scope === 'project'
        ? setupPathsOf(context).project('.mcp.json')
        : setupPathsOf(context).home('.copilot', 'mcp-config.json'),
      strictJson,
      'mcpServers',
      'waymark',
    ),
  entry: ({ command, args, context }) =>
    command === context.program.node
      ? jsonEntry({ type: 'local', command, args, tools: ['*'] })
      : jsonEntry({ type: 'stdio', command, args }),
  seesServers: (context) => [
    jsonPlace(setupPathsOf(context).project('.github', 'mcp.json'), strictJson, 'mcpServers', 'waymark'),
  ],
  allow: {
    kind: 'person',
    says: 'Copilot CLI keeps no list of allowed tools in a file. Start it with copilot --allow-tool waymark.',
  },
  hooks: {
    ...copilotHooks,
    events: [
      { name: 'SessionStart', gate: 'session-start' },
      { name: 'UserPromptSubmit' },
      { name: 'PreToolUse', gate: 'pre-tool-use' },
      { name: 'PostToolUse' },
      { name: 'PostToolUseFailure' },
      { name: 'subagentStart' },
      { name: 'SubagentStop' },
      { name: 'Stop', gate: 'stop' },
      { name: 'SessionEnd' },
      { name: 'ErrorOccurred' },
    ],
  },
  skills: [],
  rules: agentsFile,
  terminal: 'copilot',
  signs: (context) => ({
    project: [setupPathsOf(context).project('.github', 'mcp.json')],
    user: [setupPathsOf(context).home('.copilot')],
    programs: ['copilot'],
  }),
  afterwards: () => ['Copilot CLI uses files of a project only in a folder that you trust.'],
}

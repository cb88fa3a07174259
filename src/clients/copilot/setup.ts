import { claudeHookFiles } from '../claude/setup.ts'
import { agentsFile, type Client, type HookSetup, jsonEntry, jsonPlace, strictJson } from '../setup/client.ts'
import { copilotShape } from '../setup/hook-shapes.ts'
import { pathsOf } from '../setup/setup-context.ts'

/** Where its hooks stand. VS Code reads the same files. */
export const copilotHooks: Omit<HookSetup, 'events'> = {
  kind: 'hooks',
  as: 'copilot',
  file: (ground, scope) =>
    scope === 'project'
      ? pathsOf(ground).project('.github', 'hooks', 'waymark.json')
      : pathsOf(ground).home('.copilot', 'hooks', 'waymark.json'),
  edits: copilotShape,
  sees: (ground) => [
    pathsOf(ground).project('.github', 'hooks', '*.json'),
    pathsOf(ground).home('.copilot', 'hooks', '*.json'),
    ...claudeHookFiles(ground),
  ],
}

export const copilot: Client = {
  id: 'copilot',
  title: 'Copilot CLI',
  aliases: ['copilot-cli'],
  checked: { version: '1.0.102', on: '2026-11', by: 'program' },
  server: (ground, scope) =>
    jsonPlace(
      scope === 'project'
        ? pathsOf(ground).project('.mcp.json')
        : pathsOf(ground).home('.copilot', 'mcp-config.json'),
      strictJson,
      'mcpServers',
      'waymark',
    ),
  entry: ({ command, args, ground }) =>
    command === ground.program.node
      ? jsonEntry({ type: 'local', command, args, tools: ['*'] })
      : jsonEntry({ type: 'stdio', command, args }),
  seesServers: (ground) => [
    jsonPlace(pathsOf(ground).project('.github', 'mcp.json'), strictJson, 'mcpServers', 'waymark'),
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
  signs: (ground) => ({
    project: [pathsOf(ground).project('.github', 'mcp.json')],
    user: [pathsOf(ground).home('.copilot')],
    programs: ['copilot'],
  }),
  afterwards: () => ['Copilot CLI uses files of a project only in a folder that you trust.'],
}

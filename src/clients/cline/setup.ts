import { agentsFile, type Client, jsonEntry, jsonPlace, strictJson } from '../setup/client.ts'
import { scriptShape } from '../setup/hook-shapes.ts'
import { folderName, pathsOf, type SetupContext } from '../setup/setup-context.ts'

export const cline: Client = {
  id: 'cline',
  title: 'Cline',
  checked: { version: null, on: '2026-11', by: 'documentation' },
  server: (ground, scope) =>
    scope === 'project'
      ? null
      : jsonPlace(
          extension(ground, 'settings', 'cline_mcp_settings.json'),
          strictJson,
          'mcpServers',
          `waymark-${folderName(ground)}`,
        ),
  entry: ({ command, args, ground, allow, tools }) =>
    jsonEntry({
      command,
      args: [...args, '--project', ground.folder],
      ...(allow && { autoApprove: tools }),
    }),
  namesProject: true,
  alsoWrites: (ground) =>
    jsonPlace(
      pathsOf(ground).home('.cline', 'data', 'settings', 'cline_mcp_settings.json'),
      strictJson,
      'mcpServers',
      `waymark-${folderName(ground)}`,
    ),
  allow: { kind: 'entry' },
  hooks: {
    kind: 'hooks',
    file: (ground) => pathsOf(ground).project('.clinerules', 'hooks'),
    edits: scriptShape,
    events: [
      { name: 'TaskStart' },
      { name: 'TaskResume' },
      { name: 'UserPromptSubmit' },
      { name: 'PreToolUse', gate: 'pre-tool-use' },
      { name: 'PostToolUse' },
      { name: 'TaskComplete' },
      { name: 'TaskCancel' },
    ],
  },
  skills: [],
  rules: agentsFile,
  terminal: 'cline',
  signs: (ground) => ({
    project: [pathsOf(ground).project('.clinerules')],
    user: [extension(ground), pathsOf(ground).home('.cline')],
    programs: ['cline'],
  }),
  afterwards: ({ hooks }) =>
    hooks ? ['Switch hooks on in Cline: Settings, Features. On Windows it runs none.'] : [],
}

function extension(ground: SetupContext, ...parts: readonly string[]): string {
  return pathsOf(ground).application('Code', 'User', 'globalStorage', 'saoudrizwan.claude-dev', ...parts)
}

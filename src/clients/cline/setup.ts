import { agentsFile, type Client, jsonEntry, jsonPlace, strictJson } from '../setup/client.ts'
import { scriptShape } from '../setup/hook-shapes.ts'
import { folderName, type SetupContext, setupPathsOf } from '../setup/setup-context.ts'

export const cline: Client = {
  id: 'cline',
  title: 'Cline',
  checked: { version: null, on: '2026-11', method: 'documentation' },
  server: (context, scope) =>
    scope === 'project'
      ? null
      : jsonPlace(
          extension(context, 'settings', 'cline_mcp_settings.json'),
          strictJson,
          'mcpServers',
          `waymark-${folderName(context)}`,
        ),
  entry: ({ command, args, context, allow, tools }) =>
    jsonEntry({
      command,
      args: [...args, '--project', context.folder],
      ...(allow && { autoApprove: tools }),
    }),
  namesProject: true,
  alsoWrites: (context) =>
    jsonPlace(
      setupPathsOf(context).home('.cline', 'data', 'settings', 'cline_mcp_settings.json'),
      strictJson,
      'mcpServers',
      `waymark-${folderName(context)}`,
    ),
  allow: { kind: 'entry' },
  hooks: {
    kind: 'hooks',
    file: (context) => setupPathsOf(context).project('.clinerules', 'hooks'),
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
  signs: (context) => ({
    project: [setupPathsOf(context).project('.clinerules')],
    user: [extension(context), setupPathsOf(context).home('.cline')],
    programs: ['cline'],
  }),
  afterwards: ({ hooks }) =>
    hooks ? ['Switch hooks on in Cline: Settings, Features. On Windows it runs none.'] : [],
}

function extension(context: SetupContext, ...parts: readonly string[]): string {
  return setupPathsOf(context).application(
    'Code',
    'User',
    'globalStorage',
    'saoudrizwan.claude-dev',
    ...parts,
  )
}

import { claudeHookFiles } from '../claude/setup.ts'
import { agentsFile, type Client, jsonEntry, jsonPlace, jsonWithComments } from '../setup/client.ts'
import { claudeShape } from '../setup/hook-shapes.ts'
import { type SetupContext, setupPathsOf } from '../setup/setup-context.ts'

export const devin: Client = {
  id: 'devin',
  title: 'Devin',
  aliases: ['windsurf'],
  checked: { version: null, on: '2026-11', method: 'documentation' },
  server: (context, scope) =>
    jsonPlace(
      scope === 'project'
        ? setupPathsOf(context).project('.devin', 'mcp_config.json')
        : setupPathsOf(context).config('devin', 'mcp_config.json'),
      jsonWithComments,
      'mcpServers',
      'waymark',
    ),
  entry: ({ command, args }) => jsonEntry({ command, args }),
  seesServers: (context) => [
    jsonPlace(
      setupPathsOf(context).project('.devin', 'mcp_config.local.json'),
      jsonWithComments,
      'mcpServers',
      'waymark',
    ),
  ],
  alsoWrites: (context) => windsurf(context),
  allow: {
    kind: 'files',
    edits: ({ context, scope }) => [
      {
        kind: 'json',
        part: 'allow',
        file:
          scope === 'project'
            ? setupPathsOf(context).project('.devin', 'config.json')
            : setupPathsOf(context).config('devin', 'config.json'),
        format: jsonWithComments,
        place: { keys: ['permissions', 'allow'], item: true },
        value: 'mcp__waymark__*',
      },
    ],
  },
  hooks: {
    kind: 'hooks',
    file: (context, scope) =>
      scope === 'project'
        ? setupPathsOf(context).project('.devin', 'hooks.v1.json')
        : setupPathsOf(context).config('devin', 'config.json'),
    edits: (input) =>
      claudeShape({
        format: jsonWithComments,
        keys: input.file.endsWith('hooks.v1.json') ? [] : ['hooks'],
      })(input),
    sees: (context) => [
      setupPathsOf(context).project('.devin', 'hooks.v1.json'),
      setupPathsOf(context).config('devin', 'config.json'),
      ...claudeHookFiles(context),
    ],
    events: [
      { name: 'SessionStart', gate: 'session-start' },
      { name: 'UserPromptSubmit' },
      { name: 'PreToolUse', gate: 'pre-tool-use' },
      { name: 'PostToolUse' },
      { name: 'Stop', gate: 'stop' },
      { name: 'SessionEnd' },
    ],
  },
  skills: ['.agents/skills', '.claude/skills'],
  rules: agentsFile,
  signs: (context) => ({
    project: [setupPathsOf(context).project('.devin'), setupPathsOf(context).project('.windsurf')],
    user: [setupPathsOf(context).config('devin'), windsurf(context).file],
    programs: ['devin', 'windsurf'],
  }),
}

/** The file of its former name: written only if it still exists. */
function windsurf(context: SetupContext) {
  return jsonPlace(
    setupPathsOf(context).home('.codeium', 'windsurf', 'mcp_config.json'),
    jsonWithComments,
    'mcpServers',
    'waymark',
  )
}

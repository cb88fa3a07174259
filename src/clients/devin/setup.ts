import { claudeHookFiles } from '../claude/setup.ts'
import { agentsFile, type Client, jsonEntry, jsonPlace, jsonWithComments } from '../setup/client.ts'
import { claudeShape } from '../setup/hook-shapes.ts'
import { pathsOf, type SetupContext } from '../setup/setup-context.ts'

export const devin: Client = {
  id: 'devin',
  title: 'Devin',
  aliases: ['windsurf'],
  checked: { version: null, on: '2026-11', by: 'documentation' },
  server: (ground, scope) =>
    jsonPlace(
      scope === 'project'
        ? pathsOf(ground).project('.devin', 'mcp_config.json')
        : pathsOf(ground).config('devin', 'mcp_config.json'),
      jsonWithComments,
      'mcpServers',
      'waymark',
    ),
  entry: ({ command, args }) => jsonEntry({ command, args }),
  seesServers: (ground) => [
    jsonPlace(
      pathsOf(ground).project('.devin', 'mcp_config.local.json'),
      jsonWithComments,
      'mcpServers',
      'waymark',
    ),
  ],
  alsoWrites: (ground) => windsurf(ground),
  allow: {
    kind: 'files',
    edits: ({ ground, scope }) => [
      {
        kind: 'json',
        part: 'allow',
        file:
          scope === 'project'
            ? pathsOf(ground).project('.devin', 'config.json')
            : pathsOf(ground).config('devin', 'config.json'),
        format: jsonWithComments,
        place: { keys: ['permissions', 'allow'], item: true },
        value: 'mcp__waymark__*',
      },
    ],
  },
  hooks: {
    kind: 'hooks',
    file: (ground, scope) =>
      scope === 'project'
        ? pathsOf(ground).project('.devin', 'hooks.v1.json')
        : pathsOf(ground).config('devin', 'config.json'),
    edits: (registered) =>
      claudeShape({
        format: jsonWithComments,
        keys: registered.file.endsWith('hooks.v1.json') ? [] : ['hooks'],
      })(registered),
    sees: (ground) => [
      pathsOf(ground).project('.devin', 'hooks.v1.json'),
      pathsOf(ground).config('devin', 'config.json'),
      ...claudeHookFiles(ground),
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
  signs: (ground) => ({
    project: [pathsOf(ground).project('.devin'), pathsOf(ground).project('.windsurf')],
    user: [pathsOf(ground).config('devin'), windsurf(ground).file],
    programs: ['devin', 'windsurf'],
  }),
}

/** The file of its former name: written only where somebody still has it. */
function windsurf(ground: SetupContext) {
  return jsonPlace(
    pathsOf(ground).home('.codeium', 'windsurf', 'mcp_config.json'),
    jsonWithComments,
    'mcpServers',
    'waymark',
  )
}

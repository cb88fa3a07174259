import { claudeHookFiles } from '../claude/setup.ts'
import { agentsFile, type Client, jsonc, jsonEntry, jsonPlace } from '../setup/client.ts'
import { cursorShape } from '../setup/hook-shapes.ts'
import { pathsOf } from '../setup/setup-context.ts'

export const cursor: Client = {
  id: 'cursor',
  title: 'Cursor',
  checked: { version: null, on: '2026-11', by: 'documentation' },
  server: (ground, scope) =>
    jsonPlace(
      pathsOf(ground)[scope === 'project' ? 'project' : 'home']('.cursor', 'mcp.json'),
      jsonc,
      'mcpServers',
      'waymark',
    ),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Cursor puts the folder there
  entry: ({ command, args }) => jsonEntry({ command, args, env: { WAYMARK_PROJECT: '${workspaceFolder}' } }),
  formerly: ({ command, args }) => [jsonEntry({ command, args })],
  allow: {
    kind: 'files',
    edits: ({ ground, scope }) => [
      {
        kind: 'json',
        part: 'allow',
        file: pathsOf(ground)[scope === 'project' ? 'project' : 'home']('.cursor', 'permissions.json'),
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
    file: (ground, scope) =>
      pathsOf(ground)[scope === 'project' ? 'project' : 'home']('.cursor', 'hooks.json'),
    edits: cursorShape,
    sees: (ground) => [
      pathsOf(ground).project('.cursor', 'hooks.json'),
      pathsOf(ground).home('.cursor', 'hooks.json'),
      ...claudeHookFiles(ground),
    ],
    // One name that it does not know, and it drops the whole file.
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
  signs: (ground) => ({
    project: [pathsOf(ground).project('.cursor'), pathsOf(ground).project('.cursorrules')],
    user: [pathsOf(ground).home('.cursor')],
    programs: ['cursor', 'cursor-agent'],
  }),
  afterwards: () => ['Switch the server on in Cursor: Settings, MCP.'],
}

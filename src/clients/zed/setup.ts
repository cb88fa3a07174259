import { agentsFile, type Client, jsonc, jsonEntry, jsonPlace } from '../setup/client.ts'
import { type SetupContext, setupPathsOf } from '../setup/setup-context.ts'

export const zed: Client = {
  id: 'zed',
  title: 'Zed',
  checked: { version: null, on: '2026-11', method: 'source' },
  server: (context, scope) =>
    jsonPlace(
      scope === 'project' ? setupPathsOf(context).project('.zed', 'settings.json') : settings(context),
      jsonc,
      'context_servers',
      'waymark',
    ),
  entry: ({ command, args }) => jsonEntry({ command, args }),
  formerly: ({ command, args }) => [jsonEntry({ source: 'custom', command, args })],
  allow: {
    kind: 'files',
    edits: ({ context, scope, tools }) =>
      scope === 'project'
        ? []
        : tools.map((tool) => ({
            kind: 'json',
            part: 'allow',
            file: settings(context),
            format: jsonc,
            place: { keys: ['agent', 'tool_permissions', 'tools', `mcp:waymark:${tool}`], item: false },
            value: { default: 'allow' },
          })),
    says: ({ scope }) =>
      scope === 'project'
        ? [
            'Zed keeps permissions of tools only in your user settings, so nothing was allowed. Add --user, or allow each tool at its first call.',
          ]
        : [],
  },
  hooks: { kind: 'none', says: "Zed has no hooks: only calls of Waymark's tools are recorded." },
  skills: ['.agents/skills'],
  rules: agentsFile,
  signs: (context) => ({
    project: [setupPathsOf(context).project('.zed')],
    user: [settings(context)],
    programs: ['zed', 'zeditor'],
  }),
  afterwards: ({ scope }) =>
    scope === 'project' ? ['Zed starts servers of a project only in a work tree that you trust.'] : [],
}

function settings(context: SetupContext): string {
  const { home, config } = setupPathsOf(context)
  return context.platform === 'win32'
    ? config('Zed', 'settings.json')
    : home('.config', 'zed', 'settings.json')
}

import { type Client, jsonEntry, jsonPlace, jsonWithComments } from '../setup/client.ts'
import { jsonValue } from '../setup/edit/json.ts'
import { claudeShape } from '../setup/hook-shapes.ts'
import { setupPathsOf } from '../setup/setup-context.ts'

const reading = '^(?!(?:read_file|read_many_files|list_directory|glob|grep_search|search_file_content)$)'

export const gemini: Client = {
  id: 'gemini',
  title: 'Gemini CLI',
  aliases: ['gemini-cli'],
  checked: { version: '0.61', on: '2026-11', method: 'program' },
  server: (context, scope) =>
    jsonPlace(
      setupPathsOf(context)[scope === 'project' ? 'project' : 'home']('.gemini', 'settings.json'),
      jsonWithComments,
      'mcpServers',
      'waymark',
    ),
  entry: ({ command, args, allow }) =>
    jsonEntry({ command, args, timeout: 60_000, ...(allow && { trust: true }) }),
  formerly: ({ command, args }) => [jsonEntry({ command, args })],
  allow: { kind: 'entry' },
  hooks: {
    kind: 'hooks',
    file: (context, scope) =>
      setupPathsOf(context)[scope === 'project' ? 'project' : 'home']('.gemini', 'settings.json'),
    edits: claudeShape({ unit: 'ms', format: jsonWithComments }),
    sees: (context) => [
      setupPathsOf(context).project('.gemini', 'settings.json'),
      setupPathsOf(context).home('.gemini', 'settings.json'),
    ],
    events: [
      { name: 'SessionStart', gate: 'session-start' },
      { name: 'BeforeAgent' },
      { name: 'BeforeTool', gate: 'pre-tool-use', matcher: reading },
      { name: 'AfterTool', matcher: reading },
      { name: 'AfterAgent' },
      { name: 'SessionEnd' },
    ],
  },
  skills: [],
  rules: (context, scope) =>
    setupPathsOf(context)[scope === 'project' ? 'project' : 'home'](
      ...(scope === 'project' ? [] : ['.gemini']),
      'GEMINI.md',
    ),
  terminal: 'gemini',
  signs: (context) => ({
    project: [setupPathsOf(context).project('.gemini'), setupPathsOf(context).project('GEMINI.md')],
    user: [setupPathsOf(context).home('.gemini', 'settings.json')],
    programs: ['gemini'],
  }),
  afterwards: ({ scope }) => [
    'Gemini CLI starts no server in a folder that it does not trust.',
    ...(scope === 'project'
      ? [
          'Gemini CLI reads only the .gemini/settings.json of the folder in which it is started: with --user it has Waymark in folders below, too.',
        ]
      : []),
  ],
  trust: (context, read) => {
    const trust = jsonValue(read(setupPathsOf(context).home('.gemini', 'trustedFolders.json')) ?? '', [
      context.folder,
    ])
    if (trust === undefined) return null
    return trust === 'DO_NOT_TRUST'
      ? { ok: false, says: 'the folder is not trusted in Gemini CLI: /permissions there changes it' }
      : { ok: true, says: 'the folder is trusted' }
  },
}

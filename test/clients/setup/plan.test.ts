import { expect, test } from 'vitest'
import { shellLine } from '../../../src/clients/setup/commands.ts'
import { clientNamed } from '../../../src/clients/setup/setup-clients.ts'
import { contextOn } from './ground.ts'
import { addedLines, Files } from './planned.ts'

const context = contextOn('linux')
const at = (path: string) => `${context.folder}/${path}`
const inHome = (path: string) => `${context.home}/${path}`

function client(name: string) {
  const found = clientNamed(name)
  if (!found) throw new Error(`no client ${name}`)
  return found
}

const others = '{\n  "mcpServers": {\n    "other": { "command": "x", "env": { "KEY": "value" } }\n  }\n}\n'

test.each([
  ['claude', '.mcp.json', others],
  ['cursor', '.cursor/mcp.json', others],
  ['vscode', '.vscode/mcp.json', '{\n\t// ours\n\t"servers": {\n\t\t"other": { "command": "x" },\n\t},\n}\n'],
  [
    'codex',
    '.codex/config.toml',
    'model = "gpt" # mine\n\n[mcp_servers.other]\ncommand = "x"\n\n[[jobs]]\nname = "a"\n',
  ],
  ['codex', '.codex/config.toml', '[projects."/x"]\ntrust_level = "trusted"'],
  [
    'gemini',
    '.gemini/settings.json',
    '{\n  // dark\n  "ui": { "theme": "dark" },\n  "mcpServers": { "other": { "command": "x" } }\n}\n',
  ],
  ['antigravity', '.agents/mcp_config.json', others],
  [
    'opencode',
    'opencode.json',
    '{\n  "$schema": "https://opencode.ai/config.json",\n  "mcp": {\n    "other": { "type": "local", "command": ["x"] },\n  },\n}\n',
  ],
  ['copilot', '.mcp.json', others],
  ['devin', '.devin/mcp_config.json', others],
  [
    'zed',
    '.zed/settings.json',
    '// Zed\n{\n  "tab_size": 2,\n  "context_servers": {\n    "other": { "command": "x" }\n  }\n}\n',
  ],
  ['claude-desktop', '~/.config/Claude/claude_desktop_config.json', others],
  [
    'cline',
    '~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
    others,
  ],
])('%s with other servers in %s: only our lines are new, and the bytes come back', (name, where, text) => {
  const file = where.startsWith('~/') ? inHome(where.slice(2)) : at(where)
  const files = new Files(context, { [file]: text })
  files.setUp([client(name)])
  const added = addedLines(text, files.texts.get(file) ?? '')
  expect(added.join('\n')).toContain('waymark')
  for (const line of text.trimEnd().split('\n')) {
    expect(files.texts.get(file)).toContain(line.replace(/[\s}\],]+$/, ''))
  }
  files.undo([client(name)])
  expect(Object.fromEntries(files.texts)).toEqual({ [file]: text })
})

test('Codex: a table written on one line takes no other, and the lines to paste are shown', () => {
  const text = 'mcp_servers = { other = { command = "x" } }\n'
  const files = new Files(context, { [at('.codex/config.toml')]: text })
  const { findings } = files.setUp([client('codex')])
  const refusal = findings.find(({ state }) => state === 'refused')
  expect(refusal?.says).toContain(
    'waymark = { command = "waymark", args = ["mcp"], env_vars = ["WAYMARK_DATABASE"',
  )
  expect([...files.texts]).toEqual([[at('.codex/config.toml'), text]])
})

test('Codex: what cannot be read is refused with line and column', () => {
  const files = new Files(context, { [at('.codex/config.toml')]: 'a = 1\nb = = 2\n' })
  const { findings } = files.setUp([client('codex')])
  expect(findings[0]?.says).toMatch(/^It was not touched: .* at line 2, column \d+\.$/)
})

test('a strict file with a comment is broken for its client already: it is not touched, and nothing else is', () => {
  const files = new Files(context, { [at('.mcp.json')]: '{\n  // mine\n  "mcpServers": {}\n}\n' })
  const { findings, files: planned } = files.setUp([client('claude')])
  expect(findings[0]).toMatchObject({ state: 'refused', part: 'server', file: at('.mcp.json') })
  expect(findings[0]?.says).toContain('there is a comment, which its client cannot read, at line 2, column 3')
  expect(planned).toEqual([])
  expect(files.texts.size).toBe(1)
})

test('Gemini CLI reads files of a project in its own folder only, and those of the user anywhere', () => {
  const said = (asked: object) => new Files(context).plan([client('gemini')], asked).afterwards.join('\n')
  expect(said({})).toContain('with --user it has Waymark in folders below, too')
  expect(said({ scope: 'user' })).not.toContain('--user')
})

test('what a setup for all projects uses too stays when one of a project goes', () => {
  const files = new Files(context)
  files.setUp([client('claude')], { scope: 'user' })
  expect(files.setUp([client('claude')]).afterwards).not.toContain(
    'Claude Code asks once whether it may use .mcp.json of this folder.',
  )
  expect(files.undo([client('claude')]).notes).toContain(
    `${inHome('.claude.json')} stays: Claude Code in all your projects uses it too.`,
  )
})

test('undo says where a client is set up, when it is asked in another place', () => {
  const files = new Files(context)
  files.setUp([client('gemini')], { scope: 'user' })
  expect(files.undo([client('gemini')]).elsewhere).toEqual([
    'Gemini CLI is set up for all your projects: add --user.',
  ])
  expect(files.texts.size).toBe(1)
  files.undo([client('gemini')], { scope: 'user' })
  files.setUp([client('gemini')])
  expect(files.undo([client('gemini')], { scope: 'user' }).elsewhere).toEqual([
    `Gemini CLI is set up in ${context.folder}: leave --user out.`,
  ])
  expect(files.undo([client('gemini')]).elsewhere).toEqual([])
  expect(files.texts.size).toBe(0)
})

test('without hooks setup says what is not recorded, where none are there already', () => {
  const files = new Files(context)
  const says = 'Sessions in which the agent does not call Waymark are recorded only with --hooks.'
  expect(files.plan([client('claude'), client('codex')]).notes).toContain(says)
  expect(files.plan([client('zed')]).notes).not.toContain(says)
  files.setUp([client('claude')], { hooks: true, shared: true })
  expect(files.plan([client('cursor')]).notes).not.toContain(says)
})

test('set up again there is nothing to write', () => {
  const files = new Files(context)
  files.setUp([client('claude')], { allow: true, hooks: true, rules: true })
  const again = files.plan([client('claude')], { allow: true, hooks: true, rules: true })
  expect(again.files.filter(({ before, text }) => before !== text)).toEqual([])
  expect(again.findings.map(({ state }) => state)).toEqual(again.findings.map(() => 'there'))
})

test('what was allowed stays allowed when nobody asks, and what was not is added when somebody does', () => {
  const files = new Files(context)
  const [gemini, file] = [client('gemini'), at('.gemini/settings.json')]
  files.setUp([gemini])
  expect(files.texts.get(file)).not.toContain('trust')
  files.setUp([gemini], { allow: true })
  expect(files.texts.get(file)).toContain('"trust": true')
  expect(files.plan([gemini]).files.filter(({ before, text }) => before !== text)).toEqual([])
  files.undo([gemini])
  expect(files.texts.size).toBe(0)
})

test('somebody edits elsewhere in the file: only our insertion goes, and the edit stays', () => {
  const files = new Files(context, { [at('.mcp.json')]: others })
  files.setUp([client('claude')])
  const edited = files.texts.get(at('.mcp.json'))?.replace('"value"', '"another"') ?? ''
  files.texts.set(at('.mcp.json'), edited)
  const { kept, notes } = files.undo([client('claude')])
  expect(kept).toEqual([])
  expect(notes.join()).toContain('was changed since setup')
  expect(files.texts.get(at('.mcp.json'))).toBe(others.replace('"value"', '"another"'))
})

test('somebody edits elsewhere and it is set up again: both undos give their file back', () => {
  const files = new Files(context, { [at('.mcp.json')]: others })
  files.setUp([client('claude')])
  files.texts.set(at('.mcp.json'), files.texts.get(at('.mcp.json'))?.replace('"value"', '"another"') ?? '')
  files.setUp([client('claude')], { toolsets: 'track' })
  expect(files.texts.get(at('.mcp.json'))).toContain('["mcp", "--toolsets", "track"]')
  files.undo([client('claude')])
  expect(files.texts.get(at('.mcp.json'))).toBe(others.replace('"value"', '"another"'))
})

test('somebody edits our entry: it stays, and that is said', () => {
  const files = new Files(context, { [at('.mcp.json')]: others })
  files.setUp([client('claude')])
  files.texts.set(
    at('.mcp.json'),
    files.texts.get(at('.mcp.json'))?.replace('["mcp"]', '["mcp", "--read-only"]') ?? '',
  )
  const { kept } = files.undo([client('claude')])
  expect(kept).toEqual([
    `${at('.mcp.json')}: the server's entry was edited since (line 4, column 5) and stays.`,
  ])
  expect(files.texts.get(at('.mcp.json'))).toContain('--read-only')
})

test('an entry of that name that is not ours is shown, and replaced only by force; undo brings it back', () => {
  const foreign =
    '{\n  "mcpServers": {\n    "waymark": {\n      "command": "docker",\n      "args": ["run", "w"]\n    }\n  }\n}\n'
  const files = new Files(context, { [at('.mcp.json')]: foreign })
  const { findings } = files.setUp([client('claude')])
  expect(findings[0]?.says).toContain(
    'not ours, "mcpServers.waymark": {"command":"docker","args":["run","w"]}. --force replaces it.',
  )
  expect(files.texts.get(at('.mcp.json'))).toBe(foreign)
  files.setUp([client('claude')], { force: true })
  expect(files.texts.get(at('.mcp.json'))).toContain('"command": "waymark"')
  files.undo([client('claude')])
  expect(Object.fromEntries(files.texts)).toEqual({ [at('.mcp.json')]: foreign })
  const toml =
    '[mcp_servers.waymark]\ncommand = "docker"\n\n[mcp_servers.waymark.env]\nA = "b"\n\n[mcp_servers.other]\ncommand = "x"\n'
  const codex = new Files(context, { [at('.codex/config.toml')]: toml })
  expect(codex.setUp([client('codex')]).findings[0]?.state).toBe('refused')
  codex.setUp([client('codex')], { force: true })
  expect(codex.texts.get(at('.codex/config.toml'))).not.toContain('docker')
  codex.undo([client('codex')])
  expect(codex.texts.get(at('.codex/config.toml'))).toBe(toml)
})

test('two clients share .mcp.json: the entry stays until the last of them is taken back', () => {
  const files = new Files(context)
  files.setUp([client('claude')])
  const first = files.texts.get(at('.mcp.json'))
  files.setUp([client('copilot')])
  expect(files.texts.get(at('.mcp.json'))).toBe(first)
  const { notes } = files.undo([client('claude')])
  expect(notes).toContain(`${at('.mcp.json')} stays: Copilot CLI uses it too.`)
  expect(files.texts.get(at('.mcp.json'))).toBe(first)
  files.undo([client('copilot')])
  expect(files.texts.size).toBe(0)
})

test('VS Code reads .mcp.json: no second entry, and the first one serves it until both are taken back', () => {
  const files = new Files(context)
  files.setUp([client('claude')])
  const { notes } = files.setUp([client('vscode')])
  expect(notes[0]).toContain(`VS Code already finds the server in ${at('.mcp.json')}`)
  expect(files.texts.has(at('.vscode/mcp.json'))).toBe(false)
  files.undo([client('claude')])
  expect(files.texts.has(at('.mcp.json'))).toBe(true)
  files.undo([client('vscode')])
  expect(files.texts.size).toBe(0)
})

test('hooks are set up once: Cursor, VS Code, Copilot and Devin run those of Claude Code', () => {
  const files = new Files(context)
  files.setUp([client('claude')], { hooks: true, shared: true })
  for (const name of ['cursor', 'vscode', 'copilot', 'devin']) {
    const { notes } = files.setUp([client(name)], { hooks: true, shared: true })
    expect(notes.join('\n')).toContain(`runs the hooks in ${at('.claude/settings.json')} already`)
  }
  expect([...files.texts.keys()].filter((file) => /hook/.test(file))).toEqual([])
  // Those of the user serve a project as well.
  const users = new Files(context)
  users.setUp([client('codex')], { scope: 'user', hooks: true })
  expect(users.setUp([client('codex')], { hooks: true, shared: true }).notes.join()).toContain(
    inHome('.codex/hooks.json'),
  )
})

test('hooks of a project go to the person’s own file, and with shared to the committed one, guarded', () => {
  const own = new Files(context)
  const { notes } = own.setUp([client('claude')], { hooks: true })
  expect(notes.join()).toContain('--shared')
  expect(own.texts.has(at('.claude/settings.json'))).toBe(false)
  expect(own.texts.get(at('.claude/settings.local.json'))).toContain(`${context.program.bin.slice(-10)}`)
  own.undo([client('claude')])
  expect(own.texts.size).toBe(0)

  const cursor = new Files(context)
  cursor.setUp([client('cursor')], { hooks: true })
  expect([...cursor.texts.keys()].filter((file) => /hook/.test(file))).toEqual([inHome('.cursor/hooks.json')])
  cursor.undo([client('cursor')])
  expect(cursor.texts.size).toBe(0)

  const shared = new Files(context)
  const told = shared.setUp([client('claude')], { hooks: true, shared: true })
  expect(told.notes.join()).toContain('shared with the project')
  const { hooks } = JSON.parse(shared.texts.get(at('.claude/settings.json')) ?? '{}')
  expect(hooks.Stop[0].hooks[0].command).toBe(
    'command -v waymark >/dev/null 2>&1 || exit 0; waymark hook stop claude',
  )
  shared.undo([client('claude')])
  expect(shared.texts.size).toBe(0)
})

test('Cursor: comments and trailing commas stay, in the entry, hooks and permissions, and the bytes come back', () => {
  const text = '{\n  // mine\n  "mcpServers": {\n    "other": { "command": "x", },\n  },\n}\n'
  const hooks = '{\n  "version": 1,\n  "hooks": {\n    "stop": [{ "command": "mine" },],\n  },\n}\n'
  const before = { [at('.cursor/mcp.json')]: text, [at('.cursor/hooks.json')]: hooks }
  const files = new Files(context, before)
  const { skipped } = files.setUp([client('cursor')], { hooks: true, shared: true, allow: true })
  expect(skipped).toEqual([])
  expect(files.texts.get(at('.cursor/mcp.json'))).toContain('"other": { "command": "x", },')
  expect(files.texts.get(at('.cursor/hooks.json'))).toContain('waymark-capture cursor stop')
  files.undo([client('cursor')])
  expect(Object.fromEntries(files.texts)).toEqual(before)
})

test('a skipped client is one line, with the entry to paste', () => {
  const files = new Files(context, { [at('.cursor/mcp.json')]: '{ "mcpServers": { "a": 1 "b": 2 } }\n' })
  const { skipped, files: planned } = files.plan([client('cursor'), client('gemini')])
  expect(skipped).toEqual([
    expect.stringMatching(
      /^Skipped Cursor: [^\n]*mcp\.json: [^\n]*a comma is missing[^\n]*Paste this into "mcpServers" yourself: "waymark": \{ "command": "waymark"[^\n]*$/,
    ),
  ])
  expect(planned.map(({ file }) => file)).toContain(at('.gemini/settings.json'))
})

test('a hook that somebody gave more time is still ours: setup counts it as there, and undo takes it out', () => {
  const files = new Files(context)
  const file = at('.claude/settings.json')
  files.setUp([client('claude')], { hooks: true, shared: true })
  const edited = files.texts.get(file)?.replace('"timeout": 5', '"timeout": 7') ?? ''
  expect(edited).not.toBe(files.texts.get(file))
  files.texts.set(file, edited)
  const again = files.setUp([client('claude')], { hooks: true, shared: true })
  expect(again.notes.join()).not.toContain('did not write')
  expect(files.texts.get(file)).toBe(edited)
  expect(files.undo([client('claude')]).kept).toEqual([])
  expect([...files.texts.keys()]).toEqual([])
})

test('a hook of ours that undo cannot take out is named with its line', () => {
  const files = new Files(context)
  const file = at('.claude/settings.json')
  files.setUp([client('claude')], { hooks: true, shared: true })
  const ours = /\{\s*"type": "command",\s*"command": "[^"]*claude StopFailure"/
  const mine = '{ "type": "command", "command": "echo mine" }, '
  const edited = files.texts.get(file)?.replace(ours, (hook) => mine + hook) ?? ''
  expect(edited).toContain('echo mine')
  files.texts.set(file, edited)
  const { kept } = files.undo([client('claude')])
  const left = files.texts.get(file) ?? ''
  expect(left.match(/waymark-capture claude/g)).toHaveLength(1)
  const line = left.split('\n').findIndex((one) => one.includes('waymark')) + 1
  expect(kept).toEqual([expect.stringContaining(`${file}: line ${line} has a Waymark hook`)])
})

test('hooks that a person copied are left as they are', () => {
  const copied =
    '{\n  "hooks": {\n    "Stop": [{ "hooks": [{ "type": "command", "command": "waymark hook stop" }] }]\n  }\n}\n'
  const files = new Files(context, { [at('.claude/settings.json')]: copied })
  const { notes } = files.setUp([client('claude')], { hooks: true, shared: true })
  expect(notes.join()).toContain('has Waymark hooks that setup did not write')
  expect(files.texts.get(at('.claude/settings.json'))).toBe(copied)
})

test('with capture and without it: the lines that are no longer asked for go', () => {
  const files = new Files(context)
  const file = at('.claude/settings.json')
  files.setUp([client('claude')], { hooks: true, shared: true, capture: false })
  const gate = files.texts.get(file) ?? ''
  expect(Object.keys(JSON.parse(gate).hooks)).toEqual(['SessionStart', 'PreToolUse', 'Stop'])
  expect(gate).not.toContain('waymark-capture')
  files.setUp([client('claude')], { hooks: true, shared: true })
  expect(JSON.parse(files.texts.get(file) ?? '').hooks.PreToolUse).toHaveLength(1)
  expect(files.texts.get(file)).toContain('waymark-capture claude PostToolUse')
  files.setUp([client('claude')], { hooks: true, shared: true, capture: false })
  expect(JSON.parse(files.texts.get(file) ?? '').hooks).toMatchObject(JSON.parse(gate).hooks)
  expect(files.texts.get(file)).not.toContain('waymark-capture')
  files.undo([client('claude')])
  expect(files.texts.size).toBe(0)
})

test('one skill: a client that reads Claude Code’s gets no second one', () => {
  const files = new Files(context)
  files.setUp([client('claude'), client('devin'), client('opencode')])
  expect([...files.texts.keys()].filter((file) => file.endsWith('SKILL.md'))).toEqual([
    at('.claude/skills/waymark/SKILL.md'),
  ])
  files.setUp([client('codex')])
  expect(files.texts.has(at('.agents/skills/waymark/SKILL.md'))).toBe(true)
})

test('the section of rules: missing, current, stale and edited', () => {
  const file = at('AGENTS.md')
  const files = new Files(context, { [file]: '# Agents\n\nBe kind.' })
  files.setUp([client('codex')], { rules: true })
  const text = files.texts.get(file) ?? ''
  expect(text).toMatch(/^# Agents\n\nBe kind\.\n\n<!-- waymark:begin [0-9a-f]{12} -->\n## Waymark\n/)
  expect(text.split('waymark:begin')[1]?.split('\n').length).toBeLessThanOrEqual(10)
  files.setUp([client('cursor')], { rules: true })
  expect(files.texts.get(file)).toBe(text)
  const edited = text.replace('Stay in scope', 'Keep in scope')
  files.texts.set(file, edited)
  const { findings } = files.setUp([client('codex')], { rules: true })
  expect(findings.find(({ part }) => part === 'rules')?.says).toContain('was edited and is left alone')
  expect(files.texts.get(file)).toBe(edited)
  files.texts.set(file, text)
  files.undo([client('codex')])
  expect(files.texts.get(file)).toBe(text)
  files.undo([client('cursor')])
  expect(files.texts.get(file)).toBe('# Agents\n\nBe kind.')
})

test('without a record of it, undo takes out exactly what setup would write, and nothing else', () => {
  const writer = new Files(context, { [at('.mcp.json')]: others })
  writer.setUp([client('claude')])
  const text = writer.texts.get(at('.mcp.json')) ?? ''
  const elsewhere = new Files(context, { [at('.mcp.json')]: text })
  elsewhere.undo([client('claude')])
  expect(elsewhere.texts.get(at('.mcp.json'))).toBe(others)
  const changed = text.replace('"waymark", "args"', '"w", "args"')
  const foreign = new Files(context, { [at('.mcp.json')]: changed })
  foreign.undo([client('claude')])
  expect(foreign.texts.get(at('.mcp.json'))).toBe(changed)
})

test('the old file of Windsurf is written only where somebody still has it', () => {
  const file = inHome('.codeium/windsurf/mcp_config.json')
  const files = new Files(context, { [file]: '{}' })
  files.setUp([client('windsurf')], { scope: 'user' })
  expect(JSON.parse(files.texts.get(file) ?? '').mcpServers.waymark.args).toContain('mcp')
  files.undo([client('devin')], { scope: 'user' })
  expect(Object.fromEntries(files.texts)).toEqual({ [file]: '{}' })
  const fresh = new Files(context)
  fresh.setUp([client('devin')], { scope: 'user' })
  expect(fresh.texts.has(file)).toBe(false)
})

test('each project has an entry of its own in a file that all share', () => {
  const [one, two] = [
    contextOn('linux', { folder: '/home/ann/one' }),
    contextOn('linux', { folder: '/home/ann/Zwei Ö' }),
  ]
  const first = new Files(one)
  first.setUp([client('cline')], { allow: true })
  const [file = '', text = ''] =
    [...first.texts].find(([name]) => name.endsWith('cline_mcp_settings.json')) ?? []
  const second = new Files(two, { [file]: text })
  second.setUp([client('cline')])
  const { mcpServers } = JSON.parse(second.texts.get(file) ?? '')
  expect(Object.keys(mcpServers)).toEqual(['waymark-one', 'waymark-zwei'])
  expect(mcpServers['waymark-one'].autoApprove).toEqual(['start_task', 'complete_task'])
  expect(mcpServers['waymark-zwei'].args.slice(-2)).toEqual(['--project', '/home/ann/Zwei Ö'])
})

test.each([
  ['posix', ['/opt/a b/node', "it's", '$HOME', 'é', 'plain'], `'/opt/a b/node' 'it'\\''s' '$HOME' 'é' plain`],
  [
    'windows',
    ['C:\\Program Files\\node.exe', 'D:\\w\\x.js', 'stop'],
    '"C:/Program Files/node.exe" "D:/w/x.js" stop',
  ],
  ['powershell', ["C:\\It's\\node.exe", '$x'], "& 'C:\\It''s\\node.exe' '$x'"],
] as const)('words on a line of %s', (shell, words, line) => {
  expect(shellLine(words, shell)).toBe(line)
})

test('on Windows npx is a script, which Claude Code cannot start by itself', () => {
  const files = new Files(contextOn('win32'))
  files.setUp([client('claude')], { npx: true })
  const { mcpServers } = JSON.parse(files.texts.get('C:\\Work\\my shop\\.mcp.json') ?? '')
  expect(mcpServers.waymark).toMatchObject({
    command: 'cmd',
    args: ['/c', 'npx', '-y', 'waymark@1.2.3', 'mcp'],
  })
})

test('OpenCode: the file that is there gets the entry, whichever of its names it has', () => {
  const file = at('opencode.jsonc')
  const text = '{\n  // ours\n  "theme": "dark",\n}\n'
  const files = new Files(context, { [file]: text })
  files.setUp([client('opencode')])
  expect(files.texts.has(at('opencode.json'))).toBe(false)
  expect(files.texts.get(file)).toContain('"waymark"')
  expect(files.plan([client('opencode')]).files.filter((one) => one.before !== one.text)).toEqual([])
  files.undo([client('opencode')])
  expect(Object.fromEntries(files.texts)).toEqual({ [file]: text })
})

test('the plugin of Claude Code brings server, hooks and skill: only its tools are left to be allowed', () => {
  const settings = at('.claude/settings.json')
  const text = '{ "enabledPlugins": { "waymark@waymark": true } }\n'
  const files = new Files(context, { [settings]: text })
  const { notes } = files.setUp([client('claude')], { hooks: true, shared: true, allow: true })
  expect(notes).toEqual([
    `Claude Code has the server from its plugin, which ${settings} switches on.`,
    '.claude/settings.local.json is your own file: keep it out of the repository.',
    `Claude Code has the hooks from its plugin, which ${settings} switches on.`,
  ])
  const allowed = at('.claude/settings.local.json')
  expect(Object.fromEntries(files.texts)).toEqual({ [settings]: text, [allowed]: expect.any(String) })
  expect(JSON.parse(files.texts.get(allowed) ?? '')).toEqual({
    permissions: { allow: ['mcp__plugin_waymark_waymark__*'] },
  })
})

test('the plugin of Codex brings server and hooks, too', () => {
  const config = inHome('.codex/config.toml')
  const enabled = (is: boolean) => ({ [config]: `[plugins."waymark@waymark"]\nenabled = ${is}\n` })
  const files = new Files(context, enabled(true))
  expect(files.setUp([client('codex')], { allow: true, hooks: true }).notes).toEqual([
    `Codex has the server from its plugin, which ${config} switches on.`,
    'Codex cannot allow tools in a file. Allow them at the first call.',
    `Codex has the hooks from its plugin, which ${config} switches on.`,
  ])
  expect(Object.fromEntries(files.texts)).toEqual(enabled(true))
  expect(new Files(context, enabled(false)).setUp([client('codex')]).notes).toEqual([
    'Sessions in which the agent does not call Waymark are recorded only with --hooks.',
  ])
})

test('a plugin that is switched off brings nothing', () => {
  const files = new Files(context, {
    [at('.claude/settings.json')]: '{ "enabledPlugins": { "waymark@waymark": false } }\n',
  })
  files.setUp([client('claude')], { hooks: true, shared: true })
  expect(files.texts.get(at('.mcp.json'))).toContain('"waymark"')
  expect(files.texts.get(at('.claude/settings.json'))).toContain('waymark hook pre-tool-use claude')
})

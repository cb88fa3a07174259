import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { setupClients } from '../../../src/clients/setup/setup-clients.ts'
import { settingsFile } from '../../../src/sessions/capture/settings-file.ts'
import { otherCommands } from '../../../src/surfaces/cli/other-commands.ts'
import { hookQueue } from '../../sessions/captured-project.ts'
import { temporaryFolder } from '../../support/git-repository.ts'
import { openCommandLine, refusalIn } from '../../surfaces/cli/command-line.ts'

/** Every file below a folder with its bytes, time and mode; the cache of compiled code is not ours to keep still. */
function everything(folder: string): Readonly<Record<string, string>> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/waymark-test-cache|\/\.git\/|\/\.cache\//.test(path))
    .map((path) => {
      const { mtimeMs, mode } = lstatSync(path)
      const content = lstatSync(path).isFile() ? readFileSync(path, 'latin1') : ''
      return [path, `${mode.toString(8)} ${mtimeMs} ${content}`]
    })
  return Object.fromEntries(entries)
}

function bytesBelow(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/waymark-test-cache|\/\.git\/|\/\.cache\/|\/\.local\//.test(path))
  return Object.fromEntries(files.map((path) => [path, readFileSync(path, 'latin1')]))
}

function put(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { mode })
}

test('setup shows, writes and takes back; the second time there is nothing to do', () => {
  const { run, home, folder } = openCommandLine()
  const settings = join(folder, '.claude', 'settings.local.json')
  put(settings, '\uFEFF{\r\n  "model": "opus"\r\n}\r\n', 0o600)
  const before = bytesBelow(home)
  const first = run('setup', 'claude', '--allow', '--hooks', '--rules', '--yes')
  expect(first).toMatchObject({ code: 0, error: '' })
  expect(first.out).toContain(`${join(folder, '.mcp.json')} (new)`)
  expect(first.out).toMatch(/\+ +"args": \[".*waymark\.js", "mcp"\]/)
  expect(first.out).toContain('Undo: waymark setup claude --undo')
  expect(statSync(settings).mode & 0o777).toBe(0o600)
  expect(readFileSync(settings, 'utf8')).toMatch(/^\uFEFF\{\r\n {2}"model": "opus",\r\n/)
  const again = run('setup', 'claude', '--allow', '--hooks', '--rules', '--yes')
  expect(again).toEqual({
    code: 0,
    error: '',
    out: expect.stringMatching(/Claude Code: already set up\.\n$/),
  })
  expect(run('setup', 'claude', '--check', '--allow').code).toBe(0)
  const undone = run('setup', 'claude', '--undo', '--yes')
  expect(undone).toMatchObject({ code: 0, error: '' })
  expect(undone.out).toContain('3 files removed, 1 put back.\n')
  expect(bytesBelow(home)).toEqual(before)
  expect(statSync(settings).mode & 0o777).toBe(0o600)
  expect(readdirSync(join(folder, '.claude'))).toEqual(['settings.local.json'])
  expect(run('setup', 'claude', '--undo', '--yes').out).toBe('Claude Code: nothing to undo.\n')
})

test('a project whose setup is taken back is recorded no more, whatever other projects have', () => {
  const { run, home, folder } = openCommandLine()
  const other = join(home, 'other')
  mkdirSync(join(other, '.git'), { recursive: true })
  for (const project of [folder, other]) {
    expect(run('setup', 'claude', '--hooks', '--yes', '--project', project).code).toBe(0)
  }
  const [own, others] = [folder, other].map((project) => settingsFile(project, { HOME: home }))
  const kept = () => [own, others].map((file = '') => existsSync(file))
  expect(kept()).toEqual([true, true])
  expect(run('setup', 'cursor', '--undo', '--yes').code).toBe(0)
  expect(kept()).toEqual([true, true])
  expect(run('setup', 'claude', '--undo', '--yes').code).toBe(0)
  expect(kept()).toEqual([false, true])
  expect(existsSync(join(folder, '.waymark'))).toBe(false)
})

test('looking changes no byte, no folder and no time', () => {
  const { run, home } = openCommandLine()
  run('setup', 'cursor', '--yes')
  const before = everything(home)
  expect(run('setup', 'claude', '--hooks', '--dry-run')).toMatchObject({ code: 0, error: '' })
  expect(run('setup', 'claude', '--check')).toMatchObject({ code: 1, error: '' })
  expect(run('setup', 'cursor', '--check')).toMatchObject({
    code: 0,
    out: expect.stringContaining('Cursor: already set up.\n'),
  })
  expect(run('setup', 'cursor', '--undo', '--dry-run').out).toContain('Nothing was written: remove 2 files.')
  expect(run('init', '--dry-run').code).toBe(0)
  expect(everything(home)).toEqual(before)
})

test('what only npx finds, no client will find: setup says so, and so does doctor', () => {
  const { runWith, folder } = openCommandLine()
  const bin = join(folder, 'node_modules', '.bin')
  mkdirSync(bin, { recursive: true })
  symlinkSync(join(import.meta.dirname, '../../../bin/waymark.js'), join(bin, 'waymark'))
  const PATH = [bin, pathWithGit(), dirname(process.execPath)].join(delimiter)
  const byNpx = { PATH, npm_execpath: '/usr/lib/npx-cli.js' }
  const says =
    'This copy of waymark is not on the PATH, where clients look for it: npm install --global puts it there.'
  expect(runWith({ environment: byNpx }, 'setup', 'claude', '--shared', '--yes').out).toContain(says)
  expect(runWith({ environment: { PATH } }, 'setup', 'claude', '--shared', '--yes').out).not.toContain(says)
  expect(runWith({ environment: byNpx }, 'doctor').out).toContain(
    'its command does not start: waymark is not on the PATH',
  )
  expect(runWith({ environment: { PATH } }, 'doctor').out).toContain('its command starts and answers')
  const own = runWith({ environment: byNpx }, 'setup', 'cursor', '--user', '--yes')
  expect(own.out).not.toContain('not on the PATH')
})

test('without a terminal it asks for --yes, and writes nothing', () => {
  const { run, folder } = openCommandLine()
  const { code, error } = run('setup', 'claude')
  expect(code).toBe(2)
  expect(error).toBe(
    'waymark: Nothing was written: there is no terminal to ask.\nAdd --yes to write it, or --dry-run to only see it.\n',
  )
  expect(existsSync(join(folder, '.mcp.json'))).toBe(false)
})

test.each(['CLAUDECODE', 'CODEX_THREAD_ID', 'OPENCODE'])(
  'in an agent’s shell (%s) only looking is allowed',
  (mark) => {
    const { runWith, folder } = openCommandLine()
    const environment = { [mark]: '1' }
    const { code, error } = runWith(
      { environment },
      'setup',
      'claude',
      '--user',
      '--hooks',
      '--toolsets',
      'track',
      '--yes',
    )
    expect(code).toBe(1)
    expect(error).toContain('Ask a person to run: waymark setup claude --user --hooks --toolsets track\n')
    expect(runWith({ environment }, 'setup', 'claude', '--undo', '--yes').code).toBe(1)
    expect(runWith({ environment }, 'init', '--clients', 'claude', '--yes').error).toContain(
      'waymark init --clients claude',
    )
    expect(runWith({ environment }, 'setup', 'claude', '--dry-run').code).toBe(0)
    expect(runWith({ environment }, 'setup', 'claude', '--check').code).toBe(1)
    expect(existsSync(join(folder, '.mcp.json'))).toBe(false)
  },
)

test('a link stays a link: what it leads to is written', () => {
  const { run, home, folder } = openCommandLine()
  const real = join(home, 'dotfiles', 'gemini.json')
  put(real, '{ "theme": "dark" }\n', 0o600)
  mkdirSync(join(home, '.gemini'))
  symlinkSync(real, join(home, '.gemini', 'settings.json'))
  expect(run('setup', 'gemini', '--user', '--yes')).toMatchObject({
    code: 0,
    out: expect.stringContaining('Undo: waymark setup gemini --user --undo'),
  })
  expect(lstatSync(join(home, '.gemini', 'settings.json')).isSymbolicLink()).toBe(true)
  expect(statSync(real).mode & 0o777).toBe(0o600)
  const { mcpServers } = JSON.parse(readFileSync(real, 'utf8'))
  expect(mcpServers.waymark.command).toBe(process.execPath)
  expect(realpathSync(mcpServers.waymark.args[0])).toBe(join(import.meta.dirname, '../../../bin/waymark.js'))
  expect(run('setup', 'gemini', '--user', '--undo', '--yes').code).toBe(0)
  expect(readFileSync(real, 'utf8')).toBe('{ "theme": "dark" }\n')
  expect(readdirSync(folder).sort()).toEqual(['.git', 'README.md', 'src'])
})

test('a file that is read-only, no text or no file is not written, in one sentence', () => {
  const { run, folder } = openCommandLine()
  put(join(folder, '.mcp.json'), '{}\n')
  chmodSync(join(folder, '.mcp.json'), 0o444)
  const { code, error } = run('setup', 'claude', '--yes')
  expect(code).toBe(1)
  expect(error).toContain(`${join(folder, '.mcp.json')} is read-only: nothing was written.`)
  expect(readdirSync(folder).sort()).toEqual(['.git', '.mcp.json', 'README.md', 'src'])
  put(join(folder, 'opencode.json'), '')
  writeFileSync(join(folder, 'opencode.json'), Buffer.from([0x7b, 0xff, 0x7d]))
  expect(run('setup', 'opencode', '--yes')).toMatchObject({
    code: 1,
    out: expect.stringContaining('It was not touched: it is not UTF-8 text.'),
  })
  mkdirSync(join(folder, '.gemini', 'settings.json'), { recursive: true })
  expect(run('setup', 'gemini', '--yes')).toMatchObject({
    code: 1,
    out: expect.stringContaining('It was not touched: it cannot be read'),
  })
})

test('init in a folder with nothing asks nothing and says what it looked for', () => {
  const { runWith, folder } = openCommandLine()
  const { code, out, error } = runWith({ environment: { PATH: '/nowhere' } }, 'init', '--allow')
  expect({ code, error }).toEqual({ code: 0, error: '' })
  expect(out).toContain('No client was found')
  expect(out).toContain('Claude Code, Cursor, VS Code, Codex')
  expect(readdirSync(folder).sort()).toEqual(['.git', 'README.md', 'src'])
  const asked = runWith({ environment: { PATH: '/nowhere' } }, 'init', '--yes', '--json')
  expect(JSON.parse(asked.out)).toMatchObject({
    state: 'nothing_to_write',
    next: ['waymark setup claude', 'waymark task add "<title>"'],
  })
  expect(readdirSync(join(folder, '.waymark'))).toEqual(['.gitignore'])
})

test('init sets up what it finds as one, and leaves nothing else but .waymark/.gitignore', () => {
  const { runWith, folder, home } = openCommandLine()
  const run = (...words: readonly string[]) => runWith({ environment: { PATH: '/nowhere' } }, ...words)
  put(join(folder, '.cursor', 'rules'), '')
  mkdirSync(join(home, '.codex'))
  const before = bytesBelow(home)
  const { code, out } = run('init', '--yes')
  expect(code).toBe(0)
  expect(out).toContain(`Cursor was found (${join(folder, '.cursor')}).`)
  expect(out).toContain(`Codex was found (${join(home, '.codex')}).`)
  expect(
    Object.keys(bytesBelow(home))
      .filter((file) => !(file in before))
      .sort(),
  ).toEqual(
    ['.agents/skills/waymark/SKILL.md', '.codex/config.toml', '.cursor/mcp.json', '.waymark/.gitignore'].map(
      (file) => join(folder, file),
    ),
  )
  expect(run('init', '--clients', 'cursor,codex', '--yes').out).toContain('already set up')
  expect(run('init', '--clients', 'cursor,codex', '--undo', '--yes').code).toBe(0)
  expect(bytesBelow(home)).toEqual(before)
  expect(existsSync(join(folder, '.waymark'))).toBe(false)
  expect(refusalIn(run('init', '--clients', 'curser', '--json'))).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'client_unknown',
  })
})

test('colleagues are not disturbed: new files stay out of commits, unless they are for everybody', () => {
  const { runWith, folder, home, git } = openCommandLine()
  const run = (...words: readonly string[]) => runWith({ environment: { PATH: pathWithGit() } }, ...words)
  for (const name of ['.claude', '.cursor', '.codex', '.copilot', '.gemini']) mkdirSync(join(home, name))
  put(join(folder, '.git', 'info', 'exclude'), '*.swp')
  chmodSync(join(folder, '.git', 'info', 'exclude'), 0o644)
  const exclude = () => readFileSync(join(folder, '.git', 'info', 'exclude'), 'utf8')

  const all = 'claude,cursor,vscode,codex,gemini,antigravity,opencode,copilot,devin,zed'
  const { code, out } = run('init', '--clients', all, '--yes')
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('.git/info/exclude') })
  expect(out).toMatch(/Notes\n- [\s\S]*Left for you\n- [\s\S]*say to your agent: Start a Waymark mission/)
  expect(statSync(join(folder, '.git', 'info', 'exclude')).mode & 0o777).toBe(0o644)
  expect(git('status', '--porcelain', '--untracked-files=all')).toBe('')
  const entry = JSON.parse(readFileSync(join(folder, '.mcp.json'), 'utf8')).mcpServers.waymark
  expect([entry.command, entry.args.at(-1)]).toEqual([process.execPath, 'mcp'])
  expect(run('init', '--clients', all, '--yes').out).toContain('already set up')

  // For everybody: the program by its name, in files that can be committed.
  expect(run('setup', 'claude', '--shared', '--yes').code).toBe(0)
  expect(git('status', '--porcelain', '--untracked-files=all')).toContain('.mcp.json')
  expect(JSON.parse(readFileSync(join(folder, '.mcp.json'), 'utf8')).mcpServers.waymark.command).toBe(
    'waymark',
  )
  expect(run('init', '--undo', '--yes').code).toBe(0)
  expect(exclude()).toBe('*.swp\n')
  expect(git('status', '--porcelain')).toBe('')
})

test('a file that is committed already is named, and gets no path of this machine', () => {
  const { runWith, folder, git } = openCommandLine()
  put(join(folder, '.mcp.json'), '{ "mcpServers": {} }\n')
  git('add', '.mcp.json')
  const { out } = runWith({ environment: { PATH: pathWithGit() } }, 'setup', 'claude', '--yes')
  expect(out).toMatch(/\.mcp\.json is in the repository\. .*--user\./)
  expect(readFileSync(join(folder, '.mcp.json'), 'utf8')).toContain('"command": "waymark"')
})

/** Where git is found, and nothing else: no waymark, no client. */
function pathWithGit(): string {
  const folder = temporaryFolder()
  symlinkSync(execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim(), join(folder, 'git'))
  return folder
}

test('no token of the environment gets into a file, a difference or a record', () => {
  const { runWith, home } = openCommandLine()
  const secret = 'wm_0123456789abcdef_secret'
  const environment = { WAYMARK_TOKEN: secret, WAYMARK_SERVER: `https://u:${secret}@example.org` }
  const names = [
    'claude',
    'cursor',
    'vscode',
    'codex',
    'gemini',
    'antigravity',
    'opencode',
    'copilot',
    'devin',
    'zed',
    'claude-desktop',
    'cline',
  ]
  for (const scope of [[], ['--user']]) {
    const { out, error } = runWith(
      { environment },
      'init',
      '--clients',
      names.join(','),
      '--allow',
      '--hooks',
      '--rules',
      '--yes',
      ...scope,
    )
    expect(error).toBe('')
    expect(out).not.toContain('wm_0123')
  }
  const files = everything(home)
  expect(Object.keys(files).filter((file) => file.includes('/waymark/setup/')).length).toBeGreaterThan(15)
  expect(Object.values(files).filter((content) => content.includes('wm_0123'))).toEqual([])
})

test('npx is offered only to a copy that came from the registry', () => {
  const { run, folder } = openCommandLine()
  const { code, error } = run('setup', 'claude', '--via', 'npx', '--yes')
  expect(code).toBe(1)
  expect(error).toContain('is not from the npm registry')
  expect(existsSync(join(folder, '.mcp.json'))).toBe(false)
})

test('bad words get a sentence with the way on', () => {
  const { refused, runWith, home } = openCommandLine()
  expect(refused('setup')).toMatchObject({ code: 'INVALID_INPUT', reason: 'usage_invalid' })
  expect(refused('setup', 'claud')).toMatchObject({ code: 'INVALID_INPUT', reason: 'client_unknown' })
  expect(refused('setup', 'claude', '--toolsets', 'trak')).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'usage_invalid',
  })
  expect(refused('setup', 'claude', '--hoks')).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'usage_invalid',
  })
  expect(runWith({ folder: home }, 'setup', 'claude', '--yes').error).toContain('is not a project folder')
})

test('a variable that a client did not fill in names no project', () => {
  const { runWith, folder } = openCommandLine()
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as a client leaves it
  const environment = { WAYMARK_PROJECT: '${workspaceFolder}' }
  const { out } = runWith({ environment }, 'status', '--format', 'json')
  expect(JSON.parse(out)).toBeDefined()
  expect(runWith({ environment }, 'doctor').out).toContain(folder)
  const { error } = runWith({ environment }, 'mcp')
  expect(error).toContain(
    `waymark: WAYMARK_PROJECT=${environment.WAYMARK_PROJECT} was not filled in by the client, so it is ignored.`,
  )
})

test('doctor says of each client whether it works', () => {
  const { run, runWith, json, home, folder, write } = openCommandLine()
  const programs = join(home, 'programs')
  const found = () => {
    const { out } = runWith({ environment: { PATH: programs } }, 'doctor', '--format', 'json')
    const checks: { readonly check: string; readonly ok: boolean; readonly finding: string }[] =
      JSON.parse(out).checks
    return checks.filter(({ check }) => check.startsWith('client '))
  }
  expect(found()).toEqual([])
  put(join(programs, 'codex'), '#!/bin/sh\n', 0o755)
  expect(found()).toEqual([
    { check: 'client codex', ok: true, finding: 'Codex: not set up here: waymark setup codex' },
  ])
  rmSync(programs, { recursive: true })
  mkdirSync(join(home, '.gemini'))
  put(join(home, '.gemini', 'settings.json'), '{}')
  expect(found()).toEqual([
    { check: 'client gemini', ok: true, finding: 'Gemini CLI: not set up here: waymark setup gemini' },
  ])
  expect(run('setup', 'gemini', '--user', '--allow', '--yes').code).toBe(0)
  expect(found()).toEqual([
    {
      check: 'client gemini',
      ok: true,
      finding: `Gemini CLI: the entry is in ${join(home, '.gemini/settings.json')}; its command starts and answers; project ${folder}; its tools are allowed`,
    },
  ])
  put(join(home, '.gemini', 'trustedFolders.json'), JSON.stringify({ [folder]: 'DO_NOT_TRUST' }))
  expect(found()[0]).toMatchObject({
    ok: false,
    finding: expect.stringContaining('the folder is not trusted'),
  })
  expect(run('doctor').code).toBe(1)
  const own = join(home, '.claude', 'settings.json')
  write('.mcp.json', JSON.stringify({ mcpServers: { waymark: { command: 'waymark', args: ['mcp'] } } }))
  put(own, '{ "enabledMcpjsonServers": ["waymark"] }')
  expect(found().find(({ check }) => check === 'client claude')?.finding).toContain(
    `${own} approves a server of that name in every repository`,
  )
  rmSync(own)
  // A file of a repository may name any program: doctor starts none of them.
  write('.mcp.json', JSON.stringify({ mcpServers: { waymark: { command: 'touch', args: ['started'] } } }))
  const claude = found().find(({ check }) => check === 'client claude')
  expect(claude?.finding).toContain('its command is not one of setup, so it was not tried: touch')
  expect(existsSync(join(folder, 'started'))).toBe(false)
  // Nor the right one with words or variables that make another of it.
  write('waymark', '#!/bin/sh\n/bin/touch started\n')
  chmodSync(join(folder, 'waymark'), 0o755)
  for (const entry of [
    { command: 'waymark', args: ['mcp'], env: { PATH: '.' } },
    { command: 'waymark', args: ['mcp'], env: { NODE_OPTIONS: '--require ./started.cjs' } },
    { command: 'waymark', args: ['mcp', '--server', 'https://example.com'] },
    { command: 'waymark', args: ['logout'] },
  ]) {
    write('.mcp.json', JSON.stringify({ mcpServers: { waymark: entry } }))
    expect(found().find(({ check }) => check === 'client claude')?.finding).toContain('it was not tried')
  }
  expect(existsSync(join(folder, 'started'))).toBe(false)
  write(
    '.mcp.json',
    JSON.stringify({ mcpServers: { waymark: { command: '/gone/node', args: ['/gone/waymark.js'] } } }),
  )
  expect(found().find(({ check }) => check === 'client claude')).toMatchObject({
    ok: false,
    finding: expect.stringContaining('there is no /gone/node'),
  })
  expect(json('setting', 'list')).toBeDefined()
})

test('the help and the completion name every client', () => {
  const setup = otherCommands.find(({ command }) => command === 'setup')
  expect(setup?.words).toEqual(setupClients.map(({ id }) => id))
})

test('what cannot be written is said before anything is shown, with the folder', () => {
  const { run, runWith, folder, home, write } = openCommandLine()
  const file = join(folder, 'README.md')
  expect(run('setup', 'claude', '--yes', '--project', file)).toMatchObject({
    code: 1,
    out: '',
    error: expect.stringContaining(`waymark: ${file} is not a folder.\nUse --project <folder>`),
  })
  const nowhere = join(home, 'nowhere')
  for (const words of [
    ['setup', 'claude', '--yes'],
    ['setup', 'claude', '--dry-run'],
    ['capture', 'on'],
  ]) {
    expect(run(...words, '--project', nowhere)).toMatchObject({
      code: 1,
      out: '',
      error: expect.stringContaining(`There is no folder ${nowhere}.`),
    })
  }
  expect(existsSync(nowhere)).toBe(false)
  const state = runWith({ environment: { XDG_STATE_HOME: join(file, 'state') } }, 'setup', 'claude', '--yes')
  expect(state).toMatchObject({
    code: 1,
    out: '',
    error: expect.stringContaining(`${join(file, 'state/waymark/setup')} is not writable`),
  })
  write('.cursor', '')
  expect(run('setup', 'cursor', '--yes')).toMatchObject({
    code: 1,
    out: '',
    error: expect.stringContaining(`${join(folder, '.cursor')} is not a folder`),
  })
  expect(run('setup', 'cursor', '--dry-run').out).toContain(
    `${join(folder, '.cursor/mcp.json')} belongs below it.\n`,
  )
  put(join(home, '.local/state/waymark/hooks'), '')
  // What is the user's is written all the same.
  expect(run('init', '--clients', 'codex', '--user', '--hooks', '--yes')).toMatchObject({
    code: 0,
    error: '',
    out: expect.stringContaining(`Sessions in ${folder} are not recorded: the choice cannot be kept.`),
  })
  expect(runWith({ folder: home }, 'setup', 'gemini', '--user', '--hooks', '--yes').out).toContain(
    `Sessions in ${home} are not recorded: it is not a project folder.`,
  )
  expect(run('capture', 'on')).toMatchObject({
    code: 1,
    error: expect.stringMatching(/state.waymark.hooks.\S+ is not writable. Nothing was changed\./),
  })
})

test('undo without --user finds nothing where the setup is the user’s, and says how; --project stands in the hint', () => {
  const { run, refused, folder, home } = openCommandLine()
  expect(run('setup', 'cursor', '--user', '--yes').code).toBe(0)
  expect(run('setup', 'cursor', '--undo', '--yes')).toMatchObject({
    code: 1,
    out: 'Cursor is set up for all your projects: add --user.\n',
  })
  const from = join(home, 'other place')
  mkdirSync(from)
  expect(run('setup', 'codex', '--yes', '--project', from).out).toContain(
    `Undo: waymark setup codex --project '${from}' --undo`,
  )
  // init takes back what was set up, whatever is found today.
  expect(run('setup', 'zed', '--yes').code).toBe(0)
  expect(run('init', '--undo', '--yes').out).toContain('1 file removed.')
  expect(existsSync(join(folder, '.zed'))).toBe(false)
  expect(run('init', '--undo', '--user', '--yes').code).toBe(0)
  expect(existsSync(join(home, '.cursor'))).toBe(false)
  expect(run('init', '--undo', '--yes')).toMatchObject({ code: 0, out: 'Nothing to undo.\n' })
  expect(refused('init', '--clients', '', '--yes')).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'usage_invalid',
  })
})

test('capture that something was told to stays on after the last hooks, and undo says so', () => {
  const { run, home, folder } = openCommandLine()
  expect(run('setup', 'claude', '--hooks', '--yes').code).toBe(0)
  mkdirSync(hookQueue({ HOME: home }, folder).events)
  expect(run('setup', 'claude', '--undo', '--yes').out).toContain(
    `Capture is still on in ${folder}, but the hooks that setup wrote are gone. Stop it: waymark capture off`,
  )
  expect(JSON.parse(run('capture', 'off', '--json').out)).toMatchObject({ project: folder, on: false })
})

test('for programs: the plan, the result and what was taken back as JSON', () => {
  const { json, run, folder } = openCommandLine()
  const file = join(folder, '.mcp.json')
  const planned = json('setup', 'claude', '--hooks', '--dry-run', '--json')
  expect(planned).toMatchObject({ state: 'not_written', project: folder, clients: ['claude'] })
  expect(planned.files[0]).toMatchObject({
    file,
    change: 'new',
    diff: expect.arrayContaining(['+  "mcpServers": {']),
  })
  expect(planned.files.some(({ diff }: { readonly diff: readonly string[] }) => diff.length > 100)).toBe(true)
  const unconfirmed = run('setup', 'claude', '--json')
  expect(unconfirmed.code).toBe(2)
  expect(JSON.parse(unconfirmed.out)).toMatchObject({
    success: false,
    error: { code: 'INVALID_INPUT', reason: 'confirmation_needed' },
  })
  expect(json('setup', 'claude', '--yes', '--format', 'json')).toMatchObject({
    state: 'written',
    undo: 'waymark setup claude --undo',
  })
  expect(json('setup', 'claude', '--check', '--json')).toMatchObject({ state: 'already_set_up', files: [] })
  expect(json('init', '--undo', '--yes', '--json')).toMatchObject({ state: 'undone', clients: ['claude'] })
  expect(run('setup', 'claude', '--format', 'yaml', '--yes')).toMatchObject({ code: 2, out: '' })
})

test('init in a pipe makes only the record and says where; with flags it writes nothing before a yes', () => {
  const { runWith, json, git, folder, home } = openCommandLine()
  const run = (...words: readonly string[]) => runWith({ environment: { PATH: pathWithGit() } }, ...words)
  mkdirSync(join(home, '.codex'))
  const before = bytesBelow(home)
  const record = join(folder, '.waymark')
  const asked = run('init', '--allow')
  expect(asked).toMatchObject({ code: 2, error: expect.stringContaining('--yes') })
  for (const shown of ['[mcp_servers.waymark]', record]) expect(asked.out).toContain(shown)
  expect(existsSync(record)).toBe(false)

  const made = run('init')
  expect(made).toMatchObject({ code: 0, out: 'Database initialized.\n' })
  for (const shown of [record, 'Codex', 'waymark init --yes']) expect(made.error).toContain(shown)
  expect(git('status', '--porcelain')).toBe('')
  rmSync(record, { recursive: true })
  expect(bytesBelow(home)).toEqual(before)

  expect(run('init', '--yes')).toMatchObject({ code: 0, out: expect.stringContaining(record) })
  expect(run('init').error).toContain('Already set up: Codex')
  // Without the record a client that is set up asks again.
  rmSync(record, { recursive: true })
  expect(run('init', '--allow').code).toBe(2)
  expect(existsSync(record)).toBe(false)
  expect(json('init', '--yes', '--json')).toMatchObject({ state: 'already_set_up' })
  expect(existsSync(record)).toBe(true)
})

test('a line that would be written is shown whole, however long', () => {
  const { run, folder } = openCommandLine()
  const { out } = run('init', '--clients', 'codex', '--dry-run')
  const written = openCommandLine()
  expect(written.run('init', '--clients', 'codex', '--yes').code).toBe(0)
  const skill = readFileSync(join(written.folder, '.agents', 'skills', 'waymark', 'SKILL.md'), 'utf8')
  const [longest = ''] = skill.split('\n').toSorted((one, other) => other.length - one.length)
  expect(longest.length).toBeGreaterThan(200)
  expect(out).toContain(`+${longest}\n`)
  put(
    join(folder, '.cursor', 'mcp.json'),
    JSON.stringify({ mcpServers: { other: { args: ['x'.repeat(300)] } } }),
  )
  expect(run('init', '--clients', 'cursor', '--check').out).toMatch(/^\+.*"waymark".*"mcp"/m)
})

test('what setup writes while a task is open asks nobody; what is added to it does', () => {
  const { run, json, write, folder } = openCommandLine()
  write('AGENTS.md', '# Ours\n')
  const completing = (name: string, work: () => void) => {
    const { task_id } = json('task', 'start', name)
    work()
    json('task', 'complete', task_id, '--status', 'success', '--outcome.summary', 'Done.')
    const { items } = json('inbox', '--kind', 'scope')
    return items.flatMap(({ task_id: taskId, paths }: any) => (taskId === task_id ? paths : []))
  }
  const found = completing('Set up', () => {
    expect(run('setup', 'codex', '--rules', '--yes').code).toBe(0)
  })
  const written = readFileSync(join(folder, 'AGENTS.md'), 'utf8')
  expect(written).toContain('waymark:begin')
  expect(found).toEqual([])
  expect(completing('Add', () => write('AGENTS.md', `${written}Obey.\n`))).toEqual(['AGENTS.md'])
})

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hookClients } from '../../src/clients/hooks/hook-clients.ts'
import { amount } from '../support/amount.ts'
import { anyText } from '../support/any-text.ts'
import { runAlone } from '../support/program.ts'
import { openCommandLine } from '../surfaces/cli/command-line.ts'
import { captureBin, holdIngest, hookQueue, openCaptured } from './captured-project.ts'

const nothingSaid = { code: 0, out: '', error: '' }
const events = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'Stop',
  'preToolUse',
  'afterFileEdit',
  'BeforeTool',
  'x',
]
const tools = ['Write', 'Edit', 'Bash', 'apply_patch', 'Delete', 'mcp__x__y', 'editFiles', '']
const paths = [
  '../outside.txt',
  '../../../../../../etc/passwd',
  '/etc/passwd',
  'link/secret.txt',
  'src/link-out.txt',
  'src/\u0000.txt',
  'src/a\nb.txt',
  '.git/config',
  'C:\\Users\\x\\a.ts',
  '\\\\server\\share\\a.ts',
  'src/app.ts',
  '',
  'a/'.repeat(3000),
]

test('payloads of any kind leave the project alone, read nothing outside it and end the process with nothing said', async () => {
  const project = openCaptured({ on: true, prompts: 'local', commands: 'full' })
  const { home, folder } = project
  writeFileSync(join(home, 'outside.txt'), 'out there')
  mkdirSync(join(home, 'elsewhere'))
  writeFileSync(join(home, 'elsewhere', 'secret.txt'), 'out there')
  project.write('src/app.ts', 'in here\n')
  symlinkSync(join(home, 'elsewhere'), join(folder, 'link'))
  symlinkSync(join(home, 'outside.txt'), join(folder, 'src', 'link-out.txt'))
  const value = fc.oneof(
    fc.constantFrom(...paths),
    anyText({ maxLength: 60 }),
    fc.constant(null),
    fc.integer(),
    fc.boolean(),
    fc.array(fc.string(), { maxLength: 3 }),
    fc.dictionary(fc.string({ maxLength: 5 }), fc.anything(), { maxKeys: 2 }),
  )
  const input = fc.record(
    {
      file_path: value,
      path: value,
      content: value,
      command: value,
      edits: value,
      files: fc.array(value, { maxLength: 3 }),
      old_string: value,
      new_string: value,
      patch: value,
    },
    { requiredKeys: [] },
  )
  const payload = fc.record(
    {
      session_id: fc.oneof(fc.constantFrom('s', '../../up', 'a/b', '\u0001'), value),
      conversation_id: value,
      hook_event_name: fc.oneof(fc.constantFrom(...events), value),
      cwd: fc.oneof(fc.constant(folder), value),
      tool_name: fc.oneof(fc.constantFrom(...tools), value),
      tool_input: fc.oneof(input, value),
      tool_use_id: value,
      tool_response: value,
      prompt: value,
      agent_id: value,
      transcript_path: fc.oneof(fc.constant('/etc/passwd'), value),
      background_tasks: value,
      source: value,
      usage: value,
      constructor: value,
    },
    { requiredKeys: [] },
  )
  const said = fc.oneof(
    { weight: 9, arbitrary: payload.map((one) => JSON.stringify(one)) },
    { weight: 1, arbitrary: anyText({ maxLength: 200 }) },
  )
  fc.assert(
    fc.property(
      said,
      fc.constantFrom(...hookClients.map(({ name }) => name), 'nobody', ''),
      (text, client) => {
        project.tell(client, text)
      },
    ),
    { numRuns: amount({ test: 500, soak: 1_000 }), seed: 20_261_122 },
  )
  expect(project.events().length).toBeGreaterThan(amount({ test: 50, soak: 100 }))
  for (const copy of project.copies()) expect(readFileSync(copy, 'utf8')).toBe('in here\n')
  const hookEvents = await project.drain()
  expect(hookEvents.length).toBeGreaterThan(amount({ test: 30, soak: 60 }))
  const told = JSON.stringify(hookEvents)
  expect(told).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\\u00[01]/)
  for (const { what, folder: where, session } of hookEvents) {
    expect(where === folder || where.startsWith(`${folder}/`)).toBe(true)
    expect(session.length).toBeLessThanOrEqual(200)
    if (what.kind !== 'edit_began' && what.kind !== 'edit_ended') continue
    for (const { path } of what.edits) {
      expect(path.startsWith(`${folder}/`)).toBe(true)
      expect(path.slice(folder.length)).not.toContain('link')
      expect(path).not.toContain('/.git/')
    }
  }
  expect(readdirSync(home).sort()).toEqual(['.local', 'elsewhere', 'outside.txt', 'project'])
  expect(readFileSync(join(home, 'outside.txt'), 'utf8')).toBe('out there')
  expect(readdirSync(folder).sort()).toEqual(['link', 'src'])
  expect(project.log()).toContain('outside the project')
})

test('what the process is given is never a reason to speak or to fail', () => {
  const project = openCaptured()
  const path = `${project.folder}/src/big.ts`
  const big = 'é'.repeat(5 * 1024 * 1024)
  const said = {
    session_id: 's',
    cwd: project.folder,
    hook_event_name: 'PostToolUse',
    tool_name: 'Write',
    tool_use_id: 't',
    tool_input: { file_path: path, content: big },
  }
  for (const text of ['', 'null', '[]', '{', '\u0000', '{"session_id":"s"}', JSON.stringify(said)]) {
    expect(project.run('claude', text)).toEqual(nothingSaid)
  }
  expect(project.run('', '{}')).toEqual(nothingSaid)
  // Of the long one the file is known, and not what was to be written.
  const name = project.events().toSorted().at(-1) ?? ''
  const file = join(project.queue.events, name)
  expect(statSync(file).size).toBeLessThan(4096)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    kind: 'edit_ended',
    edits: [{ path, absent: true, does: null }],
  })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(project.queue.events).mode & 0o777).toBe(0o700)
})

test('a hook queue that is a link is not written to', () => {
  const project = openCaptured()
  mkdirSync(join(project.home, 'elsewhere'))
  symlinkSync(join(project.home, 'elsewhere'), project.queue.events)
  project.tell('claude', {
    session_id: 's',
    cwd: project.folder,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'x',
  })
  expect(readdirSync(join(project.home, 'elsewhere'))).toEqual([])
  expect(project.log()).toContain(': behind_link')
})

test('where nobody switched capture on, a hook leaves no trace', () => {
  const off = openCaptured({ on: false })
  off.tell('claude', { session_id: 's', cwd: off.folder, hook_event_name: 'UserPromptSubmit', prompt: 'x' })
  expect(off.run('claude', { session_id: 's', cwd: off.home, hook_event_name: 'Stop' })).toEqual(nothingSaid)
  expect(existsSync(off.queue.events)).toBe(false)
})

test('a committed link in the place of the old queue is neither tidied nor written through', () => {
  const { run, home, folder, environment, git } = openCommandLine()
  const outside = join(home, 'outside', 'photos')
  mkdirSync(outside, { recursive: true })
  writeFileSync(join(outside, 'holiday.jpg'), 'mine')
  mkdirSync(join(folder, '.waymark', 'spool'), { recursive: true })
  symlinkSync(join(home, 'outside'), join(folder, '.waymark', 'spool', 'copies'))
  symlinkSync(join(home, 'outside'), join(folder, '.waymark', 'state'))
  git('add', '-f', '.waymark')
  git('commit', '-qm', 'links')
  run('capture', 'on')
  const tool = { tool_name: 'Write', tool_use_id: 't', tool_input: { file_path: 'src/app.ts', content: 'x' } }
  for (const hook_event_name of ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop']) {
    const said = { session_id: 'photos', cwd: folder, hook_event_name, prompt: 'x', ...tool }
    holdIngest({ HOME: home }, folder)
    expect(runAlone([captureBin, 'claude'], { folder, environment, input: JSON.stringify(said) })).toEqual(
      nothingSaid,
    )
  }
  for (const words of [['status'], ['sessions'], ['ingest', '--once'], ['doctor'], ['capture', 'status']])
    run(...words)
  expect(readdirSync(join(home, 'outside'), { recursive: true })).toEqual(['photos', 'photos/holiday.jpg'])
})

test('settings in the project switch nothing on, whoever committed them', () => {
  const { run, home, folder, environment, git, write } = openCommandLine()
  write(
    '.waymark/capture.json',
    JSON.stringify({ root: folder, on: true, prompts: 'local', commands: 'full' }),
  )
  write('.waymark/state/hooks/capture.json', JSON.stringify({ root: folder, on: true, prompts: 'local' }))
  git('add', '-f', '.waymark')
  git('commit', '-qm', 'settings')
  const said = { session_id: 's', cwd: folder, hook_event_name: 'UserPromptSubmit', prompt: 'my secret plan' }
  expect(runAlone([captureBin, 'claude'], { folder, environment, input: JSON.stringify(said) })).toEqual(
    nothingSaid,
  )
  expect(existsSync(hookQueue({ HOME: home }, folder).folder)).toBe(false)
  expect(existsSync(join(folder, '.waymark', 'state', 'hooks', 'queue'))).toBe(false)
  expect(run('capture', 'status').out).toContain('Capture was never on')
})

test('where a sandbox forbids the state folder, events wait in the project, out of git, and are recorded later', () => {
  const { run, home, folder, environment, git } = openCommandLine()
  run('capture', 'on')
  const queue = hookQueue({ HOME: home }, folder)
  const said = {
    session_id: 's',
    cwd: folder,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: {},
  }
  const sandboxed = join(home, 'sandbox.cjs')
  // As a sandbox answers, whoever runs it: root may write everywhere else.
  writeFileSync(
    sandboxed,
    `const fs = require('node:fs')
     // A folder that is held open is written through its number.
     const placeOf = (path) => String(path).replace(/^\\/proc\\/self\\/fd\\/\\d+/, (held) => fs.readlinkSync(held))
     for (const name of ['mkdirSync', 'openSync', 'rmSync']) {
       const real = fs[name]
       fs[name] = (path, ...rest) => {
         const writes = name !== 'openSync' || (rest[0] & fs.constants.O_WRONLY) !== 0
         if (writes && placeOf(path).startsWith(${JSON.stringify(queue.folder)}))
           throw Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' })
         return real(path, ...rest)
       }
     }`,
  )
  expect(
    runAlone(['--require', sandboxed, captureBin, 'claude'], {
      folder,
      environment,
      input: JSON.stringify(said),
    }),
  ).toEqual(nothingSaid)
  const inProject = join(folder, '.waymark', 'state', 'hooks', 'queue')
  expect(readdirSync(inProject)).toHaveLength(1)
  expect(existsSync(queue.events)).toBe(false)
  expect(git('status', '--porcelain')).toBe('')
  expect(run('capture', 'status').out).toContain('1 event in the hook queue')
  expect(run('sessions').code).toBe(0)
  expect(readdirSync(inProject)).toEqual([])
  expect(run('capture', 'status').out).toContain('The hook queue is empty')
})

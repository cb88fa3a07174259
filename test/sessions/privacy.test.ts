import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { redactSecrets } from '../../src/kernel/redaction.ts'
import { openCaptured } from './captured-project.ts'

// Put together here, so that no scanner of repositories takes them for real ones.
const some = 'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY'
const secrets: Readonly<Record<string, string>> = {
  AWS: `AKIA${'IOSFODNN7EXAMPLE'}`,
  GitHub: `ghp_${some}abcd`,
  'GitHub fine-grained': `github_pat_${some}`,
  GitLab: `glpat-${some.slice(0, 20)}`,
  Slack: `xoxb-${'123456789012'}-${some.slice(0, 16)}`,
  OpenAI: `sk-proj-${some}`,
  Anthropic: `sk-ant-api03-${some}`,
  Google: `AIza${some}xyz`,
  npm: `npm_${some}abcd`,
  JWT: `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${some}`,
  'PEM block': `-----BEGIN RSA PRIVATE KEY-----\n${some}\n${some}\n-----END RSA PRIVATE KEY-----`,
  'login in an address': `hunter2:correct-horse`,
  'value of a key': `short-but-secret`,
  'a random run': 'q8Zr2LxVw0Tn5KcYb7HsMd3F',
}

function inUse(kind: string, secret: string): string {
  if (kind === 'login in an address') return `postgres://${secret}@db.example.com/x`
  if (kind === 'value of a key') return `export MY_API_TOKEN=${secret}`
  return `use ${secret} please`
}

test.each(Object.entries(secrets))(
  'a secret of the kind %s is replaced by its kind and length',
  (kind, secret) => {
    const text = redactSecrets(inUse(kind, secret))
    for (const part of secret.split('\n').filter((line) => !line.startsWith('--')))
      expect(text).not.toContain(part)
    expect(text).toMatch(/\[redacted [\w ]+, \d+ characters\]/)
  },
)

test('what is no secret stays: ids of git, paths, words', () => {
  const text =
    'See 1a3f7429cad8f009b27fef99789d325ce1a1c102 in src/operations/capture/record-moments.ts, test/capture/captured-project.ts and https://example.com/docs/guide/capture.html?page=2'
  expect(redactSecrets(text)).toBe(text)
})

test('long words of any kind are read at once: a client waits for it', () => {
  const long = ['a', 'a.', 'Ab0', 'eyJ-', 'eyJ_abcdefgh', 'KEY', 'KEY=', 'x://', '-----BEGIN ', '"'].map(
    (part) => part.repeat(20_000 / part.length),
  )
  const began = process.threadCpuUsage()
  for (const text of long) redactSecrets(text)
  const { user, system } = process.threadCpuUsage(began)
  expect((user + system) / 1000 / long.length).toBeLessThan(300)
})

function everythingBelow(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n')
}

test.each([
  { prompts: 'off', commands: 'program', keeps: false },
  { prompts: 'local', commands: 'full', keeps: true },
])(
  'secrets in prompts, commands and files reach neither queue, log nor record: prompts $prompts, commands $commands',
  async ({ prompts, commands, keeps }) => {
    const project = openCaptured({ on: true, prompts, commands, secret: ['vault/*', '*.tfstate'] })
    const all = Object.entries(secrets)
    const common = {
      session_id: 's',
      cwd: project.folder,
      user_email: 'someone@example.com',
      hostname: 'box-7',
    }
    for (const [kind, secret] of all) {
      const said = inUse(kind, secret)
      project.tell('claude', {
        ...common,
        hook_event_name: 'UserPromptSubmit',
        prompt: `Hello: ${said}`,
        prompt_id: kind,
      })
      const shell = {
        tool_name: 'Bash',
        tool_use_id: `b ${kind}`,
        tool_input: { command: `deploy --now ${said}`, description: said },
      }
      project.tell('claude', { ...common, ...shell, hook_event_name: 'PreToolUse' })
      project.tell('claude', {
        ...common,
        ...shell,
        hook_event_name: 'PostToolUse',
        tool_response: { stdout: said },
      })
      project.tell('claude', { ...common, hook_event_name: 'TaskCreated', task_id: kind, task_subject: said })
      project.tell('claude', {
        ...common,
        hook_event_name: 'StopFailure',
        error: said,
        last_assistant_message: said,
      })
    }
    const state = project.queue.folder
    const spooled = everythingBelow(state)
    // Files that are secret by their names are never copied, whatever a person or a payload calls them.
    for (const name of [
      '.env',
      '.env.local',
      'a/server.pem',
      'deploy.key',
      'id_ed25519',
      '.npmrc',
      'credentials.json',
      'vault/x.txt',
      'a/prod.tfstate',
      'a/.ENV',
      '.Env.Production',
      '.pgpass',
      '.git-credentials',
      '.pypirc',
      '.vault-token',
      'infra/prod.tfvars',
      'infra/prod.tfvars.json',
      'cert.P12',
      'kubeconfig',
      '.kube/config',
      '.docker/config.json',
      '.aws/config',
      'my-service-account.json',
      'app-credentials.json',
    ]) {
      project.write(name, `${Object.values(secrets).join('\n')}\n`)
      const write = { tool_name: 'Write', tool_use_id: name, tool_input: { file_path: name, content: 'new' } }
      project.tell('claude', { ...common, ...write, hook_event_name: 'PreToolUse' })
      project.tell('claude', { ...common, ...write, hook_event_name: 'PostToolUse', tool_response: {} })
    }
    expect(project.copies()).toEqual([])
    const waiting = everythingBelow(state)
    // Others are copied until their turn is over.
    project.write('src/config.ts', Object.values(secrets).join('\n'))
    const write = {
      tool_name: 'Write',
      tool_use_id: 'w',
      tool_input: { file_path: 'src/config.ts', content: Object.values(secrets).join('\n') },
    }
    project.tell('claude', { ...common, ...write, hook_event_name: 'PostToolUse', tool_response: {} })
    expect(project.copies()).toHaveLength(1)
    project.tell('claude', { ...common, hook_event_name: 'Stop' })
    const hookEvents = JSON.stringify(await project.drain())
    const after = everythingBelow(state)
    for (const [kind, secret] of all) {
      for (const part of secret.split('\n').filter((line) => !line.startsWith('--'))) {
        expect([kind, 'spooled', spooled.includes(part)]).toEqual([kind, 'spooled', false])
        expect([kind, 'waiting', waiting.includes(part)]).toEqual([kind, 'waiting', false])
        expect([kind, 'hookEvents', hookEvents.includes(part)]).toEqual([kind, 'hookEvents', false])
        expect([kind, 'after', after.includes(part)]).toEqual([kind, 'after', false])
      }
    }
    for (const text of [spooled, hookEvents, after]) {
      expect(text).not.toContain('someone@example.com')
      expect(text).not.toContain('box-7')
    }
    expect(hookEvents.includes('Hello: ')).toBe(keeps)
    expect(hookEvents.includes('deploy --now')).toBe(keeps)
    expect(hookEvents.includes('"program":"deploy')).toBe(true)
  },
)

test('what a person named as secret is copied from no linked work tree either', () => {
  const project = openCaptured({ on: true, secret: ['vault/*'] })
  const gitFolder = join(project.folder, '.git', 'worktrees', 'tree')
  const tree = join(project.home, 'tree')
  for (const folder of [gitFolder, join(tree, 'vault')]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(gitFolder, 'commondir'), '../..\n')
  writeFileSync(join(tree, '.git'), `gitdir: ${gitFolder}\n`)
  for (const name of ['vault/x.txt', 'y.txt']) {
    writeFileSync(join(tree, name), 'in it')
    const input = { file_path: name, content: `new in ${name}` }
    const write = { tool_name: 'Write', tool_use_id: name, tool_input: input }
    project.tell('claude', { session_id: 's', cwd: tree, ...write, hook_event_name: 'PostToolUse' })
  }
  const waiting = everythingBelow(project.queue.folder)
  expect(project.copies()).toHaveLength(1)
  expect(waiting).toContain('new in y')
  expect(waiting).not.toContain('new in vault')
})

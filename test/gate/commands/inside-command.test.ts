import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isInsideCommand } from '../../../src/gate/commands/os-processes.ts'
import { amount } from '../../support/amount.ts'
import { bin } from '../../support/program.ts'
import { type CommandLineProject, openCommandLine } from '../../surfaces/cli/command-line.ts'
import { serveHome } from '../../surfaces/http/serve-process.ts'
import { process as processText } from '../runs/processes.ts'

const gate = processText('inside', {
  guards: '  checked: { type: command, run: "sh check.sh", timeout: 2m, pinned: ["check.sh"] }',
  guard: 'checked',
})
const waiting = processText('waiting').replace(
  'allowed_roles: [agent, reviewer]',
  'allowed_roles: [reviewer], description: Accept',
)

interface Gated {
  readonly project: CommandLineProject
  /** A run that waits for a person's yes. */
  readonly waiting: string
  /** Runs the check as an approved guard's command, and answers what it said. */
  readonly check: () => string
}

/** A run whose guard's command is this script, which a person approved; and another run that waits for a person. */
function gated(script: (waitingRun: string) => string): Gated {
  const project = openCommandLine()
  project.write('.waymark/processes/inside.yaml', gate)
  project.write('.waymark/processes/waiting.yaml', waiting)
  const { run_id: open } = project.json('run', 'create', 'waiting')
  project.write('check.sh', script(open))
  const { run_id: id } = project.json('run', 'create', 'inside')
  project.run('verify', id, '--json')
  const [item] = project.json('inbox', '--kind', 'command').items
  project.json('approve', item.item_id)
  return {
    project,
    waiting: open,
    check: () => {
      const { out } = project.run('verify', id, '--json')
      return JSON.parse(out).commands[0].output
    },
  }
}

const node = process.execPath
const clean = 'env -i HOME="$HOME" PATH="$PATH"'

// Each start of the program takes a while, so one script tries everything.
test('inside an approved script nobody is a person: they approve nothing, take no role and make no token', () => {
  const roles = 'WAYMARK_ROLE=reviewer WAYMARK_ACTOR=tess'
  const run = gated((open) => {
    const words = `${node} ${bin} approve ${open} good --event go 2>&1`
    const approving = [
      `exec setsid -w ${clean} ${words}`,
      `exec ${clean} script -qec "${words}" /dev/null`,
      words,
      `${clean} ${words}`,
      `setsid -w ${words}`,
      `setsid -w ${clean} ${words}`,
    ].slice(0, amount({ test: 1, soak: 6 }))
    const ask = `cat > "$HOME/ask.mjs" <<'END'\n${elicitingClient}\nEND\n${node} "$HOME/ask.mjs" ${node} ${bin} ${open} 2>&1`
    return [
      `${roles} ${node} ${bin} decide ${open} go "yes" 2>&1`,
      `${node} ${bin} token add evangeline --role reviewer 2>&1`,
      ask,
      ...approving.map((way) => `(${way})`),
    ]
      .map((way, at) => `echo way ${at + 1}\n${way}\n`)
      .join('')
  })
  const [, role, token, agent, ...approving] = run
    .check()
    .replaceAll('\r', '')
    .split(/way \d\n/)
  expect(role).toContain('Only people can call decide. command of a guard is an agent.')
  expect(token).toContain('Only people can call token_create. command of a guard is an agent.')
  expect(JSON.stringify(run.project.json('token', 'list'))).not.toContain('evangeline')
  // An agent that the script starts asks the script, which is no person.
  expect(agent).toContain('FORBIDDEN')
  expect(agent).not.toContain('decided_by')
  // Whatever variables it drops, and in a session or on a terminal of its own.
  expect(approving).toHaveLength(amount({ test: 1, soak: 6 }))
  for (const way of approving) {
    expect(way).toMatch(/^waymark: Only people can call approve\. command of a guard is an agent\./)
  }
  expect(run.project.json('run', 'show', run.waiting).current_state).toBe('work')
  const { items } = run.project.json('inbox', '--kind', 'approval')
  expect(items).toMatchObject([{ run_id: run.waiting, status: 'open' }])
  expect(run.project.run('approve', run.waiting, 'really', '--event', 'go').code).toBe(0)
})

/** Speaks MCP, and says yes to whatever its person is asked. */
const elicitingClient = `import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
const [node, bin, run] = process.argv.slice(2)
const server = spawn(node, [bin, 'mcp'], { stdio: ['pipe', 'pipe', 'inherit'] })
const say = (message) => server.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: { elicitation: {} }, clientInfo: { name: 'eve', version: '1' } } })
for await (const line of createInterface({ input: server.stdout })) {
  const message = JSON.parse(line)
  if (message.id === 1 && !message.method) {
    say({ method: 'notifications/initialized' })
    say({ id: 2, method: 'tools/call', params: { name: 'state_gate_emit_event', arguments: { run_id: run, event_name: 'go', expected_revision: 1, idempotency_key: 'k' } } })
  } else if (message.method === 'elicitation/create') {
    say({ id: message.id, result: { action: 'accept', content: { decision: 'go' } } })
  } else if (message.id === 2) {
    console.log(line)
    server.kill()
    break
  }
}
`

test('a server lets nobody in as a person from inside a command, whatever token they read', async () => {
  const home = serveHome()
  const folder = home.repository('shop')
  mkdirSync(join(folder, '.waymark', 'processes'), { recursive: true })
  writeFileSync(join(folder, '.waymark', 'processes', 'inside.yaml'), gate)
  const script = `token=$(cat '${home.home}/state/waymark/server/person.token')
setsid -w env -i ${node} ask.mjs $token $(cat port) 2>&1
echo daemon
(setsid ${node} ask.mjs $token $(cat port) >"$HOME/daemon.txt" 2>&1 &)
for n in $(seq 100); do grep -qs '^login ' "$HOME/daemon.txt" && break; sleep 0.05; done
cat "$HOME/daemon.txt"
`
  writeFileSync(join(folder, 'check.sh'), script)
  writeFileSync(join(folder, 'ask.mjs'), asking)
  const { port } = await home.serve(folder, '--port', '0')
  writeFileSync(join(folder, 'port'), String(port))
  const outside = await asked(home.token('person'), port, folder)
  expect(outside).toContain('session person')
  expect(outside).toContain('login-code 200')
  const { code } = JSON.parse(outside.split('\n').find((line) => line.startsWith('{')) ?? '{}')
  writeFileSync(join(folder, 'code'), code)
  const json = (...words: string[]) => JSON.parse(home.run(folder, ...words, '--json').out)
  const { run_id: id } = json('run', 'create', 'inside')
  home.run(folder, 'verify', id)
  home.run(folder, 'approve', json('inbox').items[0].item_id)
  const said = json('verify', id).commands[0].output
  const ways = said.split('daemon\n')
  expect(ways).toHaveLength(2)
  for (const way of ways) {
    expect(way).toContain('session agent command of a guard')
    expect(way).toContain('login-code 403')
    expect(way).toContain('login 403')
  }
})

/** Asks with a person's token who it is, for a login code, and for a session by a code that a person was given. */
const asking = `import { existsSync, readFileSync } from 'node:fs'
const [token, port] = process.argv.slice(2)
const headers = { Authorization: 'Bearer ' + token }
const at = (path) => 'http://127.0.0.1:' + port + path
const { actor } = await (await fetch(at('/api/session'), { headers })).json()
console.log('session', actor.kind, actor.name)
const made = await fetch(at('/api/login-code'), { method: 'POST', headers })
console.log('login-code', made.status)
console.log(await made.text())
if (existsSync('code')) {
  const login = await fetch(at('/login?code=' + readFileSync('code', 'utf8')), { redirect: 'manual' })
  console.log('login', login.status)
}
`

async function asked(token: string, port: number, folder: string): Promise<string> {
  const child = spawn(node, ['ask.mjs', token, String(port)], { cwd: folder, env: {} })
  let out = ''
  child.stdout.on('data', (data: Buffer) => {
    out += data.toString()
  })
  await once(child, 'close')
  return out
}

test('a process outside of every command is not inside one', () => {
  expect(isInsideCommand(process.pid)).toBe(false)
  expect(isInsideCommand(1)).toBe(false)
  expect(isInsideCommand(2 ** 30)).toBe(false)
})

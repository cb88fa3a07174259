import { execFileSync, spawn } from 'node:child_process'
import { type EventEmitter, once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { amount, soakTest } from '../../support/amount.ts'
import { awakeTime } from '../../support/awake-time.ts'
import { bin } from '../../support/program.ts'
import { type StartedProgram, startAlone } from '../../support/started-program.ts'
import { serveHome } from '../http/serve-process.ts'

/** A project with a task, on a machine whose git takes minutes once it is slow. */
function slowHome({ withGit = true } = {}) {
  const served = serveHome()
  const { home, environment } = served
  const [pids, slow, temporary] = ['pids', 'slow', 'tmp'].map((name) => join(home, name)) as [
    string,
    string,
    string,
  ]
  const git = execFileSync('which', ['git'], { encoding: 'utf8' }).trim()
  mkdirSync(join(home, 'bin'))
  mkdirSync(temporary)
  writeFileSync(
    join(home, 'bin', 'git'),
    `#!/bin/sh\n[ "$2" = core.fsmonitor=false ] && [ -e '${slow}' ] && { sleep 300 & echo $! $$ >> '${pids}'; wait; }\nexec '${git}' "$@"\n`,
  )
  chmodSync(join(home, 'bin', 'git'), 0o755)
  environment['PATH'] = `${join(home, 'bin')}${delimiter}${environment['PATH']}`
  environment['TMPDIR'] = temporary
  const folder = join(home, 'shop')
  if (withGit) served.repository('shop')
  else mkdirSync(folder)
  return { ...served, folder, pids, slow, temporary, recover: () => rmSync(slow) }
}

const starting = (words: readonly string[], { folder, environment }: ReturnType<typeof slowHome>) => {
  const child = startAlone([bin, ...words], { folder, environment })
  onTestFinished(() => child.kill())
  return child
}

async function until(isDone: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 20_000; !isDone(); await sleep(20)) {
    if (Date.now() > deadline) throw new Error('it never began')
  }
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

async function endedBy(child: Pick<StartedProgram, 'kill'> & EventEmitter, signal: NodeJS.Signals) {
  const exit = once(child, 'exit')
  child.kill(signal)
  const took = await awakeTime(exit)
  const [code] = await exit
  return { code, took }
}

const record = ({ run, folder }: ReturnType<typeof slowHome>) => {
  const { healthy } = JSON.parse(run(folder, 'doctor', '--json').out)
  return { healthy, tasks: JSON.parse(run(folder, 'task', 'list', '--json').out) }
}

test.each((['SIGTERM', 'SIGINT'] as const).slice(0, amount({ test: 1, soak: 2 })))(
  'a command ends with its git children at %s',
  async (signal) => {
    const home = slowHome()
    writeFileSync(home.slow, '')
    const child = starting(['task', 'start', 'Pay', '--goal', 'Pay'], home)
    await until(() => existsSync(home.pids))
    await until(() => readFileSync(home.pids, 'utf8').includes('\n'))
    const { code, took } = await endedBy(child, signal)
    expect(took).toBeLessThan(5_000)
    expect(code).toBe(signal === 'SIGTERM' ? 143 : 130)
    const pids = readFileSync(home.pids, 'utf8').split(/\s+/).filter(Boolean).map(Number)
    await until(() => !pids.some(isAlive))
    expect(readdirSync(home.temporary)).toEqual([])
    home.recover()
    expect(record(home)).toEqual({ healthy: true, tasks: [] })
  },
)

/** What a process has read so far. */
function readBytes({ pid }: StartedProgram): number {
  return Number(/^rchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])
}

soakTest('a command that reads gigabytes ends at once, and records nothing', async () => {
  const home = slowHome({ withGit: false })
  const large = join(home.folder, 'large.bin')
  writeFileSync(large, '')
  truncateSync(large, 3_900 * 1024 ** 2)
  const child = starting(['task', 'start', 'Pay', '--goal', 'Pay'], home)
  // Of gigabytes it has read some.
  await until(() => readBytes(child) > 100_000_000)
  const { took } = await endedBy(child, 'SIGTERM')
  expect(took).toBeLessThan(5_000)
  truncateSync(large, 0)
  expect(record(home)).toEqual({ healthy: true, tasks: [] })
})

test.each(['mcp', 'serve'].slice(0, amount({ test: 1, soak: 2 })))(
  'waymark %s ends with its git children',
  async (command) => {
    const home = slowHome()
    const call = { name: 'Pay', goal: 'Pay' }
    let child: StartedProgram
    if (command === 'serve') {
      const served = await home.serveAlone(home.folder, '--port', '0')
      child = served.child
      writeFileSync(home.slow, '')
      void fetch(`http://127.0.0.1:${served.port}/api/start_task`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${home.token('agent')}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(call),
      }).catch(() => undefined)
    } else {
      writeFileSync(home.slow, '')
      child = starting(['mcp'], home)
      for (const message of [initialize, { method: 'notifications/initialized' }, calling(call)]) {
        child.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
      }
    }
    await until(() => existsSync(home.pids) && readFileSync(home.pids, 'utf8').includes('\n'))
    const { took } = await endedBy(child, 'SIGTERM')
    expect(took).toBeLessThan(5_000)
    const pids = readFileSync(home.pids, 'utf8').split(/\s+/).filter(Boolean).map(Number)
    await until(() => !pids.some(isAlive))
    expect(readdirSync(home.temporary)).toEqual([])
    home.recover()
    expect(record(home)).toEqual({ healthy: true, tasks: [] })
  },
)

const initialize = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a-client', version: '1' } },
}

function calling(input: object) {
  return { id: 2, method: 'tools/call', params: { name: 'start_task', arguments: input } }
}

test("a guard's command that ignores signals ends with the program", async () => {
  const { home } = serveHome()
  const pids = join(home, 'pids')
  const from = (file: string) => JSON.stringify(new URL(`../../../src/${file}`, import.meta.url).href)
  const program = `
    import { endOnSignal } from ${from('app/process.ts')}
    import { commandRunner } from ${from('gate/commands/command-runner.ts')}
    endOnSignal()
    const run = ${JSON.stringify(`trap '' TERM; echo $$ > '${pids}'; while :; do sleep 1; done`)}
    await commandRunner().start({ run, folder: ${JSON.stringify(home)}, timeout: 300_000 })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' })
  onTestFinished(() => void child.kill('SIGKILL'))
  await until(() => existsSync(pids) && readFileSync(pids, 'utf8').includes('\n'))
  const { took } = await endedBy(child, 'SIGTERM')
  expect(took).toBeLessThan(5_000)
  const pid = Number(readFileSync(pids, 'utf8'))
  await until(() => !isAlive(pid))
})

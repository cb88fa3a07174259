import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { amount } from '../../../support/amount.ts'
import { temporaryStore } from '../../../support/store.ts'
import { LiveClient } from './live-client.ts'

const writers = 3
const written = amount({ test: 120, soak: 250 })
const readers = 4
const restarts = amount({ test: 2, soak: 4 })

function run(script: string, ...args: readonly string[]): ChildProcess {
  const file = join(import.meta.dirname, 'processes', `${script}.ts`)
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

async function portOf(server: ChildProcess): Promise<number> {
  if (!server.stdout) throw new Error('the server has no output')
  const [line] = await once(server.stdout, 'data')
  return Number(String(line))
}

/** Reads until a position, hanging up at random and coming back where it was, to whatever server there is. */
async function readAll(port: () => number, last: number): Promise<readonly number[]> {
  const seen: number[] = []
  while ((seen.at(-1) ?? 0) < last) {
    const client = new LiveClient(port(), `?since=${seen.at(-1) ?? 0}`)
    const enough = Math.min(1 + Math.floor(Math.random() * 150), last - (seen.at(-1) ?? 0))
    await client.until(() => client.events.length >= enough).catch(() => sleep(20)) // the server may be gone
    client.end()
    await client.closed
    seen.push(...client.seqs)
  }
  return seen
}

test('whoever hangs up and comes back reads every log entry once, whatever processes write and die', async () => {
  await using temporary = await temporaryStore()
  const { root, file, store } = temporary
  const place = [root, file]
  let server = run('serve', ...place)
  let port = await portOf(server)
  const writing = Array.from({ length: writers }, (_, index) =>
    once(run('write', ...place, String(1 + index * written), String(written)), 'exit'),
  )
  const last = writers * written + 1 // and the project's own
  const reading = Promise.all(Array.from({ length: readers }, () => readAll(() => port, last)))
  const restarting = (async () => {
    for (let restart = 0; restart < restarts; restart += 1) {
      await sleep(200 + Math.random() * 800)
      server.kill('SIGKILL')
      server = run('serve', ...place)
      port = await portOf(server)
    }
  })()
  const read = await reading
  await restarting
  for (const [code] of await Promise.all(writing)) expect(code).toBe(0)
  expect(await store.view(({ eventLog: log }) => log.head())).toBe(last)
  const all = Array.from({ length: last }, (_, index) => index + 1)
  for (const seqs of read) expect(seqs).toEqual(all)
  server.kill('SIGKILL')
  await once(server, 'exit')
})

// Keeps one cluster for as long as another process lives, and removes it then, also when that process was killed.
// Words: its folder, the process, where the binaries are wanted from, and whether what is acknowledged outlives a crash.
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../../src/kernel/failure.ts'
import { type Cluster, foundBinaries, startCluster } from './cluster.ts'

const [folder = '', owner = '', wanted = '', durable = ''] = process.argv.slice(2)
let isOver = false
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => (isOver = true))

try {
  const cluster = await startCluster({
    folder,
    binaries: foundBinaries(wanted || undefined),
    isDurable: durable === 'durable',
  })
  if (process.send) process.on('message', (word) => void obeyed(cluster, String(word)))
  tell({ url: cluster.url })
  while (!isOver && isAlive(Number(owner))) await sleep(100)
  await cluster.stop()
} catch (error) {
  tell({ error: messageOf(error) })
  while (!isOver && isAlive(Number(owner))) await sleep(100)
}
rmSync(folder, { recursive: true, force: true })
process.exit(0)

/** What a test of crashes asks for. */
async function obeyed(cluster: Cluster, word: string): Promise<void> {
  if (word === 'kill') process.kill(cluster.pid(), 'SIGKILL')
  if (word === 'start') await cluster.start()
  process.send?.(word)
}

function tell(what: object): void {
  writeFileSync(join(folder, 'told.new'), JSON.stringify(what))
  renameSync(join(folder, 'told.new'), join(folder, 'told'))
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

import { randomBytes } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The folder of the cluster of this run, which the first test that wants PostgreSQL makes. */
export const folderOfRun = 'WAYMARK_TEST_RUN'

/** Every process of the run knows the folder, and who began the run. */
export function setup(): () => Promise<void> {
  const folder = join(roomFor(), `waymark-postgres-${process.pid}-${randomBytes(4).toString('hex')}`)
  process.env[folderOfRun] = JSON.stringify({ folder, owner: process.pid })
  return async () => {
    const keeper = join(folder, 'keeper')
    if (!existsSync(keeper)) return
    process.kill(Number(readFileSync(keeper, 'utf8')), 'SIGTERM')
    for (let waited = 0; existsSync(folder) && waited < 10_000; waited += 20) await sleep(20)
  }
}

function roomFor(): string {
  try {
    accessSync('/dev/shm', constants.W_OK)
    return '/dev/shm'
  } catch {
    return tmpdir()
  }
}

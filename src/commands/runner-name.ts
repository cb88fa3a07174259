import { hostname } from 'node:os'

/** Names this process among all that may share a database: `host:pid`. */
export function runnerName(): string {
  return `${hostname()}:${process.pid}`
}

/** Whether the process of that name still runs. One on another machine cannot be asked and counts as running. */
export function isRunnerAlive(runner: string): boolean {
  const colon = runner.lastIndexOf(':')
  if (runner.slice(0, colon) !== hostname()) return true
  const pid = Number(runner.slice(colon + 1))
  // 0 and below name groups of processes.
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Another user's process may not be signalled, and runs.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

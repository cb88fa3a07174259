import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import type { CommandLine } from '../ports/command-runner.ts'

const windows = process.platform === 'win32'

/** Starts a command in the system's shell, in a group of its own, so that its children end with it. */
export function startGroup({ run, folder }: CommandLine, environment: NodeJS.ProcessEnv): ChildProcess {
  const options = {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  } as const satisfies Parameters<typeof spawn>[2]
  if (windows) return spawn(run, { ...options, shell: true })
  // One pipe for both outputs keeps their order.
  return spawn('/bin/sh', ['-c', 'exec /bin/sh -c "$1" 2>&1', 'sh', run], { ...options, detached: true })
}

/** Signals a command and its children. Those that are gone already are no matter. */
export function signalGroup({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return
  if (windows) {
    spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true })
    return
  }
  try {
    process.kill(-pid, signal)
  } catch {}
}

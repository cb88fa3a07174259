import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import type { CommandLine } from '../ports/command-runner.ts'
import { gateMark } from './inside-command.ts'

const windows = process.platform === 'win32'

// The outer shell stays until the command has ended, and by its name what runs below it is known; it says nothing of its
// own. One pipe for both outputs of the command keeps their order.
const around = 'trap : TERM INT HUP; (exec /bin/sh -c "$1" 2>&1); exit $?'

/** Starts a command in the system's shell, in a group of its own, so that its children end with it. */
export function startGroup({ run, folder }: CommandLine, environment: NodeJS.ProcessEnv): ChildProcess {
  const options = { cwd: folder, env: environment, windowsHide: true }
  if (windows) return spawn(run, { ...options, stdio: ['ignore', 'pipe', 'pipe'], shell: true })
  return spawn('/bin/sh', ['-c', around, gateMark, run], {
    ...options,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
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

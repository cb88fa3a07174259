import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../kernel/failure.ts'
import { processEnd } from '../kernel/process-end.ts'
import { launch, tooLong } from './launcher.ts'
import { firstObstacleAround, obstacleFailure } from './unsafe-files.ts'

export type GitEnvironment = Readonly<Record<string, string>>

export interface GitCall {
  readonly folder: string
  readonly environment: GitEnvironment
  readonly input?: Buffer
  /** The call changes nothing, so it may run twice. */
  readonly onlyReads?: true
  /** The timeout in milliseconds; a minute if absent. */
  readonly limit?: number
  /** At more bytes of output, git is ended and the code is `tooLong`. */
  readonly maxOutput?: number
}

/** The exit code if there is no git program. */
export const noGit = 127

export interface GitResult {
  /** The exit code, or `noGit`. */
  readonly code: number
  readonly output: Buffer
  readonly stderr: string
}

const timeLimit = 60_000

// A slower call may be waiting for a pipe: then all files that it could wait for are checked.
const suspectAfter = 250

const windows = process.platform === 'win32'

// On every command line, so that no configuration can turn them on.
const everyCall = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null']

const quiet = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
}

/** The environment of every git call, without inherited variables that redirect git (a hook sets GIT_DIR). */
export function gitEnvironment(inherited: NodeJS.ProcessEnv): GitEnvironment {
  const kept = Object.entries(inherited).flatMap(([name, value]) =>
    value === undefined || name.startsWith('GIT_') ? [] : [[name, value] as const],
  )
  return { ...Object.fromEntries(kept), ...quiet }
}

/**
 * Runs git and returns the result for any exit code. Fails with UNAVAILABLE if git waits for something that is not a
 * file, reaches its timeout, or this process ends; then git and its children are ended.
 */
export async function runGit(args: readonly string[], call: GitCall): Promise<GitResult> {
  processEnd.throwIfAborted()
  return new Promise((resolve, reject) => {
    const run = start([...everyCall, ...args], call)
    let isOver = false
    const giveUp = (failure: unknown) => {
      if (isOver) return
      reject(failure)
      run.end()
    }
    const suspicion = setTimeout(() => {
      void firstObstacleAround(call.folder, () => !isOver).then((obstacle) => {
        if (obstacle !== null) giveUp(obstacleFailure(obstacle))
      })
    }, suspectAfter)
    const limit = setTimeout(() => giveUp(gitTimeoutFailure(args, call)), call.limit ?? timeLimit)
    const stop = () => giveUp(processEnd.reason)
    processEnd.addEventListener('abort', stop)
    const over = () => {
      isOver = true
      processEnd.removeEventListener('abort', stop)
      clearTimeout(suspicion)
      clearTimeout(limit)
    }
    run.result.then(resolve, reject).finally(over)
  })
}

interface GitRun {
  readonly result: Promise<GitResult>
  /** Ends it and everything it started. */
  readonly end: () => void
}

function start(args: readonly string[], call: GitCall): GitRun {
  const launched = launch(args, call)
  if (launched === null) return startChild(args, call)
  let current: Pick<GitRun, 'end'> = launched
  let isEnded = false
  const result = launched.result.then((answer) => {
    // Run directly if the shell cannot report why git failed to start, or if something ended the shell.
    if (answer !== null && (answer.code < noCommand || answer.code === fatal)) return answer
    if (isEnded) return { code: fatal, output: Buffer.alloc(0), stderr: 'git was ended' }
    const child = startChild(args, call)
    current = child
    return child.result
  })
  const end = () => {
    isEnded = true
    current.end()
  }
  return { result, end }
}

// Shell exit codes for a program that cannot be run or was ended by a signal.
const noCommand = 126
// git's own code for a fatal error. A shell adds the number of a signal to it.
const fatal = 128

function startChild(args: readonly string[], call: GitCall): GitRun {
  const child = spawn('git', args, {
    cwd: call.folder,
    env: call.environment,
    stdio: [call.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    // A separate process group, so that its children end with it.
    detached: !windows,
    windowsHide: true,
  })
  running.add(child)
  const output: Buffer[] = []
  const chunks: Buffer[] = []
  let outputBytes = 0
  child.stdout?.on('data', (chunk: Buffer) => {
    outputBytes += chunk.length
    if (outputBytes <= (call.maxOutput ?? Number.POSITIVE_INFINITY)) output.push(chunk)
    else endGroup(child)
  })
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk))
  // git may end before it has read all input. Its exit code tells.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(call.input)
  const result = new Promise<GitResult>((resolve, reject) => {
    child.on('error', (error) => {
      running.delete(child)
      const fault = environmentFault(error.message, call.folder)
      if (fault !== null) reject(fault)
      else resolve({ code: noGit, output: Buffer.alloc(0), stderr: error.message })
    })
    child.on('close', (code, signal) => {
      running.delete(child)
      resolve({
        code: outputBytes > (call.maxOutput ?? Number.POSITIVE_INFINITY) ? tooLong : (code ?? 128),
        output: output.length === 1 && output[0] !== undefined ? output[0] : Buffer.concat(output),
        stderr: signal === null ? Buffer.concat(chunks).toString('utf8') : `git was ended by ${signal}`,
      })
    })
  })
  return { result, end: () => endGroup(child) }
}

// A terminal's signals do not reach these processes, so this process must end them.
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) endGroup(child)
})

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  if (windows) {
    spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true })
    return
  }
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has already ended.
  }
}

function gitTimeoutFailure(
  [command = '']: readonly string[],
  { folder, limit = timeLimit }: GitCall,
): Failure {
  const message = `git ${command} took longer than ${limit / 1000} seconds in ${folder} and was ended.`
  return new Failure('UNAVAILABLE', message, {
    reason: 'git_timeout',
    hint: 'Check that the disk responds and that nothing there is a pipe or a device, then call again.',
  })
}

/** A required git call that failed. */
export class GitError extends Error {
  readonly code: number
  readonly stderr: string
  readonly command: string

  constructor(args: readonly string[], result: GitResult) {
    super(`git ${args.join(' ')} ended with ${result.code}: ${result.stderr.trim()}`)
    this.name = 'GitError'
    this.code = result.code
    this.stderr = result.stderr.trim()
    this.command = commandIn(args)
  }
}

/** The subcommand after git's own options, of which `-c` and `-C` take a value. */
function commandIn(args: readonly string[]): string {
  const at = args.findIndex((word, index) => !word.startsWith('-') && !/^-[cC]$/.test(args[index - 1] ?? ''))
  return args[at] ?? 'command'
}

/** Runs git and returns its output. Throws GitError if it fails. */
export async function git(args: readonly string[], call: GitCall): Promise<Buffer> {
  const result = await runGit(args, call)
  if (result.code !== 0) throw gitFault(args, result, call)
  return result.output
}

/** The error for a failed call. */
export function gitFault(args: readonly string[], result: GitResult, { folder }: GitCall): Error {
  return environmentFault(result.stderr, folder) ?? new GitError(args, result)
}

interface GitFault {
  /** git's message, or the code of the system's error. */
  readonly sign: RegExp
  readonly says: string
  readonly hint: string
  readonly reason: string
}

const again = 'then call again.'

const faults: readonly GitFault[] = [
  {
    sign: /ENOSPC|EDQUOT|No space left|quota exceeded/i,
    reason: 'disk_full',
    says: 'the disk is full',
    hint: `Free some space, for example with waymark prune; ${again}`,
  },
  {
    sign: /EROFS|Read-only file system/i,
    reason: 'disk_read_only',
    says: 'the file system is read-only',
    hint: `Make it writable, or set XDG_STATE_HOME to a folder that is; ${again}`,
  },
  {
    sign: /EACCES|EPERM|Permission denied|Operation not permitted/i,
    reason: 'permission_denied',
    says: 'permission is denied',
    hint: `Give this user access to it; ${again}`,
  },
  {
    sign: /EMFILE|ENFILE|Too many open files/i,
    reason: 'too_many_open_files',
    says: 'too many files are open',
    hint: `Close other programs or raise the limit (ulimit -n); ${again}`,
  },
  {
    sign: /ENOMEM|EAGAIN|Cannot allocate memory|out of memory|Resource temporarily unavailable/i,
    reason: 'out_of_memory',
    says: 'memory or processes ran out',
    hint: `Close other programs; ${again}`,
  },
  {
    sign: /EIO\b|Input\/output error/i,
    reason: 'disk_unreadable',
    says: 'the disk does not answer',
    hint: `Check the disk; ${again}`,
  },
  {
    sign: /index file (corrupt|smaller)|bad index|bad signature|unordered stage entries|unknown index entry/i,
    reason: 'git_index_damaged',
    says: "the repository's index is damaged",
    hint: `Create a new one with: rm .git/index && git reset (your files do not change); ${again}`,
  },
  {
    sign: /is corrupt|object file .* is empty|bad object|unable to read (tree|[0-9a-f]{40})|not a valid object/i,
    reason: 'repository_damaged',
    says: 'the repository is damaged',
    hint: `Check it with: git fsck; ${again}`,
  },
]

/** The failure for a problem of the machine or the repository; null if the text names none. */
export function environmentFault(text: string, where: string): Failure | null {
  const fault = faults.find(({ sign }) => sign.test(text))
  if (fault === undefined) return null
  const first = text.trim().split('\n')[0] ?? ''
  return new Failure('UNAVAILABLE', `${where} could not be measured: ${fault.says} (${first}).`, {
    reason: fault.reason,
    hint: fault.hint,
  })
}

export function folderMissingFailure(folder: string, cause: unknown): Failure {
  return new Failure('UNAVAILABLE', `There is no folder ${folder}.`, {
    reason: 'folder_not_found',
    hint: 'Name a folder that exists. If it was moved or removed, use its new path or call again once it is back.',
    cause,
  })
}

// Messages of git and the system about a folder that was moved while they read it.
const wentAway = /Unable to read current working directory|spawn git ENOENT|^ENOENT\b/

// Moving a work tree takes less time.
const pauseBeforeRetry = 50

/**
 * Runs work on a folder, and once more if git failed: the folder may have been moved or removed just then. A second
 * failure is reported as a refusal.
 */
export async function withGitFaults<T>(where: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isPassing(error)) throw refusalOf(error, where)
  }
  await sleep(pauseBeforeRetry)
  try {
    return await work()
  } catch (error) {
    throw refusalOf(error, where)
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof Failure || !(error instanceof Error)) return false
  return error instanceof GitError ? error.code !== noGit : wentAway.test(error.message)
}

function refusalOf(error: unknown, where: string): unknown {
  if (error instanceof Failure || !(error instanceof Error)) return error
  const fault = environmentFault(error.message, where)
  if (fault !== null) return fault
  const isGit = error instanceof GitError
  if (wentAway.test(error.message) || (isGit && !existsSync(where))) return folderMissingFailure(where, error)
  return isGit ? gitFailure(error, where) : error
}

function gitFailure(error: GitError, where: string): Failure {
  const first = error.stderr.split('\n')[0]?.replace(/^fatal: /, '') || 'git printed nothing'
  return new Failure(
    'UNAVAILABLE',
    `${where} could not be measured: git ${error.command} failed twice (${first.slice(0, 300)}).`,
    {
      reason: 'git_failed',
      hint: 'If a folder in it is being moved or removed, call again afterwards. Otherwise run git status there.',
      cause: error,
    },
  )
}

import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { commitCopied } from '../../support/copied-folder.ts'
import { git as runGit } from '../../support/git.ts'
import { type Ran, runProgram, type Variables } from '../../support/program.ts'
import { removeFolder } from '../../support/removed-folder.ts'

/** A project in a folder of its own, and the command line in it. */
export interface CommandLineProject {
  /** Everything of this project is below: the user's home, the work tree. */
  readonly home: string
  readonly folder: string
  /** What the command line runs with: nothing of the machine's but the path and git's settings. */
  readonly environment: Variables
  readonly run: (...words: readonly string[]) => Ran
  readonly runWith: (
    options: { readonly environment?: Variables; readonly folder?: string },
    ...words: readonly string[]
  ) => Ran
  /** Runs a command with --json that must succeed, and answers what it prints. */
  readonly json: (...words: readonly string[]) => Entry
  /** How a command is refused: what it answers a program, which is the same as on every other surface. */
  readonly refused: (...words: readonly string[]) => Entry
  readonly write: (path: string, content: string) => void
  readonly git: (...words: readonly string[]) => string
}

/** An answer in a test: read freely, whatever is missing is undefined. */
export type Entry = any

const files = { 'README.md': '# Project\n', 'src/app.ts': 'export const app = 1\n' }

export function openCommandLine(
  options: { readonly git?: boolean; readonly environment?: Variables } = {},
): CommandLineProject {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-cli-')))
  onTestFinished(() => removeFolder(home))
  const folder = join(home, 'project')
  const environment = {
    ...machineVariables(),
    HOME: home,
    XDG_CACHE_HOME: join(tmpdir(), 'waymark-test-cache'),
    ...options.environment,
  }
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const git = (...words: readonly string[]) => {
    return runGit(folder, ...words)
  }
  if (options.git === false) for (const [path, content] of Object.entries(files)) write(path, content)
  else commitCopied(folder, files)
  const runWith: CommandLineProject['runWith'] = (more, ...words) =>
    runProgram(words, {
      folder: more.folder ?? folder,
      environment: { ...environment, ...more.environment },
    })
  const run = (...words: readonly string[]) => runWith({}, ...words)
  return {
    home,
    folder,
    environment,
    run,
    runWith,
    json: (...words) => {
      const { code, out, error } = run(...words, '--json')
      if (code !== 0) throw new Error(`waymark ${words.join(' ')} ended with ${code}: ${error}`)
      return JSON.parse(out)
    },
    refused: (...words) => refusalIn(runWith({ environment: { WAYMARK_FORMAT: 'json' } }, ...words)),
    write,
    git,
  }
}

/** The refusal that a command which was asked for JSON ended in, with its exit code. */
export function refusalIn({ code, out, error }: Ran): Entry {
  if (code === 0) throw new Error(`the command was not refused: ${out}`)
  if (!out.startsWith('{')) throw new Error(`the refusal is no JSON: ${out}${error}`)
  return { exit: code, ...JSON.parse(out).error }
}

/** Starts a mission and a task in it, as commands do. */
export function startWork(project: CommandLineProject): {
  readonly missionId: string
  readonly taskId: string
} {
  const mission = project.json('mission', 'start', 'Sign in', '--objective', 'People can sign in')
  const task = project.json(
    'task',
    'start',
    'Add the form',
    '--mission-id',
    mission.mission_id,
    '--areas',
    'src/',
  )
  return { missionId: mission.mission_id, taskId: task.task_id }
}

function machineVariables(): Variables {
  const kept = Object.entries(process.env).filter(([name]) => /^(PATH|LC_ALL|TMPDIR|GIT_.*)$/.test(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? '']))
}

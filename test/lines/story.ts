import { lstatSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { commitCopied, copyFolder } from '../support/copied-folder.ts'
import { git as runGit } from '../support/git.ts'
import {
  type Answer,
  openProject,
  type ProjectOptions,
  projectFiles,
  type TestProject,
} from '../support/project.ts'

/** A project whose file `f` agents and people write lines into. */
export interface Story extends TestProject {
  /** An attempt of an agent from its start to its end. */
  readonly attempt: (agent: string, work: () => void | Promise<void>) => Promise<Answer>
  readonly begin: (agent: string, more?: object) => Promise<Answer>
  readonly end: (started: Answer) => Promise<Answer>
  readonly read: (path: string) => string
  /** Puts lines at the end of a file, or before its first line that begins with a word. */
  readonly put: (path: string, lines: readonly string[], before?: string) => void
  readonly take: (path: string, ...beginnings: readonly string[]) => void
  readonly swap: (path: string, beginning: string, line: string) => void
  readonly commit: (message?: string) => void
  /** Who each line is from, and how that is known: `x1 a1 exact`. */
  readonly whose: (path: string, options?: object) => Promise<readonly string[]>
  /** The same without how it is known, of the lines that are not the base's. */
  readonly owners: (path: string, options?: object) => Promise<Readonly<Record<string, string>>>
}

export const base = ['base line one', 'base line two', 'base line three', 'base line four']

/** Solid lines of one writer: `x1 is line 1 of x`. */
export function lines(writer: string, ...numbers: readonly number[]): string[] {
  return numbers.map((number) => `${writer}${number} is line ${number} of ${writer}`)
}

export async function openStory(options: ProjectOptions = {}): Promise<Story> {
  const project = await openProject({ ...(options.git !== false && { fill: fillStory }), ...options })
  const { folder, call, git, write } = project
  const read = (path: string) => readFileSync(join(folder, path), 'utf8')
  const rows = (path: string) => read(path).split('\n').slice(0, -1)
  const save = (path: string, all: readonly string[]) => write(path, all.map((line) => `${line}\n`).join(''))
  if (options.git === false) for (const [path, all] of Object.entries(begun)) save(path, all)
  const begin: Story['begin'] = (agent, more = {}) =>
    call('start_task', { name: `work of ${agent}`, goal: `goal of ${agent}`, agent_name: agent, ...more })
  const end: Story['end'] = ({ task_id }) =>
    call('complete_task', { task_id, status: 'success', outcome: { summary: 'done' } })
  const whose: Story['whose'] = async (path, more = {}) => {
    const state = () => (options.git === false ? {} : repositoryState(folder))
    const before = state()
    const answer = await call('blame', { file: path, ...more })
    expect(state()).toEqual(before)
    return answer.ranges.flatMap((range: Answer) =>
      Array.from({ length: range.end - range.start + 1 }, (_, index) => {
        const line = answer.text?.[range.start + index - 1] ?? ''
        return `${line.trim().split(' ')[0]} ${nameOf(range)} ${range.how}`
      }),
    )
  }
  return {
    ...project,
    begin,
    end,
    read,
    attempt: async (agent, work) => {
      const started = await begin(agent)
      await work()
      return end(started)
    },
    put: (path, more, before) => {
      const all = rows(path)
      const at = before === undefined ? -1 : all.findIndex((line) => line.startsWith(before))
      save(path, at < 0 ? [...all, ...more] : [...all.slice(0, at), ...more, ...all.slice(at)])
    },
    take: (path, ...beginnings) => {
      save(
        path,
        rows(path).filter((line) => !beginnings.some((word) => line.trim().startsWith(word))),
      )
    },
    swap: (path, beginning, line) => {
      save(
        path,
        rows(path).map((row) => (row.trim().startsWith(beginning) ? line : row)),
      )
    },
    commit: (message = 'work') => {
      git('add', '-A')
      git('commit', '-qm', message)
    },
    whose,
    owners: async (path, more) => {
      const found = (await whose(path, more)).map((row) => row.split(' '))
      return Object.fromEntries(
        found.filter(([word]) => !['base', 'other'].includes(word ?? '')).map(([word, name]) => [word, name]),
      )
    },
  }
}

function nameOf({ kind, agent, attempts }: Answer): string {
  if (kind !== 'agent') return kind === 'before' ? 'author' : kind
  return attempts === undefined ? agent : `contested(${attempts.length})`
}

const begun = { f: base, g: ['other file one', 'other file two'] }

function fillStory(folder: string): void {
  copyFolder('story', folder, (template) => {
    commitCopied(template, projectFiles)
    for (const [path, all] of Object.entries(begun))
      writeFileSync(join(template, path), all.map((line) => `${line}\n`).join(''))
    runGit(template, 'add', '-A')
    // Before anything is recorded, whatever second that is.
    vi.stubEnv('GIT_COMMITTER_DATE', '2026-01-05T10:00:00Z')
    runGit(template, 'commit', '-qm', 'base')
    vi.unstubAllEnvs()
  })
}

/** What nothing but git itself and whoever works there may change: refs, configuration, hooks, objects, index and files. */
function repositoryState(folder: string): Readonly<Record<string, string>> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => !path.startsWith('.waymark'),
  )
  return Object.fromEntries(paths.map((path) => [path, contentAt(join(folder, path))]))
}

function contentAt(path: string): string {
  const found = lstatSync(path)
  if (found.isSymbolicLink()) return readlinkSync(path)
  return found.isFile() ? readFileSync(path, 'latin1') : ''
}

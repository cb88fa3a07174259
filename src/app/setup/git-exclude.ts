import { statSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { gitEnvironment, runGit } from '../../git/process.ts'
import { isWithin, removeContained, writeContained } from '../../kernel/files/contained-file.ts'
import { readIfThere } from '../../kernel/files/private-file.ts'
import type { Environment } from '../settings/environment.ts'

const begin = '# Waymark: files that setup made for you alone'
const end = '# Waymark: end'

/**
 * Keeps new files out of commits with this clone's `.git/info/exclude`: colleagues without Waymark should not get a server
 * that does not start. Returns the file; null without a repository.
 */
export async function excludeFromGit(
  files: readonly string[],
  repository: ProjectFolder,
): Promise<string | null> {
  return changeExcluded(repository, (excluded, top) => [
    ...new Set([
      ...excluded,
      ...files.filter((file) => isWithin(top, file)).map((file) => patternOf(file, top)),
    ]),
  ])
}

/** Removes the lines of removed files. */
export async function includeInGit(files: readonly string[], repository: ProjectFolder): Promise<void> {
  await changeExcluded(repository, (excluded, top) => {
    const removedPatterns = files.filter((file) => isWithin(top, file)).map((file) => patternOf(file, top))
    return excluded.filter((pattern) => !removedPatterns.includes(pattern))
  })
}

/** The files that git has in its index. */
export async function committedFiles(
  files: readonly string[],
  { folder, environment }: ProjectFolder,
): Promise<readonly string[]> {
  if (files.length === 0) return []
  const call = { folder, environment: gitEnvironment(environment), onlyReads: true } as const
  const listed = await runGit(['ls-files', '-z', '--', ...files], call)
  if (listed.code !== 0) return []
  const names = listed.output.toString('utf8').split('\0')
  return files.filter((file) => names.includes(relative(folder, file).split(sep).join('/')))
}

interface ProjectFolder {
  readonly folder: string
  readonly environment: Environment
}

async function changeExcluded(
  { folder, environment }: ProjectFolder,
  change: (excluded: readonly string[], top: string) => readonly string[],
): Promise<string | null> {
  const question = ['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-path', 'info/exclude']
  const call = { folder, environment: gitEnvironment(environment), onlyReads: true } as const
  const { code, output } = await runGit(question, call)
  const [top = '', file = ''] = output.toString('utf8').split('\n')
  if (code !== 0 || file === '') return null
  const text = readIfThere(file) ?? ''
  const lines = text.split('\n')
  const [first, last] = [lines.indexOf(begin), lines.indexOf(end)]
  const isThere = first >= 0 && last > first
  const excluded = isThere ? lines.slice(first + 1, last) : []
  const patterns = change(excluded, top)
  if (patterns.join('\n') === excluded.join('\n')) return patterns.length === 0 ? null : file
  const block = patterns.length === 0 ? [] : [begin, ...patterns, end]
  const surroundings = isThere ? [lines.slice(0, first), lines.slice(last + 1)] : [lines.slice(0, -1), ['']]
  // Completes a last line without a line break.
  const open = isThere || lines.at(-1) === '' ? [] : [lines.at(-1) ?? '']
  const next = [...(surroundings[0] ?? []), ...open, ...block, ...(surroundings[1] ?? [])].join('\n')
  const base = dirname(dirname(file))
  const path = join('info', 'exclude')
  // Others who use this checkout must still be able to read it.
  const mode = statSync(file, { throwIfNoEntry: false })?.mode
  const written = next === '' ? removeContained(base, path) : writeContained(base, path, next, mode)
  return 'reason' in written ? null : file
}

/** A line of an ignore file that matches only this path. */
function patternOf(file: string, top: string): string {
  const path = relative(top, file).split(sep).join('/')
  return `/${path.replace(/[\\*?[\]]/g, '\\$&').replace(/ $/, '\\ ')}`
}

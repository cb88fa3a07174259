import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { Environment } from '../settings/environment.ts'

/** The subject of a CI run, from the variables of the CI system. */
export interface CiEnvironment {
  readonly runner: 'github' | 'gitlab' | null
  readonly base: string | null
  readonly head: string | null
}

const id = z.string().regex(/^[0-9a-f]{40,64}$/)
const Event = z.object({
  before: z.string().optional(),
  pull_request: z.object({ head: z.object({ sha: id }), base: z.object({ sha: id }) }).optional(),
  repository: z.object({ default_branch: z.string().optional() }).optional(),
})

/** The commits to compare, from the variables of the CI system. */
export function ciPlace(environment: Environment, folder: string): CiEnvironment {
  const isThere = (words: string) => isCommit(words, folder)
  if (environment['GITHUB_ACTIONS'] === 'true') return gitHubPlace(environment, isThere)
  if (environment['GITLAB_CI'] === 'true') return gitLabPlace(environment, isThere)
  return { runner: null, base: null, head: null }
}

function gitHubPlace(environment: Environment, isThere: (words: string) => boolean): CiEnvironment {
  const event = eventOf(environment['GITHUB_EVENT_PATH'])
  const pull = event?.pull_request
  const target = environment['GITHUB_BASE_REF'] || undefined
  const branch = target ?? event?.repository?.default_branch
  // A pull request checks out a merge commit; the check needs the branch's own last commit.
  const head = pull && isThere(pull.head.sha) ? pull.head.sha : null
  const named = branch === undefined ? null : `origin/${branch}`
  const before = target === undefined ? existingCommit(event?.before, isThere) : null
  if (before !== null) return { runner: 'github', base: before, head }
  const base = named !== null && !isThere(named) && pull && isThere(pull.base.sha) ? pull.base.sha : named
  return { runner: 'github', base, head }
}

function gitLabPlace(environment: Environment, isThere: (words: string) => boolean): CiEnvironment {
  const variable = (name: string) => environment[name] || undefined
  const source = variable('CI_MERGE_REQUEST_SOURCE_BRANCH_SHA')
  const head = source !== undefined && isThere(source) ? source : null
  const base =
    variable('CI_MERGE_REQUEST_DIFF_BASE_SHA') ?? existingCommit(variable('CI_COMMIT_BEFORE_SHA'), isThere)
  const branch = variable('CI_DEFAULT_BRANCH')
  return { runner: 'gitlab', base: base ?? (branch === undefined ? null : `origin/${branch}`), head }
}

/** The commit of a branch before a push; none for a new branch. */
function existingCommit(id: string | undefined, isThere: (words: string) => boolean): string | null {
  return id === undefined || /^0*$/.test(id) || !isThere(id) ? null : id
}

function eventOf(file: string | undefined): z.output<typeof Event> | null {
  if (file === undefined || file === '') return null
  try {
    return Event.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data ?? null
  } catch {
    return null
  }
}

function isCommit(words: string, folder: string): boolean {
  const question = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${words}^{commit}`]
  return spawnSync('git', question, { cwd: folder, stdio: 'ignore' }).status === 0
}

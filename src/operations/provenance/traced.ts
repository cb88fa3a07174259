import { Failure } from '../../domain/failure.ts'
import { instant } from '../../domain/instant.ts'
import type { TracedCommit, TracedFile } from '../../domain/provenance/agent-trace.ts'
import { isHuman, type LineFinding } from '../../domain/provenance/blame.ts'
import type { ListedCommit } from '../../ports/line-history.ts'
import type { LineMaker } from '../../ports/reads.ts'
import type { Context } from '../operation.ts'
import { type LineRange, makersOf, rangesOf } from './blame.ts'
import { capturedSince } from './line-stats.ts'
import { lookUp } from './look-up.ts'

export const mostTraced = 500

/** The commits of a range with the lines that each brought and who made them, oldest first. */
export async function tracedCommits(
  context: Context,
  range: string,
): Promise<{ readonly commits: readonly TracedCommit[]; readonly isCut: boolean }> {
  const { witness, folder } = context
  const listed = await witness.history.commits(folder, range, mostTraced + 1)
  const some = listed.slice(0, mostTraced)
  const commits: TracedCommit[] = []
  const allSince = await capturedSince(context)
  for (const commit of some) commits.push(await tracedCommit(context, commit, allSince))
  return { commits: commits.reverse(), isCut: listed.length > some.length }
}

async function tracedCommit(
  context: Context,
  { id, committedAt, paths }: ListedCommit,
  allSince: number | null,
): Promise<TracedCommit> {
  const files: TracedFile[] = []
  for (const path of paths) {
    const found = await foundIn(context, path, id)
    if (found === null) continue
    const makers = await makersOf(context, found)
    // What others say of a line is theirs to tell on.
    const lines = found.lines.map(
      ({ claims: _, ...line }): LineFinding =>
        line.how === 'claimed' ? { ...line, kind: 'author', how: 'git' } : line,
    )
    // What is told to others names attempts: a turn without a task has none.
    const own = rangesOf({ ...found, lines }, makers, new Map()).filter(({ commit }) => commit === id)
    const isPersons = (range: LineRange) => isHuman(range, committedAt, allSince)
    if (own.length === 0) continue
    const { text } = found.file
    const ranges = await Promise.all(
      own.map(async (told) => {
        const range = { ...told, ...sessionOf(told, makers), isHuman: isPersons(told) }
        if (text === undefined) return range
        const content = text.slice(range.start - 1, range.end).join('\n')
        return { ...range, contentHash: await context.witness.history.digest(content) }
      }),
    )
    files.push({ path, ranges })
  }
  return { id, at: instant(committedAt), files }
}

/** Null for a file that is not in the commit any more. */
async function foundIn(context: Context, path: string, commit: string) {
  try {
    return await lookUp(context, { path: `:/${path}`, rev: commit })
  } catch (error) {
    if (error instanceof Failure && error.code === 'NOT_FOUND') return null
    throw error
  }
}

/** One session has one key in both tools: so it is called as git-ai calls it. */
function sessionOf({ attempt, agent }: LineRange, makers: ReadonlyMap<string, LineMaker>) {
  const session = makers.get(attempt ?? '')?.session
  if (session === undefined || session === null) return { tool: agent, conversation: attempt }
  return { tool: foreignNames[session.client] ?? session.client, conversation: session.name }
}

const foreignNames: Readonly<Record<string, string>> = {
  'claude-code': 'claude',
  'gemini-cli': 'gemini',
  copilot: 'github-copilot',
  'copilot-cli': 'github-copilot',
}

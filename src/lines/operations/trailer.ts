import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import { text } from '../../kernel/operations/input/fields.ts'
import { strings } from '../../kernel/operations/list-answer.ts'
import { measureByPorts } from '../../kernel/operations/measurement.ts'
import { type Context, defineOperation, type QueryContext } from '../../kernel/operations/operation.ts'
import type { ListedCommit } from '../ports/line-history.ts'
import { makersOf, rangesOf } from './blame.ts'
import { findLineOrigins, lineMeasurements } from './line-origins.ts'

const maxCommits = 500

export const trailer = defineOperation({
  name: 'trailer',
  command: 'trailer',
  toolset: 'track',
  audience: 'both',
  title: 'The trailers of a commit',
  description:
    'A line “Waymark-Task: t-…” for each task whose lines a commit brought, to be put at the end of its message by whoever wants it there. Nothing reads them again.',
  kind: 'query',
  positional: ['commit'],
  input: z.strictObject({ commit: text('A commit; HEAD when left out').optional() }),
  output: z.object({ commit: z.string(), trailers: strings }),
  print: (answer) => [z.object({ trailers: strings }).parse(answer).trailers.join('\n')],
}).handler(async (context, { commit = 'HEAD' }) => {
  const commits = await context.witness.history.commits(context.folder, commit, maxCommits)
  const tasks = new Set<string>()
  for (const one of commits) for (const task of await tasksOf(context, one)) tasks.add(task)
  return {
    commit: commits[0]?.id ?? commit,
    trailers: [...tasks].sort().map((task) => `Waymark-Task: ${task}`),
  }
})

/** The tasks whose lines a commit brought; a line that may be of several tasks names none. */
async function tasksOf(context: QueryContext, { id, paths }: ListedCommit): Promise<readonly string[]> {
  const tasks: string[] = []
  for (const path of paths) {
    const found = await originsInCommit(context, path, id)
    if (found === null) continue
    const ranges = rangesOf(found, await makersOf(context, found), new Map())
    tasks.push(
      ...ranges.flatMap(({ commit, task, attempts }) => (commit === id && !attempts ? (task ?? []) : [])),
    )
  }
  return tasks
}

/** Null for a file that is not in the commit any more. */
async function originsInCommit(context: QueryContext, path: string, commit: string) {
  try {
    return await findLineOrigins(context, measureByPorts(context as Context, lineMeasurements), {
      path: `:/${path}`,
      rev: commit,
    })
  } catch (error) {
    if (error instanceof Failure && error.code === 'NOT_FOUND') return null
    throw error
  }
}

import { z } from 'zod'
import { text } from '../../kernel/operations/input/fields.ts'
import { strings } from '../../kernel/operations/list-answer.ts'
import { prepareSteps } from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { lineAuthorsOf, rangesOf } from './blame.ts'
import { findLineOrigins, historyMeasurements, lineMeasurements, maxFiles } from './line-origins.ts'

const maxCommits = 500

export const trailer = defineOperation({
  name: 'trailer',
  command: 'trailer',
  toolset: 'track',
  audience: 'both',
  title: 'Print trailers that name the tasks of a commit',
  description:
    'Print a line “Waymark-Task: t-…” for each task whose lines a commit contains. Prints nothing if there is none. Put them into the commit message if you want them there. Waymark does not read them.',
  kind: 'query',
  positional: ['commit'],
  input: z.strictObject({ commit: text('A commit; default HEAD').optional() }),
  output: z.object({ commit: z.string(), trailers: strings }),
  print: (answer) => [z.object({ trailers: strings }).parse(answer).trailers.join('\n')],
})
  .measure({ ...lineMeasurements, commits: historyMeasurements.commits })
  .prepare((reads, { commit = 'HEAD' }, _, measured) =>
    prepareSteps(measured, async (measure) => {
      const { commits } = await measure({ commits: { range: commit, limit: maxCommits } })
      const files = commits.flatMap(({ id: rev, paths }) => paths.map((one) => ({ path: `:/${one}`, rev })))
      const request = { files: files.slice(0, maxFiles), mayLack: true }
      const origins = await findLineOrigins(reads, measure, request)
      return { commit: commits[0]?.id ?? commit, origins }
    }),
  )
  .answer(async ({ reads, found: { commit, origins } }) => {
    const tasks = new Set<string>()
    for (const origin of origins) {
      const ranges = rangesOf(origin, await lineAuthorsOf(reads, origin), new Map())
      for (const range of ranges) {
        // A line that may be of several tasks names none.
        if (range.commit === origin.file.commit && range.task !== null && !range.attempts)
          tasks.add(range.task)
      }
    }
    return { commit, trailers: [...tasks].sort().map((task) => `Waymark-Task: ${task}`) }
  })

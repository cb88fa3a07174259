import { z } from 'zod'
import { count, text } from '../../kernel/operations/input/fields.ts'
import { list, Named } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { excerpt } from '../../kernel/text.ts'

/** How many of the newest missions, runs and tasks are searched. */
const maxSearched = { missions: 1_000, runs: 1_000, tasks: 5_000 }

const Found = Named.extend({ status: z.string() })

export const search = defineOperation({
  name: 'search',
  command: 'search',
  toolset: 'track',
  audience: 'both',
  title: 'Find missions, runs and tasks',
  description:
    'Find missions, runs and tasks by words of their name or by id, among the newest 1,000 missions and runs and 5,000 tasks. Without words, list them.',
  kind: 'query',
  positional: ['words'],
  input: z.strictObject({
    words: text('Words of the name, or the start of an id').optional(),
    limit: count('How many of each kind; default all of these', maxSearched.tasks).optional(),
  }),
  output: z.object({ missions: list(Found), runs: list(Found), tasks: list(Found) }),
}).handler(({ store, clock }, input) =>
  store.view(async ({ missions, runs, plan }) => {
    const words = (input.words ?? '').toLowerCase().split(/\s+/).filter(Boolean)
    const found = await missions.newest({ limit: maxSearched.missions, words })
    const running = await runs.list({}, { limit: maxSearched.runs })
    const tasks = await plan.newest({ limit: maxSearched.tasks, words, now: clock.now() })
    // The tables also search other texts than names.
    const isWanted = ({ id, name }: z.output<typeof Found>) =>
      words.every((word) => id.startsWith(word) || name.toLowerCase().includes(word))
    const fitting = (all: readonly z.output<typeof Found>[]) => all.filter(isWanted).slice(0, input.limit)
    return {
      missions: fitting(found.map(({ id, name, status }) => ({ id, name: excerpt(name, 120), status }))),
      runs: fitting(
        running.items.map(({ item: { id, process, state, status } }) => ({
          id,
          name: `${excerpt(process.name, 80)}: ${state}`,
          status,
        })),
      ),
      tasks: fitting(
        tasks.map(({ id, name, status, dropped }) => ({
          id,
          name: excerpt(name, 120),
          status: dropped ? 'dropped' : status,
        })),
      ),
    }
  }),
)

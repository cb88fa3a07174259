import { z } from 'zod'
import { hookSituation, readBriefing } from '../../gate/operations/hook.ts'
import { text } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { treeOf } from '../../track/domain/task.ts'

/** The data that hooks on a machine need to decide. */
const MachineBrief = z.object({
  attempts: list(z.object({ attempt: z.looseObject({ id: z.string() }), task: z.string() })),
  runs: list(z.object({ record: z.looseObject({ id: z.string() }), definition: z.looseObject({}) })),
  settings: z.record(z.string(), z.string()),
  missions: list(z.looseObject({ id: z.string() })),
  messages: list(z.object({ run: z.string(), words: list(z.string()) })),
  items: list(z.looseObject({ id: z.string() })),
  more_items: z.int(),
  comments: list(z.string()).optional(),
})

export const machineBrief = defineOperation({
  name: 'machine_brief',
  command: 'machine brief',
  screen: true,
  toolset: 'gate',
  audience: 'both',
  title: 'Get the state that hooks need',
  description:
    'Get the open attempts of a work tree, the runs of their tasks and missions, and what needs a person.',
  kind: 'query',
  input: z.strictObject({ top: text('Top folder of the work tree on the calling machine') }),
  output: MachineBrief,
}).handler(({ store, machine }, { top }) =>
  store.view(async (reads) => {
    const tree = treeOf({ top, ...(machine && { machineId: machine.id }) })
    const place = { top: tree, packages: async () => [] }
    const situation = await hookSituation(reads, place)
    const { missions, remarks, items, moreItems, comments } = await readBriefing(reads, situation)
    return {
      attempts: situation.attempts.map(({ attempt, task }) => ({ attempt: { ...attempt }, task })),
      runs: situation.runs.map(({ record, definition }) => ({
        record: { ...record },
        definition: { ...definition },
      })),
      settings: Object.fromEntries(situation.settings),
      missions: missions.map((mission) => ({ ...mission })),
      messages: [...remarks].map(([run, words]) => ({ run, words: [...words] })),
      items: items.map((item) => ({ ...item })),
      more_items: moreItems,
      comments: [...comments],
    }
  }),
)

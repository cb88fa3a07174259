import { z } from 'zod'
import { choice, count } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { openOrEnded } from './list-missions.ts'
import { MissionEntry, missionEntry } from './mission-answer.ts'

const MissionCard = MissionEntry.extend({
  /** At most six, the last at work first. */
  agents: list(z.object({ name: z.string(), working: z.boolean() })),
  agents_total: z.int(),
  files: z.int(),
  added_lines: z.int().nullable(),
  deleted_lines: z.int().nullable(),
  /** What waits for a person, of every kind. */
  waiting: z.int(),
})

const mostAgents = 6

export const missionsPage = defineOperation({
  name: 'missions_page',
  command: 'mission glance',
  screen: true,
  toolset: 'track',
  audience: 'person',
  title: 'Missions at a glance',
  description:
    'Missions and workflows, newest first, each with its progress, who works in it, the lines that git saw change, and what waits.',
  kind: 'query',
  input: z.strictObject({
    status: choice(['open', 'ended'], 'Default open').optional(),
    limit: count('How many; default 200', 200).optional(),
  }),
  output: z.object({ missions: list(MissionCard), total: z.int() }),
}).handler(({ store }, input) =>
  store.view(async ({ missions }) => {
    const found = await missions.list({ limit: input.limit ?? 200, ...openOrEnded[input.status ?? 'open'] })
    const items = found.items.map(({ item }) => item)
    const listed = await missions.listed(items)
    const glances = await missions.glances(items.map(({ id }) => id))
    return {
      missions: listed.map((line) => {
        const glance = glances.get(line.mission.id)
        const agents = glance?.agents ?? []
        return {
          ...missionEntry(line),
          agents: agents.slice(0, mostAgents),
          agents_total: agents.length,
          files: glance?.files ?? 0,
          added_lines: glance?.added ?? null,
          deleted_lines: glance?.deleted ?? null,
          waiting: glance?.waiting ?? 0,
        }
      }),
      total: found.total,
    }
  }),
)

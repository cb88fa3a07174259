import { z } from 'zod'
import { choice, text, unlistedField } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import type { MissionOverview } from '../ports/mission-reads.ts'
import { MissionEntry, missionEntry } from './mission-answer.ts'

const statuses = ['open', 'ended', 'completed', 'partial', 'failed', 'all'] as const

/** The agents of a mission, its measured changes and its open inbox items. */
const MissionWork = z.object({
  /** At most six, most recently active first. */
  agents: list(z.object({ name: z.string(), working: z.boolean() })),
  agents_total: z.int(),
  files: z.int(),
  added_lines: z.int().nullable(),
  deleted_lines: z.int().nullable(),
  /** Open inbox items of every kind. */
  waiting: z.int(),
})

const maxAgents = 6

export const listMissions = defineOperation({
  name: 'list_missions',
  tool: 'list_missions',
  command: 'mission list',
  toolset: 'track',
  audience: 'both',
  title: 'List missions',
  description: 'List missions and workflows, newest first: finds yours after a lost context',
  kind: 'query',
  input: z.strictObject({
    status: choice(statuses, 'Default open', { done: 'completed' }).optional(),
    search: text('Words in name or objective').optional(),
    ...pageFields(200),
    include: unlistedField(
      z
        .array(choice(['work']))
        .max(1)
        .describe('work: agents, changes and open inbox items of each'),
    ).optional(),
  }),
  output: z.object({
    missions: list(MissionEntry.extend({ work: MissionWork.optional() })),
    ...page,
  }),
}).handler(({ store, actor }, input) =>
  store.view(async ({ missions }) => {
    const paging = new Paging('list_missions', input, actor, 20)
    const found = await missions.list({
      ...paging.request(),
      ...statusFilter[input.status ?? 'open'],
      ...(input.search !== undefined && { search: input.search }),
    })
    const items = found.items.slice(0, paging.limit)
    const listed = await missions.listings(items.map(({ item }) => item))
    const overviews = input.include ? await missions.glances(listed.map(({ mission }) => mission.id)) : null
    const entries = listed.map((line) => ({
      ...missionEntry(line),
      ...(overviews && { work: missionWork(overviews.get(line.mission.id)) }),
    }))
    const fitted = paging.fit(entries)
    return {
      missions: fitted,
      total: found.total,
      next_cursor: paging.next(found.items, fitted.length, ({ seq }) => seq),
    }
  }),
)

function missionWork(overview: MissionOverview | undefined): z.output<typeof MissionWork> {
  const agents = overview?.agents ?? []
  return {
    agents: agents.slice(0, maxAgents),
    agents_total: agents.length,
    files: overview?.files ?? 0,
    added_lines: overview?.added ?? null,
    deleted_lines: overview?.deleted ?? null,
    waiting: overview?.waiting ?? 0,
  }
}

const statusFilter = {
  open: { statuses: ['pending', 'in_progress'] },
  ended: { statuses: ['completed', 'failed', 'partial'] },
  completed: { statuses: ['completed'] },
  partial: { statuses: ['partial'] },
  failed: { statuses: ['failed'] },
  all: {},
} as const satisfies Record<(typeof statuses)[number], object>

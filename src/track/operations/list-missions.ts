import { z } from 'zod'
import { answerBudget, fitSections } from '../../kernel/budget.ts'
import { choice, count, identifier, text } from '../../kernel/operations/input/fields.ts'
import { list, page } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { nextCursor, readCursor } from '../../kernel/operations/paging.ts'
import { MissionEntry, missionEntry } from './mission-answer.ts'

const statuses = ['open', 'ended', 'all'] as const

export const listMissions = defineOperation({
  name: 'list_missions',
  tool: 'list_missions',
  command: 'mission list',
  toolset: 'track',
  audience: 'both',
  title: 'List missions',
  description: 'List missions and workflows, newest first, for example to find yours after a lost context',
  kind: 'query',
  input: z.strictObject({
    status: choice(statuses, 'Default open').optional(),
    search: text('Words in name or objective').optional(),
    limit: count('Default 20', 200).optional(),
    cursor: identifier('next_cursor').optional(),
  }),
  output: z.object({ missions: list(MissionEntry), ...page }),
}).handler(({ store }, input) =>
  store.view(async ({ missions }) => {
    const limit = input.limit ?? 20
    const before = readCursor(input.cursor, ['missions'])?.get('missions')
    const found = await missions.list({
      limit: limit + 1,
      ...(before !== undefined && { before }),
      ...statusFilter[input.status ?? 'open'],
      ...(input.search !== undefined && { search: input.search }),
    })
    const shown = found.items.slice(0, limit)
    const entries = (await missions.listed(shown.map(({ item }) => item))).map(missionEntry)
    const fitting =
      fitSections([{ name: 'missions', entries }], answerBudget).get('missions') ?? entries.length
    const kept = input.limit === undefined ? fitting : entries.length
    return {
      missions: entries.slice(0, kept),
      total: found.total,
      next_cursor: nextCursor([
        {
          name: 'missions',
          seqs: shown.slice(0, kept).map(({ seq }) => seq),
          more: found.items.length > kept,
        },
      ]),
    }
  }),
)

/** What each word means for a list. */
export const openOrEnded = {
  open: { statuses: ['pending', 'in_progress'] },
  ended: { statuses: ['completed', 'failed', 'partial'] },
} as const

const statusFilter = { ...openOrEnded, all: {} } as const satisfies Record<(typeof statuses)[number], object>

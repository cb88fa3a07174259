import { z } from 'zod'
import { instant } from '../../domain/instant.ts'
import { excerpt } from '../../domain/text.ts'
import { holdKinds, openHold } from '../../domain/track/records.ts'
import { type Attempt, isStale, staleAfter } from '../../domain/track/task.ts'
import type { Reads } from '../../ports/store.ts'
import { content, HoldEntry, holdEntry } from '../answers/hold.ts'
import { list, page } from '../answers/list.ts'
import { findMission } from '../find.ts'
import { choice, count, identifier } from '../input/fields.ts'
import { defineOperation, type Handling, whereWritable } from '../operation.ts'
import { nextCursor, readCursor } from '../paging.ts'
import { contentsShown } from './shown.ts'

export const inbox = defineOperation({
  name: 'inbox',
  command: 'inbox',
  toolset: 'track',
  audience: 'both',
  title: 'What waits for a person',
  description:
    'The open holds, oldest first: decisions about runs, commands to allow, blockers, reviews, files outside the scope, stale attempts.',
  kind: 'query',
  input: z.strictObject({
    kind: choice(holdKinds, 'Only this kind').optional(),
    mission_id: identifier('Only of this mission').optional(),
    closed: z.boolean().describe('The ended ones instead, newest first').optional(),
    limit: count('How many; default 20', 200).optional(),
    cursor: identifier('next_cursor of the previous answer').optional(),
  }),
  output: z.object({
    holds: list(
      HoldEntry.extend({
        task_name: z.string().nullable(),
        mission_name: z.string().nullable(),
        content,
      }),
    ),
    ...page,
  }),
}).handler(async (handling, input) => {
  await whereWritable(() => noticeStaleAttempts(handling))
  const found = await handling.store.view(async (reads) => {
    const limit = input.limit ?? 20
    const before = readCursor(input.cursor, ['holds'])?.get('holds')
    const mission = input.mission_id === undefined ? null : await findMission(reads, input.mission_id)
    const holds = await reads.holds.list(
      {
        status: input.closed ? 'closed' : 'open',
        ...(input.kind && { kinds: [input.kind] }),
        ...(mission && { missionId: mission.id }),
      },
      { limit: limit + 1, ...(before !== undefined && { before }) },
    )
    const shown = holds.items.slice(0, limit)
    const tasks = await reads.tasks.named(shown.flatMap(({ item }) => item.hold.taskId ?? []))
    const missions = await reads.missions.named(shown.flatMap(({ item }) => item.hold.missionId ?? []))
    return {
      tasks,
      missions,
      shown: shown.map(({ item }) => item),
      total: holds.total,
      next_cursor: nextCursor([
        { name: 'holds', seqs: shown.map(({ seq }) => seq), more: holds.items.length > limit },
      ]),
    }
  })
  const { shown, tasks, missions, ...rest } = found
  const contents = await contentsShown(
    handling,
    shown.map(({ hold }) => hold),
  )
  return {
    holds: shown.map((line) => ({
      ...holdEntry(line),
      task_name: nameOf(line.hold.taskId, tasks),
      mission_name: nameOf(line.hold.missionId, missions),
      content: contents.get(line.hold.id) ?? null,
    })),
    ...rest,
  }
})

function nameOf(id: string | null, names: ReadonlyMap<string, string>): string | null {
  const name = id === null ? undefined : names.get(id)
  return name === undefined ? null : excerpt(name, 120)
}

/** Opens a hold for each attempt that no one spoke of for two hours, and answers how many. Writes only when there is one. */
export async function noticeStaleAttempts({
  store,
  clock,
  recordAside,
}: Pick<Handling, 'store' | 'clock' | 'recordAside'>): Promise<number> {
  const silent = (reads: Reads) => withoutHold(reads, clock.now())
  if ((await store.view(silent)).length === 0) return 0
  return recordAside(async (reads, setting) => {
    const stale = await silent(reads)
    return {
      facts: stale.map((attempt) => ({
        kind: 'hold.opened',
        hold: openHold(
          { kind: 'stale_attempt', reason: reasonOf(attempt), openedBy: 'waymark' },
          { ...attempt, attemptId: attempt.id },
          setting,
        ),
      })),
      answer: stale.length,
    }
  })
}

async function withoutHold(reads: Reads, now: number): Promise<readonly Attempt[]> {
  const silent = await reads.tasks.silentAttempts(now - staleAfter)
  return silent.filter((attempt) => isStale(attempt, now))
}

function reasonOf(attempt: Attempt): string {
  const holder = attempt.agentName ?? attempt.actor.name
  return `No call from ${holder} about task ${attempt.taskId} since ${instant(attempt.lastCallAt)}. Resolve to give the attempt up, dismiss to let it go on.`
}

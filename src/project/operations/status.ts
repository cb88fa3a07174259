import { z } from 'zod'
import { displayName } from '../../kernel/actor.ts'
import { instant } from '../../kernel/instant.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { workTreeHere } from '../../kernel/operations/work-tree-here.ts'
import { excerpt } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import { currentPhase, shownStatus, totalPhases } from '../../track/domain/mission.ts'
import { isStale } from '../../track/domain/task.ts'
import { MissionEntry } from '../../track/operations/mission-answer.ts'

/** How many of those at work are shown: who called last. */
const mostRunning = 100

export const status = defineOperation({
  name: 'status',
  command: 'status',
  toolset: 'track',
  audience: 'both',
  title: 'Where the project stands',
  description: 'Open missions, who is working on what, and what waits for a person.',
  kind: 'query',
  input: z.strictObject({}),
  output: z.object({
    project: z.string(),
    database: z.string(),
    recorded: z.boolean(),
    /** That writing ended, in a sentence; null where it did not. */
    ended: z.string().nullable(),
    facts: z.int(),
    /** What changes are measured by here; null where the work trees are on other machines. */
    witness: z.enum(['git', 'checksum']).nullable(),
    missions: list(MissionEntry.omit({ kind: true, objective: true, created_at: true, completed_at: true })),
    missions_total: z.int(),
    running: list(
      z.object({
        task_id: z.string(),
        name: z.string(),
        agent_name: z.string(),
        started_at: z.string(),
        last_call_at: z.string(),
        stale: z.boolean(),
        work_tree: z.string(),
      }),
    ),
    running_total: z.int(),
    waiting: z.int(),
    /** Sessions of agents that hooks told of. */
    sessions: z.int(),
    warnings: strings,
  }),
}).handler(async (handling) => {
  const { store, clock, drain } = handling
  await drain?.()
  const [place, health] = await Promise.all([workTreeHere(handling), store.health()])
  return store.view(async ({ missions, tasks, holds, capture, identities }) => {
    const open = await missions.list({ limit: 10, statuses: ['pending', 'in_progress'] })
    const lines = await missions.listed(open.items.map(({ item }) => item))
    const { attempts, total: runningTotal } = await tasks.atWork(mostRunning)
    const names = await tasks.named(attempts.map(({ taskId }) => taskId))
    const waiting = await holds.list({ status: 'open' }, { limit: 1 })
    const sessions = await capture.sessions({}, { limit: 1 })
    return {
      project: place?.mainTop ?? (await nameOf(identities)),
      database: health.location,
      recorded: health.exists,
      ended: health.ended,
      facts: health.seq,
      witness: place?.engine ?? null,
      missions: lines.map(({ mission, now, phases }) => ({
        mission_id: mission.id,
        name: excerpt(mission.name, 120),
        status: shownStatus(mission, now),
        current_phase: currentPhase(mission, phases),
        total_phases: totalPhases(mission, phases),
        open_tasks: now.openAttempts,
        to_do_tasks: now.toDoTasks,
        done_tasks: now.doneTasks,
        open_blockers: now.openBlockers,
      })),
      missions_total: open.total,
      running: attempts.map((attempt) => ({
        task_id: attempt.taskId,
        name: excerpt(names.get(attempt.taskId) ?? '', 120),
        agent_name: displayName(attempt),
        started_at: instant(attempt.openedAt),
        last_call_at: instant(attempt.lastCallAt),
        stale: isStale(attempt, clock.now()),
        work_tree: attempt.snapshot.top,
      })),
      running_total: runningTotal,
      waiting: waiting.total,
      sessions: sessions.total,
      warnings: [...(place?.reason === undefined ? [] : [place?.reason]), ...health.warnings],
    }
  })
})

/** What a project without a folder here is called. */
async function nameOf(identities: Reads['identities']): Promise<string> {
  const listed = await identities.projects()
  return listed.find(({ id }) => id === identities.project)?.name ?? identities.project
}

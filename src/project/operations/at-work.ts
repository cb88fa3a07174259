import { z } from 'zod'
import { displayName } from '../../kernel/actor.ts'
import { instant, instantOrNull } from '../../kernel/instant.ts'
import { list, Named } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { excerpt } from '../../kernel/text.ts'
import { isStale, type SnapshotPlace } from '../../track/domain/task.ts'

export const atWork = defineOperation({
  name: 'at_work',
  command: 'at work',
  screen: true,
  toolset: 'track',
  audience: 'person',
  title: 'What waits and who works',
  description: 'How much waits for a person, since when, and which attempts are open, by whom and where.',
  kind: 'query',
  input: z.strictObject({}),
  output: z.object({
    waiting: z.int(),
    /** Since when the oldest of it waits. */
    waiting_since: z.string().nullable(),
    missions: z.int(),
    attempts: list(
      z.object({
        task_id: z.string(),
        name: z.string(),
        agent_name: z.string(),
        /** For whom the agent acts, where the server knows its persons. */
        person: z.string().nullable(),
        /** The machine that its work tree lies on, where that is not the record's own. */
        edge: Named.nullable(),
        work_tree: z.string(),
        started_at: z.string(),
        last_call_at: z.string(),
        stale: z.boolean(),
      }),
    ),
  }),
}).handler(({ store, clock }) =>
  store.view(async ({ missions, tasks, holds, identities }) => {
    const [waiting, open, attempts] = await Promise.all([
      holds.list({ status: 'open' }, { limit: 1 }),
      missions.list({ limit: 1, statuses: ['pending', 'in_progress'] }),
      tasks.openAttempts(),
    ])
    const names = await tasks.named(attempts.map(({ taskId }) => taskId))
    const ids = [...new Set(attempts.flatMap(({ actor }) => actor.person ?? []))]
    const persons = new Map(
      await Promise.all(
        ids.map(async (id): Promise<[string, string]> => [id, (await identities.person(id))?.name ?? id]),
      ),
    )
    return {
      waiting: waiting.total,
      waiting_since: instantOrNull(waiting.items[0]?.item.hold.openedAt ?? null),
      missions: open.total,
      attempts: attempts.map((attempt) => ({
        task_id: attempt.taskId,
        name: excerpt(names.get(attempt.taskId) ?? '', 120),
        agent_name: displayName(attempt),
        person: persons.get(attempt.actor.person ?? '') ?? null,
        edge: edgeOf(attempt.snapshot),
        work_tree: attempt.snapshot.top,
        started_at: instant(attempt.openedAt),
        last_call_at: instant(attempt.lastCallAt),
        stale: isStale(attempt, clock.now()),
      })),
    }
  }),
)

function edgeOf({ edge, machine }: SnapshotPlace): z.output<typeof Named> | null {
  return edge === undefined ? null : { id: edge, name: machine ?? edge }
}

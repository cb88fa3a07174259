import { z } from 'zod'
import type { ProjectEvent } from '../../events/domain/project-event.ts'
import type { FollowableStore } from '../../events/operations/follow.ts'
import { waitInBackground } from '../../kernel/wait.ts'
import type { ServerClient } from './server-client.ts'

const pollEvery = 1_000
const maxEntries = 500

/** The fields of log entries that followers need. */
const Page = z.object({
  events: z.array(
    z.object({
      seq: z.int(),
      recorded_at: z.string(),
      kind: z.string(),
      actor: z.string(),
      actor_kind: z.enum(['agent', 'person']),
      body: z.record(z.string(), z.unknown()),
    }),
  ),
  head: z.int(),
})

/** The log of a project at a server. Following it takes a request per second. */
export function remoteEventLog(client: ServerClient): FollowableStore {
  const page = async (query: object) => Page.parse(await client.post('/api/log', query))
  const since = async (after: number, limit: number): Promise<ProjectEvent[]> => {
    const { events } = await page({ since: after, limit })
    return events.map(({ seq, recorded_at, kind, actor, actor_kind, body }) => {
      const event = {
        seq,
        recordedAt: Date.parse(recorded_at),
        actor: { name: actor, kind: actor_kind },
        body: { ...body, kind },
      } satisfies { readonly [Key in keyof ProjectEvent]?: unknown }
      return event as unknown as ProjectEvent // as the server recorded it
    })
  }
  const head = async () => (await page({ limit: 1 })).head
  return {
    view: (look) => look({ eventLog: { head, since } }),
    async *follow(after, signal) {
      let position = after
      while (!signal.aborted) {
        const events = await since(position, maxEntries)
        position = events.at(-1)?.seq ?? position
        if (events.length > 0) yield events
        else await waitInBackground(pollEvery, signal)
      }
    },
  }
}

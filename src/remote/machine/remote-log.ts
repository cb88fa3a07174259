import { z } from 'zod'
import type { ProjectEvent } from '../../events/domain/project-event.ts'
import type { FollowableStore } from '../../events/operations/follow.ts'
import { waitInBackground } from '../../kernel/wait.ts'
import type { ServerClient } from './server-client.ts'

const pollEvery = 1_000
const most = 500

const Page = z.object({
  events: z.array(z.looseObject({ seq: z.int(), happening: z.looseObject({ kind: z.string() }) })),
  head: z.int(),
})

/** The log of a project that is kept at a server. Costs a request a second while it is followed. */
export function remoteEventLog(client: ServerClient): FollowableStore {
  const page = async (after: number, limit: number) =>
    Page.parse(await client.get(`/api/events?since=${after}&limit=${limit}`))
  const since = async (after: number, limit: number): Promise<ProjectEvent[]> => {
    const { events } = await page(after, limit)
    // A line of the log, as the server wrote it.
    return events.map(({ happening, ...event }) => ({ ...event, body: happening }) as unknown as ProjectEvent)
  }
  const head = async () => (await page(Number.MAX_SAFE_INTEGER, 1)).head
  return {
    view: (look) => look({ eventLog: { head, since } }),
    async *follow(after, signal) {
      let position = after
      while (!signal.aborted) {
        const events = await since(position, most)
        position = events.at(-1)?.seq ?? position
        if (events.length > 0) yield events
        else await waitInBackground(pollEvery, signal)
      }
    },
  }
}

import type { ServerEventBus } from '@modelcontextprotocol/server'
import type { JournalFeed } from '../resources/journal-feed.ts'

export interface FeedBusOptions {
  readonly log: (line: string) => void
  /** Whether the whole list of tools is shown. */
  readonly listIsWhole: () => Promise<boolean>
}

/** What `subscriptions/listen` streams hear: everything comes from the journal, so there is nothing to publish. */
export function feedBus(feed: JournalFeed, { log, listIsWhole }: FeedBusOptions): ServerEventBus {
  return {
    publish: () => undefined,
    subscribe: (listener) => {
      const wasWhole = listIsWhole()
      let told = false
      const grown = async () => {
        if (told || (await wasWhole) || !(await listIsWhole()) || told) return
        told = true
        listener({ kind: 'tools_list_changed' })
      }
      const following = feed.follow(({ uris, list }) => {
        for (const uri of uris) listener({ kind: 'resource_updated', uri })
        if (list) listener({ kind: 'resources_list_changed' })
        grown().catch((error: unknown) => log(`The list of tools could not be looked at: ${String(error)}`))
      })
      following.catch((error: unknown) => log(`Changes cannot be announced: ${String(error)}`))
      return () => {
        following.then(
          (stop) => stop(),
          () => undefined, // was logged
        )
      }
    },
  }
}

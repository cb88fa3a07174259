import type { ServerEventBus } from '@modelcontextprotocol/server'
import type { JournalFeed } from '../resources/journal-feed.ts'

/** What `subscriptions/listen` streams hear: everything comes from the journal, so there is nothing to publish. */
export function feedBus(feed: JournalFeed, log: (line: string) => void): ServerEventBus {
  return {
    publish: () => undefined,
    subscribe: (listener) => {
      const following = feed.follow(({ uris, list }) => {
        for (const uri of uris) listener({ kind: 'resource_updated', uri })
        if (list) listener({ kind: 'resources_list_changed' })
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

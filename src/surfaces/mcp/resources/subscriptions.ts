import { ResourceNotFoundError, type Server } from '@modelcontextprotocol/server'
import { targetOf } from './resource-uri.ts'
import type { Watch } from './watch.ts'

/** Serves `resources/subscribe` and `resources/unsubscribe`, which only the older era has. */
export function subscribeTo(watch: Watch, server: Server): void {
  server.setRequestHandler('resources/subscribe', async ({ params }) => {
    if (!targetOf(params.uri)) throw new ResourceNotFoundError(params.uri)
    await watch.listen(params.uri)
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    watch.leave(params.uri)
    return {}
  })
}

export interface Announcing {
  readonly watch: Watch
  readonly era: 'legacy' | 'modern'
  readonly log: (line: string) => void
}

/** Sends what changed. In the newer era the SDK passes on only what each `subscriptions/listen` asked for. */
export function announceTo(server: Server, { watch, era, log }: Announcing): void {
  watch.tell(({ uris, list }) => {
    const wanted = uris.filter((uri) => era === 'modern' || watch.isListening(uri))
    const sent = wanted.map((uri) => server.sendResourceUpdated({ uri }))
    if (list) sent.push(server.sendResourceListChanged())
    Promise.all(sent).catch((error: unknown) => log(`A change could not be announced: ${String(error)}`))
  })
}

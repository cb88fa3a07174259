import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
} from '@modelcontextprotocol/server'
import { explained } from '../protocol-error.ts'
import { targetOf } from './resource-uri.ts'
import type { Watch } from './watch.ts'

export interface Subscribing {
  readonly watch: Watch
  readonly log: (line: string) => void
}

export interface Announcing extends Subscribing {
  readonly era: 'legacy' | 'modern'
  /** Called whenever something changed, for what else may be announced. */
  readonly changed: () => void
}

/** Serves `resources/subscribe` and `resources/unsubscribe`, which only the older era has. */
export function subscribeTo(server: Server, { watch, log }: Subscribing): void {
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    if (!targetOf(uri)) throw new ResourceNotFoundError(uri)
    if (watch.size >= most && !watch.isListening(uri)) throw tooMany()
    await explained({ log, data: { uri } }, () => watch.listen(uri))
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    watch.leave(params.uri)
    return {}
  })
}

/** Sends what changed. In the newer era the SDK passes on only what each `subscriptions/listen` asked for. */
export function announceTo(server: Server, { watch, era, log, changed }: Announcing): void {
  watch.tell(({ uris, list }) => {
    const wanted = uris.filter((uri) => era === 'modern' || watch.isListening(uri))
    const sent = wanted.map((uri) => server.sendResourceUpdated({ uri }))
    if (list) sent.push(server.sendResourceListChanged())
    changed()
    Promise.all(sent).catch((error: unknown) => log(`A change could not be announced: ${String(error)}`))
  })
}

// More than anybody follows, few enough to keep for every session.
const most = 1000

function tooMany(): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `${most} resources are subscribed to on this connection, which is the most. Unsubscribe from one first.`,
  )
}

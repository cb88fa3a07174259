import { type JSONRPCMessage, SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server'
import type { Subscribing } from './subscriptions.ts'

/**
 * Watches while `subscriptions/listen` requests are open. The SDK serves those requests by itself, ahead of the server,
 * so they are seen on the line: acknowledged means open, cancelled means ended.
 */
export function listenRequests({ watch, log }: Subscribing) {
  return {
    /** Awaited before an acknowledgement is written: what is recorded after it is announced for sure. */
    beforeSend: async (message: JSONRPCMessage): Promise<void> => {
      if (!('method' in message) || message.method !== 'notifications/subscriptions/acknowledged') return
      if (!wantsChanges(message.params?.['notifications'])) return
      try {
        await watch.listen(keyOf(message.params?._meta?.[SUBSCRIPTION_ID_META_KEY]))
      } catch (error) {
        log(`Changes cannot be announced: ${error instanceof Error ? error.message : String(error)}`)
      }
    },
    received: (message: JSONRPCMessage): void => {
      if (!('method' in message) || message.method !== 'notifications/cancelled') return
      watch.leave(keyOf(message.params?.['requestId']))
    },
  }
}

function wantsChanges(wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return false
  return ['resourceSubscriptions', 'resourcesListChanged', 'toolsListChanged'].some((name) => name in wanted)
}

function keyOf(id: unknown): string {
  return `listen ${JSON.stringify(id)}`
}

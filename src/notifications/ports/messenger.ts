import type { Message } from '../domain/notice.ts'

/** Brings messages out of the program: to a desktop of this machine, and to webhooks. */
export interface Messenger {
  /** This machine, as its desktop is called. */
  readonly machine: string
  /** A secret to sign with: `whsec_` and 32 random bytes in base64. */
  readonly newSecret: () => string
  /** Shows a message on the desktop of this machine. */
  readonly show: (message: Message, signal: AbortSignal) => Promise<Delivery>
  /** Sends a body once. Follows nothing elsewhere, and waits for ten seconds at most. */
  readonly post: (letter: WebhookMessage, signal: AbortSignal) => Promise<Delivery>
}

export interface WebhookMessage {
  readonly url: string
  /** The same at each try, with the same body. */
  readonly id: string
  readonly body: string
  /** The signing secret; null if the receiver checks none. */
  readonly secret: string | null
  readonly reachesPrivate: boolean
}

export type Delivery =
  | { readonly isDelivered: true }
  | {
      readonly isDelivered: false
      /** A sentence without an address or a secret. */
      readonly error: string
      /** A retry would fail the same way. */
      readonly isFinal: boolean
      /** Milliseconds until a retry, if the receiver named a time. */
      readonly after: number | null
    }

import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Messenger } from '../ports/messenger.ts'
import type { WebhookOptions } from './webhook.ts'

type MessengerEnvironment = Readonly<Record<string, string | undefined>>

/** Senders are loaded at first use. */
export function messenger(environment: MessengerEnvironment, posting: WebhookOptions): Messenger {
  return {
    machine: hostname(),
    newSecret: () => `whsec_${randomBytes(32).toString('base64')}`,
    show: async (message, signal) => {
      const { showOnDesktop } = await import('./desktop.ts')
      return showOnDesktop(message, environment, signal)
    },
    post: async (letter, signal) => {
      const { postWebhook } = await import('./webhook.ts')
      return postWebhook(letter, posting, signal)
    },
  }
}

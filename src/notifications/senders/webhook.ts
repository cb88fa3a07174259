import { createHmac } from 'node:crypto'
import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { isIP } from 'node:net'
import { errorCode } from '../../kernel/failure.ts'
import type { Delivery, WebhookMessage } from '../ports/messenger.ts'
import { isPrivate, PrivateAddress, publicLookup } from './addresses.ts'

const usualPatience = 10_000
const maxAnswered = 16_384

export interface WebhookOptions {
  /** The signature of the program in the request. */
  readonly agent: string
  /** Any address is allowed: the user who added it sits at this machine. */
  readonly reachesPrivate: boolean
  /** Milliseconds for the whole request; default ten seconds. */
  readonly patience?: number
}

/** Sends a message once, signed by the headers of standardwebhooks.com. It never throws: an error is in the result. */
export async function postWebhook(
  letter: WebhookMessage,
  { agent, reachesPrivate, patience = usualPatience }: WebhookOptions,
  signal: AbortSignal,
): Promise<Delivery> {
  const url = new URL(letter.url)
  const isFree = reachesPrivate || letter.reachesPrivate
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (!isFree && isIP(host) !== 0 && isPrivate(host)) return privateAddressRefusal(url)
  const ending = AbortSignal.any([signal, AbortSignal.timeout(patience)])
  const sending = url.protocol === 'https:' ? secureRequest : plainRequest
  try {
    const { status, after } = await awaitResponse(
      sending(url, {
        method: 'POST',
        agent: false,
        signal: ending,
        headers: { ...signatureHeaders(letter), 'user-agent': agent },
        ...(!isFree && { lookup: publicLookup }),
      }),
      letter.body,
    )
    return deliveryOf(status, { after, origin: url.origin })
  } catch (error) {
    if (error instanceof PrivateAddress) return privateAddressRefusal(url)
    if (signal.aborted) return failedPost('It was canceled while it was being sent.', false)
    if (ending.aborted)
      return failedPost(`${url.origin} did not answer within ${patience / 1000} seconds.`, false)
    return failedPost(`${url.origin} could not be reached: ${codeOf(error)}.`, false)
  }
}

/** `webhook-id`, `webhook-timestamp`, `webhook-signature`: HMAC-SHA-256 over `id.timestamp.body`. */
function signatureHeaders({ id, body, secret }: WebhookMessage): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
  }
  if (secret === null) return headers
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { ...headers, 'webhook-signature': `v1,${signature}` }
}

interface WebhookReply {
  readonly status: number
  /** The milliseconds that the receiver asks to wait. */
  readonly after: number | null
}

function awaitResponse(request: ClientRequest, body: string): Promise<WebhookReply> {
  const { promise, resolve, reject } = Promise.withResolvers<WebhookReply>()
  request.once('error', reject)
  request.once('response', (response) => {
    const status = response.statusCode ?? 0
    const end = () => resolve({ status, after: retryAfterOf(response) })
    let length = 0
    // The body is ignored, but it must end.
    response.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= maxAnswered) return
      end()
      response.destroy()
    })
    response.once('end', end)
    response.once('error', reject)
    response.once('aborted', () => reject(new Error('aborted')))
  })
  request.end(body)
  return promise
}

function retryAfterOf({ headers }: IncomingMessage): number | null {
  const seconds = Number(headers['retry-after'])
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null
}

function deliveryOf(
  status: number,
  { after, origin }: { readonly after: number | null; readonly origin: string },
): Delivery {
  if (status >= 200 && status < 300) return { isDelivered: true }
  if (status >= 300 && status < 400) {
    return failedPost(`${origin} answered ${status} with a redirect, which is not followed.`, true)
  }
  if (status === 410) return failedPost(`${origin} answered 410: it accepts no more messages.`, true)
  return { ...failedPost(`${origin} answered ${status}.`, false), after }
}

function privateAddressRefusal({ origin }: URL): Delivery {
  return failedPost(`${origin} is on a private network. Add it again with --private.`, true)
}

function failedPost(error: string, isFinal: boolean): Extract<Delivery, { readonly isDelivered: false }> {
  return { isDelivered: false, error, isFinal, after: null }
}

/** `ECONNREFUSED`: only the code of an error, because its message may contain an address. */
function codeOf(error: unknown): string {
  return errorCode(error) ?? 'the connection ended'
}

import { signal } from '@preact/signals'
import type { Frame } from '../../src/surfaces/http/client/client.ts'
import { readSession, session } from '../api/session.ts'
import { base } from '../router/location.ts'

export type ConnectionState =
  | { readonly is: 'connecting' }
  | { readonly is: 'live'; readonly version: string }
  | { readonly is: 'reconnecting'; readonly since: number }
  | { readonly is: 'stale'; readonly since: number }

/** Whether what is shown is what is so. */
export const connection = signal<ConnectionState>({ is: 'connecting' })

type Listener = (frame: Frame) => void
type Reload = () => void

const listeners = new Set<Listener>()
const reloads = new Set<Reload>()

/** Tells each frame in order. Answers its stop. */
export function listenToFrames(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Kinds of what the server as a whole knows of who uses it. */
export type IdentityFrameKind = 'person' | 'token' | 'session'

type IdentityListener = (of: readonly IdentityFrameKind[]) => void
const identityListeners = new Set<IdentityListener>()

/** Tells that persons, tokens or sessions changed which one may see. Answers its stop. */
export function listenToIdentities(listener: IdentityListener): () => void {
  identityListeners.add(listener)
  return () => identityListeners.delete(listener)
}

/** Tells when everything must be read again: the server cannot tell what happened meanwhile. Answers its stop. */
export function listenToReloads(reload: Reload): () => void {
  reloads.add(reload)
  return () => reloads.delete(reload)
}

/** Milliseconds after which a lost connection makes the page say of when it is. */
const patience = 6_000
/** Close code of the server for who is let in no more. */
const loggedOut = 4401
const firstWait = 400
const maxWaitMs = 15_000

/** Follows the log from here on, through lost connections, until it is stopped. */
export function follow(): () => void {
  // What is read from now on is no older than the session.
  const current = session.peek()
  let seq = current === null || current === 'unknown person' ? null : current.seq
  let socket: WebSocket | null = null
  let wait = firstWait
  let retry = 0
  let doubt = 0
  let ended = false

  const open = () => {
    const address = new URL(`${base.value}/ws`, location.href)
    address.protocol = address.protocol.replace('http', 'ws')
    address.searchParams.set('identities', '')
    if (seq !== null) address.searchParams.set('since', String(seq))
    const opened = new WebSocket(address)
    socket = opened
    opened.onmessage = ({ data }) => {
      const message = readFrame(data)
      if (message === null) return
      if (isFrame(message)) {
        seq = message.seq
        for (const listener of listeners) listener(message)
        return
      }
      if (message.event === 'identities') {
        for (const listener of identityListeners) listener(message.kinds)
        return
      }
      if (message.event === 'reload') {
        seq = null
        return
      }
      onHello(message)
    }
    opened.onclose = ({ code }) => {
      // The login ended: the page says how to log in again.
      if (code === loggedOut) void readSession().catch(() => undefined)
      onLoss()
    }
  }

  const onHello = ({ seq: head, version = '' }: HelloMessage) => {
    clearTimeout(doubt)
    wait = firstWait
    // What happened meanwhile is told again of the project alone.
    if (connection.peek().is !== 'connecting')
      for (const listener of identityListeners) listener(allIdentities)
    connection.value = { is: 'live', version }
    if (seq !== null) return
    seq = head
    for (const reload of reloads) reload()
  }

  const onLoss = () => {
    if (ended) return
    const since = Date.now()
    if (connection.value.is === 'live' || connection.value.is === 'connecting') {
      connection.value = { is: 'reconnecting', since }
      doubt = setTimeout(() => {
        connection.value = { is: 'stale', since }
      }, patience)
    }
    // Not all pages at once after a restart of the server.
    retry = setTimeout(open, wait * (0.75 + Math.random() / 2))
    wait = Math.min(wait * 2, maxWaitMs)
  }

  const hasten = () => {
    if (document.hidden || connection.value.is === 'live' || socket?.readyState !== WebSocket.CLOSED) return
    clearTimeout(retry)
    open()
  }
  document.addEventListener('visibilitychange', hasten)
  window.addEventListener('online', hasten)
  open()
  return () => {
    ended = true
    clearTimeout(retry)
    clearTimeout(doubt)
    document.removeEventListener('visibilitychange', hasten)
    window.removeEventListener('online', hasten)
    socket?.close()
    connection.value = { is: 'connecting' }
  }
}

const allIdentities = ['person', 'token', 'session'] as const

interface IdentitiesMessage {
  readonly event: 'identities'
  readonly kinds: readonly IdentityFrameKind[]
}

interface HelloMessage {
  readonly event: 'hello' | 'reload'
  readonly seq: number
  /** Waymark's, in the first message of a connection. */
  readonly version?: string
}

/** What was received, or null where it is no message of ours. */
function readFrame(text: unknown): Frame | HelloMessage | IdentitiesMessage | null {
  if (typeof text !== 'string') return null
  try {
    const message: unknown = JSON.parse(text)
    if (typeof message !== 'object' || message === null || !('event' in message)) return null
    return message as Frame | HelloMessage | IdentitiesMessage // the server is the one that this page came from
  } catch {
    return null
  }
}

function isFrame(message: Frame | HelloMessage | IdentitiesMessage): message is Frame {
  return 'n' in message
}

import { WebSocketServer } from 'ws'
import type { Actor } from '../../../kernel/actor.ts'
import type { LivePart, LiveReaderScope } from '../parts.ts'
import type { HttpServingOptions, ServedProject } from '../serving.ts'
import { LiveFeed } from './feed.ts'
import { closeCodes, type LiveLimits, LiveReader, liveLimits } from './reader.ts'

/** The maximum size of a client's message in bytes: clients only answer pings. */
const maxMessageLength = 1_024
// The actor of the feed, which only reads.
const feedActor: Actor = { name: 'live feed', kind: 'person', role: null, channel: 'http' }
// The timeout of the closing handshake, in milliseconds.
const farewell = 1_000

/** The live feeds of all projects: `/ws?since=<seq>`. */
export function createLivePart(
  { version, log }: Pick<HttpServingOptions, 'version' | 'log'>,
  limits = liveLimits,
): LivePart {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageLength,
    perMessageDeflate: false,
  })
  const feeds = new Map<ServedProject, LiveFeed>()
  const pinging = setInterval(() => {
    for (const feed of feeds.values()) for (const reader of feed.readers()) reader.ping()
  }, limits.ping).unref()

  const feedOf = (project: ServedProject): LiveFeed => {
    const existing = feeds.get(project)
    if (existing) return existing
    const { store, clock } = project.contextOf(feedActor)
    const feed = new LiveFeed({ store, clock, project: project.key, version, log, limits })
    feeds.set(project, feed)
    return feed
  }

  return {
    upgrade(request, socket, head, { project, watchIdentities }) {
      let reader: LiveReader | null = null
      server.handleUpgrade(request, socket, head, (webSocket) => {
        const joining = new LiveReader(webSocket, socket, limits)
        reader = joining
        const since = parseSince(request.url ?? '/')
        if ('problem' in since) return joining.close(closeCodes.badSince, since.problem)
        if (server.clients.size > limits.readers)
          return joining.close(closeCodes.later, tooManyReaders(limits))
        watchIdentitiesFor(joining, request.url ?? '/', watchIdentities)
        feedOf(project)
          .join(joining, since.seq)
          .catch((error: unknown) => {
            log.warn('A reader could not join the live feed.', { project: project.key, error: String(error) })
            joining.close(closeCodes.later, 'The record cannot be read now.')
          })
      })
      return () => reader?.close(closeCodes.revoked, 'Your token was revoked, or you signed out.')
    },
    readers: () => [...server.clients].filter(({ readyState, OPEN }) => readyState === OPEN).length,
    async close() {
      clearInterval(pinging)
      for (const client of server.clients) client.close(closeCodes.goingAway, 'The server is stopping.')
      const deadline = setTimeout(() => {
        for (const client of server.clients) client.terminate()
      }, farewell)
      await Promise.all(
        [...server.clients].map((client) => new Promise((gone) => client.once('close', gone))),
      )
      clearTimeout(deadline)
    },
  }
}

/** With `identities`, notifies a reader when people, tokens or sessions change. */
function watchIdentitiesFor(
  reader: LiveReader,
  address: string,
  watch: LiveReaderScope['watchIdentities'],
): void {
  if (!watch || !new URL(address, 'http://localhost').searchParams.has('identities')) return
  reader.whenClosed(watch((kinds) => reader.isOpen && reader.say({ event: 'identities', kinds })))
}

function tooManyReaders({ readers }: LiveLimits): string {
  return `${readers} are connected, the maximum.`
}

/** The position of a reader; null for only new entries. */
export type FeedPosition = { readonly seq: number | null } | { readonly problem: string }

function parseSince(address: string): FeedPosition {
  const text = new URL(address, 'http://localhost').searchParams.get('since')
  if (text === null || text === '') return { seq: null }
  const seq = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(seq)) return { seq }
  return { problem: `since must be a whole number, 0 or more, and is "${text.slice(0, 20)}".` }
}

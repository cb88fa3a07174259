import { affectedEntities, type EntityChange } from '../../../events/domain/event-kinds.ts'
import type { ProjectEvent } from '../../../events/domain/project-event.ts'
import { type FollowableStore, followEventLog } from '../../../events/operations/follow.ts'
import { messageOf } from '../../../kernel/failure.ts'
import { changesUri, missionUri, reviewUri, summaryUri, taskUri } from './resource-uri.ts'

export interface EventLogFeedOptions {
  readonly store: () => FollowableStore
  readonly log: (line: string) => void
}

/** Called with each change. */
export type ResourceListener = (changed: ResourceChanges) => void

interface FeedSubscription {
  readonly end: AbortController
  readonly ready: Promise<void>
}

/** Follows the log of a project, once for all listeners and only while there is one. */
export class EventLogFeed {
  readonly #options: EventLogFeedOptions
  readonly #hearers = new Set<ResourceListener>()
  #following: FeedSubscription | null = null

  constructor(options: EventLogFeedOptions) {
    this.#options = options
  }

  /** Resolves with a function to stop, when it will miss no further log entry. */
  async follow(hearer: ResourceListener): Promise<() => void> {
    this.#hearers.add(hearer)
    this.#following ??= this.#begin()
    try {
      await this.#following.ready
    } catch (error) {
      this.#leave(hearer)
      throw error
    }
    return () => this.#leave(hearer)
  }

  stop(): void {
    this.#hearers.clear()
    this.#following?.end.abort()
    this.#following = null
  }

  #leave(hearer: ResourceListener): void {
    this.#hearers.delete(hearer)
    if (this.#hearers.size === 0) this.stop()
  }

  #begin(): FeedSubscription {
    const end = new AbortController()
    const store = this.#options.store()
    const head = store.view(({ eventLog }) => eventLog.head())
    return { end, ready: head.then((after) => void this.#run(store, after, end)) }
  }

  #run(store: FollowableStore, after: number, { signal }: AbortController): Promise<void> {
    let lastError = ''
    return followEventLog(store, {
      after,
      signal,
      pause: 1000,
      hear: (events) => {
        lastError = ''
        const changed = changedResources(events)
        if (!signal.aborted) for (const hearer of this.#hearers) hearer(changed)
      },
      onFailure: (error) => {
        const message = messageOf(error)
        if (message !== lastError) this.#options.log(`Changes cannot be announced at present: ${message}`)
        lastError = message
      },
    })
  }
}

/** The changes for readers of resources. */
export interface ResourceChanges {
  readonly uris: readonly string[]
  /** The list of resources changed. */
  readonly list: boolean
}

/** The changes of some log entries, each URI once. */
export function changedResources(events: readonly Pick<ProjectEvent, 'body'>[]): ResourceChanges {
  const changes = events.flatMap(({ body }) => affectedEntities(body).map(changeOf))
  return {
    uris: [...new Set(changes.flatMap(({ uris }) => uris))],
    list: changes.some(({ list }) => list),
  }
}

function changeOf({ change, entity }: EntityChange): ResourceChanges {
  if (entity.kind === 'mission') return { uris: [missionUri(entity.id)], list: change === 'created' }
  if (entity.kind === 'task') return { uris: [taskUri(entity.id)], list: false }
  // The list contains the active tasks.
  if (entity.kind === 'attempt') return { uris: [changesUri(entity.taskId)], list: true }
  // A run or the evidence of its guards changed, so other events may be possible.
  if (entity.kind === 'run') return { uris: [summaryUri(entity.id)], list: true }
  if (entity.kind === 'command' && entity.runId !== null)
    return { uris: [summaryUri(entity.runId)], list: true }
  if (entity.kind === 'review' && entity.taskId !== null)
    return { uris: [reviewUri(entity.taskId)], list: false }
  return { uris: [], list: false }
}

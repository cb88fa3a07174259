import { setTimeout as sleep } from 'node:timers/promises'
import type { NewFact } from '../../../domain/fact.ts'
import { messageOf } from '../../../domain/failure.ts'
import type { Store } from '../../../ports/store.ts'
import { changesUri, missionUri, summaryUri, taskUri } from './resource-uri.ts'

export interface JournalFeedOptions {
  readonly store: () => Store
  readonly log: (line: string) => void
}

/** Told of what changed. */
export type Hearer = (changed: Changed) => void

interface Following {
  readonly end: AbortController
  readonly ready: Promise<void>
}

/** Follows the facts of every process, once for all who want to hear of them and only while somebody does. */
export class JournalFeed {
  readonly #options: JournalFeedOptions
  readonly #hearers = new Set<Hearer>()
  #following: Following | null = null

  constructor(options: JournalFeedOptions) {
    this.#options = options
  }

  /** Resolves, with what ends it, when nothing that is recorded from now on will be missed. */
  async follow(hearer: Hearer): Promise<() => void> {
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

  #leave(hearer: Hearer): void {
    this.#hearers.delete(hearer)
    if (this.#hearers.size === 0) this.stop()
  }

  #begin(): Following {
    const end = new AbortController()
    const store = this.#options.store()
    const head = store.view(({ journal }) => journal.head())
    return { end, ready: head.then((after) => void this.#run(store, after, end)) }
  }

  async #run(store: Store, after: number, { signal }: AbortController): Promise<void> {
    const gathered = new ChangesOfOneTick((changed) => {
      if (!signal.aborted) for (const hearer of this.#hearers) hearer(changed)
    })
    let position = after
    let trouble = ''
    while (!signal.aborted) {
      try {
        for await (const { seq, body } of store.follow(position, signal)) {
          gathered.add(whatChanged(body))
          position = seq
          trouble = ''
        }
      } catch (error) {
        const said = messageOf(error)
        if (said !== trouble) this.#options.log(`Changes cannot be announced at present: ${said}`)
        trouble = said
      }
      await pause(signal)
    }
  }
}

/** Before another try. It keeps no process alive. */
async function pause(signal: AbortSignal): Promise<void> {
  try {
    await sleep(1000, undefined, { signal, ref: false })
  } catch {
    // aborted: nobody listens any more
  }
}

/** What a fact changes for those who read resources. */
export interface Changed {
  readonly uris: readonly string[]
  /** Other resources are listed than before. */
  readonly list: boolean
}

export function whatChanged(fact: NewFact): Changed {
  switch (fact.kind) {
    case 'project.created':
    case 'role.declared':
    case 'milestone.created':
    case 'milestone.edited':
    case 'process.kept':
    case 'setting.changed':
    case 'command.revoked':
      return { uris: [], list: false }
    case 'mission.started':
      return { uris: [missionUri(fact.mission.id)], list: true }
    case 'mission.ended':
    case 'mission.extended':
    case 'mission.reopened':
    case 'phase.reopened':
    case 'phase.completed':
    case 'phase.edited':
      return { uris: ofMission(fact.missionId), list: false }
    case 'phase.created':
      return { uris: ofMission(fact.phase.missionId), list: false }
    case 'task.planned':
      return about({ taskId: fact.task.id, missionId: fact.task.missionId })
    case 'attempt.opened':
      return measured(fact.attempt)
    case 'attempt.closed':
    case 'attempt.abandoned':
      return measured(fact)
    case 'attempt.corrected':
    case 'attempt.continued':
    case 'hold.closed':
      return about(fact)
    case 'decision.logged':
      return about(fact.decision)
    case 'issue.logged':
      return about(fact.issue)
    case 'progress.logged':
      return about(fact.progress)
    case 'hold.opened':
      return about(fact.hold)
    case 'note.added':
      return ofTask(fact.note.taskId)
    case 'task.edited':
    case 'task.marked':
    case 'task.dropped':
    case 'task.forced':
    case 'task.claimed':
    case 'claim.ended':
    case 'dependency.added':
    case 'dependency.removed':
      return ofTask(fact.taskId)
    case 'run.created':
      return moved(fact.run.id, fact.run)
    case 'run.advanced':
    case 'run.migrated':
    case 'run.cancelled':
    case 'run.approved':
      return moved(fact.runId, fact)
    case 'run.refused':
      return { uris: [], list: false }
    case 'command.started':
      return ofCommand(fact.command.runId)
    case 'command.ended':
      return ofCommand(fact.runId)
  }
}

/** A run moved, or what its guards look at did: what may be emitted is another than before. */
function moved(runId: string, subject: ChangeSubject): Changed {
  return { uris: [summaryUri(runId), ...about(subject).uris], list: true }
}

function ofCommand(runId: string | null): Changed {
  return runId === null ? { uris: [], list: false } : { uris: [summaryUri(runId)], list: true }
}

interface ChangeSubject {
  readonly taskId: string | null
  readonly missionId: string | null
}

function about({ taskId, missionId }: ChangeSubject): Changed {
  return { uris: [...(taskId === null ? [] : [taskUri(taskId)]), ...ofMission(missionId)], list: false }
}

function ofTask(taskId: string): Changed {
  return { uris: [taskUri(taskId)], list: false }
}

/** An attempt began or ended: the list shows the tasks that are worked on, and its changes are others. */
function measured({ taskId, missionId }: { taskId: string; missionId: string | null }): Changed {
  return { uris: [taskUri(taskId), changesUri(taskId), ...ofMission(missionId)], list: true }
}

function ofMission(missionId: string | null): readonly string[] {
  return missionId === null ? [] : [missionUri(missionId)]
}

/** Several facts of one transaction are one change to whoever reads: they are told together, each address once. */
class ChangesOfOneTick {
  readonly #told: (changed: Changed) => void
  #uris = new Set<string>()
  #list = false
  #planned = false

  constructor(told: (changed: Changed) => void) {
    this.#told = told
  }

  add({ uris, list }: Changed): void {
    for (const uri of uris) this.#uris.add(uri)
    this.#list ||= list
    if (this.#planned) return
    this.#planned = true
    setImmediate(() => {
      const changed = { uris: [...this.#uris], list: this.#list }
      this.#uris = new Set()
      this.#list = false
      this.#planned = false
      this.#told(changed)
    })
  }
}

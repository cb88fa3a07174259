import { eventLogReads } from '../../events/log/event-log.ts'
import { guardedCommandReads } from '../../gate/tables/guarded-command.ts'
import { runReads } from '../../gate/tables/run.ts'
import { inboxReads } from '../../inbox/tables/item.ts'
import { lineReads } from '../../lines/tables/lines.ts'
import { notificationReads } from '../../notifications/tables/notification.ts'
import { identityReads } from '../../people/tables/secret.ts'
import { planReads } from '../../plan/tables/plan.ts'
import { taskReads } from '../../plan/tables/task-reads.ts'
import { remoteMachineReads } from '../../remote/tables/machine.ts'
import { statReads } from '../../reports/tables/stats.ts'
import { timelineReads } from '../../reports/tables/timeline.ts'
import { reviewReads } from '../../review/tables/review.ts'
import { captureSessionReads } from '../../sessions/tables/capture-session.ts'
import { turnReads } from '../../sessions/tables/turn.ts'
import { fileLossReads } from '../../track/tables/file-loss.ts'
import { landingReads } from '../../track/tables/landing.ts'
import { missionReads } from '../../track/tables/mission.ts'
import { recordReads } from '../../track/tables/records.ts'
import { treeWriteReads } from '../../track/tables/tree-write.ts'
import type { Reads } from '../ports/store.ts'
import { keyReads } from '../record/idempotency.ts'
import type { ReadScope } from './tables.ts'

export function readsOf(scope: ReadScope): Reads {
  return new ScopedReads(scope)
}

/** Readers are created on first use: most calls need two or three. */
class ScopedReads implements Reads {
  readonly #scope: ReadScope
  #missions: Reads['missions'] | undefined
  #tasks: Reads['tasks'] | undefined
  #timeline: Reads['timeline'] | undefined
  #plan: Reads['plan'] | undefined
  #records: Reads['records'] | undefined
  #landings: Reads['landings'] | undefined
  #guardedCommands: Reads['guardedCommands'] | undefined
  #fileLosses: Reads['fileLosses'] | undefined
  #treeWrites: Reads['treeWrites'] | undefined
  #items: Reads['inboxItems'] | undefined
  #runs: Reads['runs'] | undefined
  #identities: Reads['identities'] | undefined
  #machines: Reads['machines'] | undefined
  #notifications: Reads['notifications'] | undefined
  #lines: Reads['lines'] | undefined
  #capture: Reads['capture'] | undefined
  #log: Reads['eventLog'] | undefined
  #stats: Reads['stats'] | undefined
  #reviews: Reads['reviews'] | undefined
  #keys: Reads['keys'] | undefined

  constructor(scope: ReadScope) {
    this.#scope = scope
  }

  get missions(): Reads['missions'] {
    this.#missions ??= missionReads(this.#scope)
    return this.#missions
  }

  get tasks(): Reads['tasks'] {
    this.#tasks ??= taskReads(this.#scope)
    return this.#tasks
  }

  get timeline(): Reads['timeline'] {
    this.#timeline ??= timelineReads(this.#scope)
    return this.#timeline
  }

  get plan(): Reads['plan'] {
    this.#plan ??= planReads(this.#scope)
    return this.#plan
  }

  get landings(): Reads['landings'] {
    this.#landings ??= landingReads(this.#scope)
    return this.#landings
  }

  get guardedCommands(): Reads['guardedCommands'] {
    this.#guardedCommands ??= guardedCommandReads(this.#scope)
    return this.#guardedCommands
  }

  get fileLosses(): Reads['fileLosses'] {
    this.#fileLosses ??= fileLossReads(this.#scope)
    return this.#fileLosses
  }

  get treeWrites(): Reads['treeWrites'] {
    this.#treeWrites ??= treeWriteReads(this.#scope)
    return this.#treeWrites
  }

  get records(): Reads['records'] {
    this.#records ??= recordReads(this.#scope)
    return this.#records
  }

  get inboxItems(): Reads['inboxItems'] {
    this.#items ??= inboxReads(this.#scope)
    return this.#items
  }

  get runs(): Reads['runs'] {
    this.#runs ??= runReads(this.#scope)
    return this.#runs
  }

  get identities(): Reads['identities'] {
    this.#identities ??= identityReads(this.#scope)
    return this.#identities
  }

  get machines(): Reads['machines'] {
    this.#machines ??= remoteMachineReads(this.#scope)
    return this.#machines
  }

  get notifications(): Reads['notifications'] {
    this.#notifications ??= notificationReads(this.#scope)
    return this.#notifications
  }

  get lines(): Reads['lines'] {
    this.#lines ??= lineReads(this.#scope)
    return this.#lines
  }

  get capture(): Reads['capture'] {
    this.#capture ??= { ...captureSessionReads(this.#scope), ...turnReads(this.#scope) }
    return this.#capture
  }

  get eventLog(): Reads['eventLog'] {
    this.#log ??= eventLogReads(this.#scope)
    return this.#log
  }

  get reviews(): Reads['reviews'] {
    this.#reviews ??= reviewReads(this.#scope)
    return this.#reviews
  }

  get keys(): Reads['keys'] {
    this.#keys ??= keyReads(this.#scope)
    return this.#keys
  }

  get stats(): Reads['stats'] {
    this.#stats ??= statReads(this.#scope)
    return this.#stats
  }
}

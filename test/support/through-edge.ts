import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { WorkTreeWitness } from '../../src/git/ports/work-tree.ts'
import type { Context } from '../../src/kernel/operations/operation.ts'
import { measureLocally } from '../../src/remote/machine/measure.ts'
import { type PortContext, runCalls } from '../../src/remote/machine/port-runner.ts'
import { RemoteCommands } from '../../src/remote/machine/remote-commands.ts'
import { TrustedCommands } from '../../src/remote/machine/trusted-commands.ts'
import { PortAnswerer } from '../../src/remote/operations/gather.ts'
import { looks } from '../../src/remote/operations/looks.ts'
import {
  type AnswerOf,
  type ArgsOf,
  type PortCallName,
  PortCallResult,
  portCalls,
} from '../../src/remote/operations/port-calls.ts'
import { remoteContext } from '../../src/remote/operations/remote-context.ts'
import {
  MeasureRequest,
  RemoteMeasureRequired,
  SentMeasurement,
} from '../../src/remote/operations/remote-measurement.ts'
import { fingerprint } from '../../src/store/fingerprint.ts'
import type { Store } from '../../src/store/ports/store.ts'
import { randomIds } from '../../src/store/random-ids.ts'

/** A test of the witness alone is of no operation. */
const allLooks = Object.keys(portCalls) as PortCallName[] // its own keys

/** Whether what is tested is to go through an edge, though the test does not ask for it. */
export function isThroughEdge(): boolean {
  return process.env['WAYMARK_TEST_THROUGH'] === 'edge'
}

const nobody = { name: 'nobody', kind: 'agent', role: null, channel: 'stdio' } as const
const edge = { id: 'e-0123456789ab', name: 'the edge of the tests' }
const inTransaction = new AsyncLocalStorage<true>()

/** Notices what a handler must not do where it may be run again. */
class WatchedGathering extends PortAnswerer {
  hasRecorded = false

  override ask<Name extends PortCallName>(name: Name, args: ArgsOf<Name>): Promise<AnswerOf<Name>> {
    if (inTransaction.getStore()) throw new Error(`${name} was asked for with a transaction open.`)
    if (this.hasRecorded) throw new Error(`${name} was asked for after something was recorded.`)
    return super.ask(name, args)
  }

  override watched(store: Store): Store {
    const watched = super.watched(store)
    return {
      ...watched,
      view: (look) => watched.view((reads) => inTransaction.run(true, () => look(reads))),
      record: async (request) => {
        let facts = 0
        const answer = await watched.record({
          ...request,
          decide: (reads) =>
            inTransaction.run(true, async () => {
              const decided = await request.decide(reads)
              facts = decided.facts.length
              return decided
            }),
        })
        // What is recorded aside has no key, and finds itself again when the handler runs again.
        if (facts > 0 && request.idempotency) this.hasRecorded = true
        return answer
      },
    }
  }
}

export interface OfEdge {
  readonly patience?: number | undefined
  /** What the operation is asked with. */
  readonly input?: unknown
}

/** Runs a handler as a server does for a caller on another machine, and looks here at what it asks for. */
export async function throughEdge<Answer>(
  context: Context,
  asked: string | undefined,
  work: (onEdge: Context) => Promise<Answer>,
  { patience = 20_000, input = {} }: OfEdge = {},
): Promise<{ readonly answer: Answer; readonly rounds: number }> {
  const began = performance.now()
  const id = randomUUID()
  const commands = new TrustedCommands({
    approvals: context.commandApprovals,
    runner: context.commandRunner,
    actor: context.actor,
    askPerson: async () => true,
    trustsServer: false,
    now: () => context.clock.now(),
  })
  const away = new RemoteCommands({ context, commands, patience, tell: async () => undefined })
  const running: PortContext = {
    context,
    edge: edge.id,
    snapshots: () => join(context.program.stateFolder, 'snapshots'),
    commands,
    asked,
    looks: asked === undefined ? allLooks : (looks[asked] ?? []),
    input,
    named: new Set(),
    written: { done: false },
    now: () => context.clock.now(),
    runCommand: (command) => away.run(command, { isWaitedFor: false }),
  }
  let gathered: readonly PortCallResult[] = []
  let measured: readonly SentMeasurement[] = []
  for (let rounds = 1; ; rounds += 1) {
    const gathering = new WatchedGathering(sent(gathered))
    const onEdge = remoteContext(context, gathering, {
      edge,
      id,
      folder: context.folder,
      age: Math.round(performance.now() - began),
      address: 'https://waymark.example/p/shop',
      measured,
    })
    const done = await gathering
      .run(() => work(onEdge))
      .catch((error: unknown) => {
        if (error instanceof RemoteMeasureRequired)
          return { kind: 'measure' as const, request: error.request }
        throw error
      })
    if (done.kind === 'measure') {
      const request = MeasureRequest.parse(JSON.parse(JSON.stringify(done.request)))
      const more = JSON.parse(JSON.stringify(await measureLocally(request, running)))
      measured = [...measured, ...SentMeasurement.array().parse(more)]
      continue
    }
    if (done.kind === 'answered') return { answer: done.answer, rounds }
    gathered = [...gathered, ...(await runCalls(done.calls, running))]
  }
}

/** As it arrives at the other side. */
function sent(gathered: readonly PortCallResult[]): readonly PortCallResult[] {
  return PortCallResult.array().parse(JSON.parse(JSON.stringify(gathered)))
}

/** A witness whose every call goes over the wire, to a machine that has only the table of port calls. */
export function witnessThroughEdge(own: WorkTreeWitness, stateFolder: string): WorkTreeWitness {
  const over = async <Answer>(folder: string, ask: (witness: WorkTreeWitness) => Promise<Answer>) => {
    const context = bareContext({ witness: own, folder, stateFolder })
    const { answer } = await throughEdge(context, undefined, (onEdge) => ask(onEdge.witness))
    return answer
  }
  return {
    locate: (folder) => over(folder, (witness) => witness.locate(folder)),
    others: (folder) => over(folder, (witness) => witness.others(folder)),
    snapshot: (request) => over(request.top ?? request.folder, (witness) => witness.snapshot(request)),
    changes: (from, to) => over(from.top, (witness) => witness.changes(from, to)),
    lines: (from, to, wish) => over(from.top, (witness) => witness.lines(from, to, wish)),
    history: {
      file: (request) => over(request.folder, (witness) => witness.history.file(request)),
      blame: (request) => over(request.folder, (witness) => witness.history.blame(request)),
      commits: (folder, range, most) =>
        over(folder, (witness) => witness.history.commits(folder, range, most)),
      files: (folder, rev, under) => over(folder, (witness) => witness.history.files(folder, rev, under)),
      hashes: (folder, oids, salt) => over(folder, (witness) => witness.history.hashes(folder, oids, salt)),
    },
    contents: {
      states: (place, paths) => over(place.top, (witness) => witness.contents.states(place, paths)),
      read: (places, ids, most) =>
        over(places[0]?.top ?? '', (witness) => witness.contents.read(places, ids, most)),
    },
    branch: (request) => over(request.folder, (witness) => witness.branch(request)),
    touched: (from, to) => over(from.top, (witness) => witness.touched(from, to)),
    unifiedDiff: (from, to, paths) => over(from.top, (witness) => witness.unifiedDiff(from, to, paths)),
    matching: (place, areas) => over(place.top, (witness) => witness.matching(place, areas)),
    overlapping: (place, areas, others) =>
      over(place.top, (witness) => witness.overlapping(place, areas, others)),
    packages: (place) => over(place.top, (witness) => witness.packages(place)),
    treeHash: (folder) => over(folder, (witness) => witness.treeHash(folder)),
    content: (folder) => over(folder, (witness) => witness.content(folder)),
    settle: () => own.settle(),
    sweep: (keep) => own.sweep(keep),
  }
}

/** A context of which only the witness is ever asked. */
function bareContext(around: {
  readonly witness: WorkTreeWitness
  readonly folder: string
  readonly stateFolder: string
}): Context {
  const { witness, folder, stateFolder } = around
  const program = { version: '0.0.0', node: process.versions.node, platform: process.platform, stateFolder }
  const bare = {
    witness,
    folder,
    program,
    actor: nobody,
    clock: { now: () => Date.now() },
    fingerprint,
    ids: randomIds,
  }
  return { store: {}, commandApprovals: {}, commandRunner: {}, ...bare } as unknown as Context
}

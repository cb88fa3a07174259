import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { WorkTreeWitness } from '../../src/git/ports/work-tree.ts'
import type { WorkTree } from '../../src/kernel/operations/measurement-protocol.ts'
import type { Context } from '../../src/kernel/operations/operation.ts'
import { confinedWorkTree, rootsOf } from '../../src/remote/machine/confinement.ts'
import { type MeasuringContext, measureLocally } from '../../src/remote/machine/measure.ts'
import { RemoteCommands } from '../../src/remote/machine/remote-commands.ts'
import { TrustedCommands } from '../../src/remote/machine/trusted-commands.ts'
import { remoteContext } from '../../src/remote/operations/remote-context.ts'
import {
  MeasureRequest,
  RemoteMeasureRequired,
  SentMeasurement,
} from '../../src/remote/operations/remote-measurement.ts'
import { fingerprint } from '../../src/store/fingerprint.ts'
import { randomIds } from '../../src/store/random-ids.ts'

/** Whether what is tested is to go through a remote machine, though the test does not ask for it. */
export function isThroughMachine(): boolean {
  return process.env['WAYMARK_TEST_THROUGH'] === 'machine'
}

const nobody = { name: 'nobody', kind: 'agent', role: null, channel: 'stdio' } as const
const machine = { id: 'e-0123456789ab', name: 'the edge of the tests' }

export interface OfMachine {
  readonly patience?: number | undefined
  /** What the operation is asked with. */
  readonly input?: unknown
}

/** Runs a handler as a server does for a caller on another machine, and looks here at what it asks for. */
export async function throughMachine<Answer>(
  context: Context,
  called: string | undefined,
  work: (onMachine: Context) => Promise<Answer>,
  { patience = 20_000, input = {} }: OfMachine = {},
): Promise<{ readonly answer: Answer; readonly rounds: number }> {
  const id = randomUUID()
  const commands = new TrustedCommands({
    approvals: context.commandApprovals,
    runner: context.commandRunner,
    actor: context.actor,
    askPerson: async () => true,
    trustsServer: () => false,
    now: () => context.clock.now(),
  })
  const away = new RemoteCommands({ context, commands, patience, report: async () => undefined })
  const running: MeasuringContext = {
    ...confinedTo(context),
    commands,
    called,
    input,
    runCommand: (command) => away.run(command, { isWaitedFor: false }),
  }
  let measured: readonly SentMeasurement[] = []
  for (let rounds = 1; ; rounds += 1) {
    const onMachine = remoteContext(context, {
      machine,
      id,
      folder: context.folder,
      address: 'https://waymark.example/p/shop',
      measured,
    })
    try {
      return { answer: await work(onMachine), rounds }
    } catch (error) {
      if (!(error instanceof RemoteMeasureRequired)) throw error
      const request = MeasureRequest.parse(JSON.parse(JSON.stringify(error.request)))
      const more = JSON.parse(JSON.stringify(await measureLocally(request, running)))
      measured = [...measured, ...SentMeasurement.array().parse(more)]
    }
  }
}

/** A machine that runs no commands. */
function confinedTo(context: Context): MeasuringContext {
  const commands = new TrustedCommands({
    approvals: context.commandApprovals,
    runner: context.commandRunner,
    actor: context.actor,
    askPerson: null,
    trustsServer: () => false,
    now: () => context.clock.now(),
  })
  return {
    context,
    machine: machine.id,
    snapshots: () => [join(context.program.stateFolder, 'snapshots')],
    commands,
    called: undefined,
    input: {},
    named: new Set(),
    written: { done: false },
    now: () => context.clock.now(),
    runCommand: async () => null,
  }
}

/** A witness as a server may have its work tree measured: confined to the folder that it is asked about. */
export function confinedWitness(own: WorkTreeWitness, stateFolder: string): WorkTreeWitness {
  const at = async <Answer>(
    folder: string,
    ask: (witness: WorkTree['witness']) => Promise<Answer>,
  ): Promise<Answer> => {
    const context = bareContext({ witness: own, folder, stateFolder })
    const { witness } = confinedWorkTree({ ...confinedTo(context), roots: await rootsOf(context) })
    return ask(witness)
  }
  return {
    locate: (folder) => at(folder, (witness) => witness.locate(folder)),
    others: (folder) => at(folder, (witness) => witness.others(folder)),
    snapshot: (request) => at(request.top ?? request.folder, (witness) => witness.snapshot(request)),
    changes: (from, to) => at(from.top, (witness) => witness.changes(from, to)),
    lines: (from, to, request) => at(from.top, (witness) => witness.lines(from, to, request)),
    history: {
      file: (request) => at(request.folder, (witness) => witness.history.file(request)),
      blame: (request) => at(request.folder, (witness) => witness.history.blame(request)),
      commits: (folder, range, most) => at(folder, (witness) => witness.history.commits(folder, range, most)),
      files: (folder, rev, under) => at(folder, (witness) => witness.history.files(folder, rev, under)),
      landing: (request) => at(request.folder, (witness) => witness.history.landing(request)),
      hashes: (folder, oids, salt) => at(folder, (witness) => witness.history.hashes(folder, oids, salt)),
    },
    contents: {
      states: (place, paths) => at(place.top, (witness) => witness.contents.states(place, paths)),
      heldPaths: (from, place, paths) =>
        at(place.top, (witness) => witness.contents.heldPaths(from, place, paths)),
      read: (places, ids, most) =>
        at(places[0]?.top ?? '', (witness) => witness.contents.read(places, ids, most)),
    },
    branch: (request) => at(request.folder, (witness) => witness.branch(request)),
    linkTargets: (top, paths, since) => at(top, (witness) => witness.linkTargets(top, paths, since)),
    touchedPaths: (from, to) => at(from.top, (witness) => witness.touchedPaths(from, to)),
    lostFiles: (request) => at(request.now.top, (witness) => witness.lostFiles(request)),
    elsewhere: (place, since, past) => at(place.top, (witness) => witness.elsewhere(place, since, past)),
    changedSince: (place, time, request) =>
      at(place.top, (witness) => witness.changedSince(place, time, request)),
    unifiedDiff: (from, to, paths) => at(from.top, (witness) => witness.unifiedDiff(from, to, paths)),
    matching: (place, areas) => at(place.top, (witness) => witness.matching(place, areas)),
    overlapping: (place, areas, others) =>
      at(place.top, (witness) => witness.overlapping(place, areas, others)),
    packages: (place) => at(place.top, (witness) => witness.packages(place)),
    treeHash: (folder) => at(folder, (witness) => witness.treeHash(folder)),
    content: (folder) => at(folder, (witness) => witness.content(folder)),
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

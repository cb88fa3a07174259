import type { FileCopies, WorkTreeWitness } from '../../git/ports/work-tree.ts'
import type { Actor } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import type { Context, RemoteMachine } from '../../kernel/operations/operation.ts'
import type { Store } from '../../store/ports/store.ts'
import type { SnapshotLocation } from '../../track/domain/task.ts'
import { callIds } from './call-ids.ts'
import type { PortAnswerer } from './gather.ts'
import { remoteMeasurer, type SentMeasurement } from './remote-measurement.ts'

/** A call that comes from an edge: where its caller works, and what is known of the call there. */
export interface RemoteCall {
  readonly edge: RemoteMachine
  /** Names the call, and all that is sent for it again. */
  readonly id: string
  /** Absolute path of the folder that the connection works in, on the edge. */
  readonly folder: string
  /** How long ago the edge began to look, in milliseconds. */
  readonly age: number
  /** What the edge knows of where the record is. */
  readonly address: string
  /** What it measured for this call. */
  readonly measured: readonly SentMeasurement[]
}

/** The context of a call from an edge: the record is here, and everything else is looked at there. */
export function remoteContext(context: Context, gathering: PortAnswerer, call: RemoteCall): Context {
  const { edge, folder } = call
  const actor: Actor = { ...context.actor, edge: edge.id }
  const { processFiles } = context
  // Files are on the machine of the edge, and so is what its hooks tell.
  const { copies: _, drain: __, captureHealth: ___, ...here } = context
  return {
    ...here,
    actor,
    edge,
    folder,
    callKey: call.id,
    isContinued: call.measured.length > 0,
    measurer: remoteMeasurer(call.measured),
    store: withServerAddress(gathering.watched(context.store), call.address),
    // The same at each run, so that its calls are known again; and when it was looked, not when it is told.
    clock: { now: () => context.clock.now() - call.age },
    ids: callIds({ ...context, callKey: call.id }),
    settingNow: () => ({ at: context.clock.now(), ids: context.ids }),
    witness: machineWitness(gathering, edge, context.witness),
    linkedTrees: {
      bound: (place) => gathering.ask('linkedTrees.bound', [place]),
      list: (place) => gathering.ask('linkedTrees.list', [place]),
      add: (tree) => gathering.ask('linkedTrees.add', [tree]),
      losses: (place, tree) => gathering.ask('linkedTrees.losses', [place, { ...tree }]),
      remove: async (place, tree) => void (await gathering.ask('linkedTrees.remove', [place, { ...tree }])),
      discard: (place, tree) => gathering.ask('linkedTrees.discard', [place, { ...tree }]),
    },
    evidenceFiles: {
      read: () => Promise.reject(new Error('Files that are handed in are measured.')),
      freshness: (place, files) =>
        gathering.ask('evidenceFiles.freshness', [
          place,
          files.map(({ path, bytes, sha256, stamp }) => ({ path, bytes, sha256, stamp })),
        ]),
      contents: (place, paths) => gathering.ask('evidenceFiles.contents', [place, [...paths]]),
    },
    shownContents: {
      isKept: (content) => gathering.ask('shownContents.isKept', [content]),
      keep: async (content, { files, facts }) =>
        void (await gathering.ask('shownContents.keep', [
          content,
          { files: files.map((file) => ({ ...file })), facts },
        ])),
      since: (content, { files, facts }) =>
        gathering.ask('shownContents.since', [content, { files: files.map((file) => ({ ...file })), facts }]),
    },
    planFiles: { load: (file, format) => gathering.ask('planFiles.load', [file, format ?? null]) },
    processFiles: {
      list: async () => {
        const found = await gathering.ask('processFiles.list', [])
        return Promise.all(found.map((source) => processFiles.read(source)))
      },
      hasOwn: () => gathering.ask('processFiles.hasOwn', []),
      load: async (idOrFile) => processFiles.read(await gathering.ask('processFiles.load', [idOrFile])),
      read: (source) => processFiles.read(source),
    },
    copies: machineFileCopies(gathering, edge),
    ...commandsOn(context, gathering, edge),
  }
}

function machineFileCopies(gathering: PortAnswerer, edge: RemoteMachine): FileCopies {
  const isHere = (place: SnapshotLocation) => place.edge === edge.id
  return {
    // They were taken in there before anything was sent.
    keep: async (_, copies) => copies.map(() => null),
    contents: async (place, paths) => {
      const found = isHere(place) ? await gathering.ask('copies.contents', [place, [...paths]]) : []
      return new Map(found.map(([path, { id, changedAt }]) => [path, { id, changedAt }]))
    },
    amended: async (place, name, files) => {
      const amended = isHere(place) ? await gathering.ask('copies.amended', [place, name, [...files]]) : null
      return amended && { ...amended, edge: edge.id, machine: edge.name }
    },
    linesOf: async (place, steps) => {
      const sent = steps.map(({ by, before, after, reformats }) => ({
        by,
        before,
        after,
        ...(reformats && { reformats }),
      }))
      const lines = isHere(place) ? await gathering.ask('copies.linesOf', [place, sent]) : null
      return lines && new Map(lines)
    },
  }
}

/** The record as it is found from the edge: in a database of which nothing is said there. */
function withServerAddress(store: Store, address: string): Store {
  return {
    ...store,
    health: async () => {
      const { location, warnings, ...health } = await store.health()
      return {
        ...health,
        location: address,
        warnings: warnings.map((warning) => warning.replaceAll(location, 'of the server')),
      }
    },
  }
}

function machineWitness(gathering: PortAnswerer, edge: RemoteMachine, own: WorkTreeWitness): WorkTreeWitness {
  const isHere = (...places: readonly SnapshotLocation[]) => places.every((place) => place.edge === edge.id)
  return {
    locate: (folder) => gathering.ask('witness.locate', [folder]),
    others: (folder) => gathering.ask('witness.others', [folder]),
    snapshot: async (request) => {
      const { ref, ...taken } = await gathering.ask('witness.snapshot', [request])
      return { ...taken, ref: { ...ref, edge: edge.id, machine: edge.name } }
    },
    changes: async (from, to) => {
      if (isHere(from, to)) return gathering.ask('witness.changes', [from, to])
      const nothing = { added: [], modified: [], deleted: [] }
      const doubts = ['The two snapshots lie on different machines, so they could not be compared.']
      return {
        status: 'unknown',
        changes: [],
        ignored: nothing,
        headMoves: [],
        notes: [],
        doubts,
        unreadable: [],
      }
    },
    lines: async (from, to, { chains = [], ...wish }) => {
      if (!isHere(from, to)) return null
      const told = chains.map(({ path, contents }) => ({ path, contents: [...contents] }))
      return gathering.ask('witness.lines', [from, to, { ...wish, ...(told.length > 0 && { chains: told }) }])
    },
    history: {
      file: ({ text: _, ...request }) => gathering.ask('witness.file', [request]),
      blame: (request) => gathering.ask('witness.blame', [request]),
      commits: (folder, range, most) => gathering.ask('witness.commits', [folder, range, most]),
      files: (folder, rev, under) => gathering.ask('witness.files', [folder, rev, under]),
      hashes: (folder, oids, salt) => gathering.ask('witness.hashes', [folder, [...oids], salt]),
    },
    contents: {
      states: async (place, paths) => {
        const states = isHere(place) ? await gathering.ask('witness.states', [place, [...paths]]) : null
        return states && new Map(states)
      },
      read: async (places, ids, most) => {
        const here = places.filter((place) => isHere(place))
        if (here.length === 0 || ids.length === 0) return new Map()
        const contents = await gathering.ask('witness.contents', [here, [...ids], most])
        return new Map(
          contents.map(([id, size, base64]) => [
            id,
            { size, bytes: base64 === null ? null : bytesOf(base64) },
          ]),
        )
      },
    },
    branch: (request) => gathering.ask('witness.branch', [request]),
    touched: async (from, to) => (isHere(from, to) ? gathering.ask('witness.touched', [from, to]) : null),
    unifiedDiff: async (from, to, paths) =>
      isHere(from, to)
        ? gathering.ask('witness.unifiedDiff', [from, to, paths === undefined ? null : [...paths]])
        : null,
    matching: (place, areas) => gathering.ask('witness.matching', [place, [...areas]]),
    overlapping: (place, areas, others) =>
      gathering.ask('witness.overlapping', [
        place,
        [...areas],
        others.map((other) => ({ areas: [...other.areas], prefix: other.prefix })),
      ]),
    packages: async (place) => (isHere(place) ? gathering.ask('witness.packages', [place]) : []),
    treeHash: (folder) => gathering.ask('witness.treeHash', [folder]),
    content: (folder) => gathering.ask('witness.content', [folder]),
    settle: async () => undefined,
    // What lies on an edge is tidied up by the edge.
    sweep: (keep) => own.sweep(keep),
  }
}

function commandsOn(
  { commandApprovals, commandRunner, store, actor }: Context,
  gathering: PortAnswerer,
  edge: RemoteMachine,
): Pick<Context, 'commandApprovals' | 'commandRunner'> {
  const answered = gathering.watched(store)
  // What a person answered is in the record for every server of it; what was approved beside it, at this one.
  const isApproved = async (hash: string) => {
    const [hold] = await answered.view(({ holds }) => holds.answeredCommands([hash]))
    return hold ? hold.status === 'resolved' : commandApprovals.isApproved(hash)
  }
  const atServer = (what: string) => () =>
    Promise.reject(
      new Failure('INTERNAL', `A command of a call from ${edge.name} was ${what} at the server.`, {
        reason: 'command_at_server',
      }),
    )
  return {
    commandApprovals: {
      hashOf: (command) => gathering.ask('commandApprovals.hashOf', [pinnedCommand(command)]),
      filesOf: (command) => gathering.ask('commandApprovals.filesOf', [pinnedCommand(command)]),
      isApproved: async (hash) =>
        gathering.ask('commandApprovals.isApproved', [hash, await isApproved(hash)]),
      approve: atServer('approved'),
      list: (folders) => gathering.ask('commandApprovals.list', [[...folders]]),
      refuse: atServer('refused'),
      // A no counts wherever it was said.
      refusalOf: async (hash) =>
        (await gathering.ask('commandApprovals.refusalOf', [hash])) ?? commandApprovals.refusalOf(hash),
      refused: (folders) => gathering.ask('commandApprovals.refused', [[...folders]]),
      revoke: async (hash) => void (await gathering.ask('commandApprovals.revoke', [hash])),
    },
    commandRunner: {
      name: runnerOf(edge, actor),
      isAlive: (runner) => commandRunner.isAlive(runner),
      start: atServer('started'),
      stop: async () => undefined,
    },
  }
}

/** A machine with the token that it came with: another token does not end what this one began. */
function runnerOf({ id }: RemoteMachine, { token, identity }: Actor): string {
  return `edge:${id} ${token ?? identity ?? ''}`.trimEnd()
}

function pinnedCommand({ run, folder, pinned }: { run: string; folder: string; pinned: readonly string[] }) {
  return { run, folder, pinned: [...pinned] }
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

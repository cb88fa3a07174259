import type { Actor } from '../../kernel/actor.ts'
import type { Context, RemoteMachine } from '../../kernel/operations/operation.ts'
import type { Store } from '../../store/ports/store.ts'
import { remoteMeasurer, type SentMeasurement } from './remote-measurement.ts'

/** A call from a remote machine: the folder of its caller and the data measured there. */
export interface RemoteCall {
  readonly machine: RemoteMachine
  /** The key of the call, the same in each retry. */
  readonly id: string
  /** Absolute path of the folder that the connection works in, on the remote machine. */
  readonly folder: string
  /** The server's address, as the remote machine uses it. */
  readonly address: string
  /** Its measurements for this call. */
  readonly measured: readonly SentMeasurement[]
}

/** The context of a call from a remote machine: the record is here, and files are measured there. */
export function remoteContext(context: Context, call: RemoteCall): Context {
  const { machine, folder } = call
  const actor: Actor = { ...context.actor, machine: machine.id }
  const { processFiles, commandRunner, witness } = context
  // Hooks and setup write on the remote machine.
  const { copies: _, ingest: __, captureHealth: ___, setupFiles: ____, ...here } = context
  return {
    ...here,
    actor,
    machine,
    folder,
    callKey: call.id,
    isContinued: call.measured.length > 0,
    measurer: remoteMeasurer(call.measured),
    store: withServerAddress(context.store, call.address),
    // The remote machine removes its own files.
    witness: elsewhere<Context['witness']>('witness', { sweep: (keep) => witness.sweep(keep) }),
    linkedTrees: elsewhere('linkedTrees'),
    workUndo: elsewhere('workUndo'),
    workRestore: elsewhere('workRestore'),
    evidenceFiles: elsewhere('evidenceFiles'),
    shownContents: elsewhere('shownContents'),
    planFiles: elsewhere('planFiles'),
    processFiles: elsewhere<Context['processFiles']>('processFiles', {
      read: (source) => processFiles.read(source),
    }),
    commandApprovals: elsewhere('commandApprovals'),
    commandRunner: {
      name: runnerOf(machine, actor),
      isAlive: (runner) => commandRunner.isAlive(runner),
      start: () =>
        Promise.reject(new Error(`A command of a call from ${machine.name} was started at the server.`)),
      stop: async () => undefined,
    },
  }
}

/** A port for files that are on the remote machine: only the given methods work here. */
function elsewhere<Port extends object>(port: string, given: Partial<Port> = {}): Port {
  return new Proxy(given as Port, {
    get: (own, method) => {
      if (Object.hasOwn(own, method)) return Reflect.get(own, method)
      throw new Error(`${port}.${String(method)} was used for a call whose files are on another machine.`)
    },
  })
}

/** The location of the record as the remote machine may see it, without the database. */
function withServerAddress(store: Store, address: string): Store {
  const health: Store['health'] = async () => {
    const { location, warnings, ...rest } = await store.health()
    return {
      ...rest,
      location: address,
      warnings: warnings.map((warning) => warning.replaceAll(location, 'of the server')),
    }
  }
  return new Proxy(store, {
    get: (own, name) => {
      if (name === 'health') return health
      const value: unknown = Reflect.get(own, name)
      return typeof value === 'function' ? value.bind(own) : value
    },
  })
}

/** A machine with its current token: another token cannot end a command that this one started. */
function runnerOf({ id }: RemoteMachine, { token, identity }: Actor): string {
  return `machine:${id} ${token ?? identity ?? ''}`.trimEnd()
}

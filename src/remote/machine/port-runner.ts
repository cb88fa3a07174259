import { Failure, messageOf } from '../../kernel/failure.ts'
import {
  type ArgsOf,
  isPortCall,
  type PortCall,
  type PortCallName,
  type PortCallResult,
  type PortRequest,
  portCalls,
} from '../operations/port-calls.ts'
import type { SentFailure } from '../operations/remote-measurement.ts'
import {
  type ConfinedContext as ConfinedTo,
  confinedWorkTree,
  namedTask,
  namedTree,
  resolveContained,
  resolveNeighbor,
  rootsOf,
} from './confinement.ts'

/** What a server's calls are run with, on this machine. */
export interface PortContext extends Omit<ConfinedTo, 'roots'> {
  /** The operation that a person or agent here called. */
  readonly asked: string | undefined
  /** What the server may ask for that operation. */
  readonly looks: readonly PortCallName[]
  /** Whether something was written for the call. */
  readonly written: { done: boolean }
}

/** Runs the calls that a server asks for: those of the table, inside the project's root. What is refused is said. */
export async function runCalls(
  requests: readonly PortRequest[],
  running: PortContext,
): Promise<readonly PortCallResult[]> {
  const roots = await rootsOf(running.context)
  return Promise.all(requests.map((request) => runCall(request, { ...running, roots })))
}

type ConfinedPortContext = PortContext & ConfinedTo

async function runCall(request: PortRequest, running: ConfinedPortContext): Promise<PortCallResult> {
  try {
    return { ...request, answer: (await answerOf(request, running)) ?? null }
  } catch (error) {
    return { ...request, failure: sentFailure(error) }
  }
}

/** What became of a measurement that failed, as it is sent. */
export function sentFailure(error: unknown): SentFailure {
  const { code, reason, hint, fix, details } =
    error instanceof Failure
      ? error
      : new Failure('INTERNAL', messageOf(error), { reason: 'unexpected_error' })
  return {
    code: sentCodes.find((known) => known === code) ?? 'INTERNAL',
    message: messageOf(error),
    ...(reason !== null && { reason }),
    ...(hint !== undefined && { hint }),
    ...(fix !== null && { fix: { operation: fix.operation, input: { ...fix.input } } }),
    ...(details !== undefined && { details }),
  }
}

const sentCodes = [
  'INVALID_INPUT',
  'NOT_FOUND',
  'CONFLICT',
  'REFUSED',
  'FORBIDDEN',
  'UNAVAILABLE',
  'INTERNAL',
  'PROCESS_NOT_FOUND',
] as const

async function answerOf({ call, args }: PortRequest, running: ConfinedPortContext): Promise<unknown> {
  if (!isPortCall(call)) {
    throw portForbidden('unknown_call', `The server asked for "${call.slice(0, 100)}", which no server may.`)
  }
  const known: PortCall = portCalls[call]
  const read = known.args.safeParse(args)
  if (!read.success) {
    throw portForbidden('unknown_call', `The server asked for ${call} in a way that is not understood.`)
  }
  if (!running.looks.includes(call)) {
    throw portForbidden(
      'not_asked_here',
      `The server asked for ${call}, which nobody on this machine asked it for.`,
    )
  }
  return table(running)[call](read.data as never) // as the schema of the call read it
}

function portForbidden(reason: string, message: string): Failure {
  return new Failure('FORBIDDEN', message, { reason, details: { reason } })
}

type PortHandlers = { readonly [Name in PortCallName]: (args: ArgsOf<Name>) => unknown }

/** The whole of what is ever done for a server. */
function table(running: ConfinedPortContext): PortHandlers {
  const { context, commands } = running
  const { linkedTrees, commandApprovals } = context
  const workTree = confinedWorkTree(running)
  const { witness, copies, evidenceFiles, shownContents, processFiles, planFiles } = workTree
  const { history, contents } = witness
  const folder = (path: string) => resolveContained(path, running)
  return {
    'witness.locate': ([path]) => witness.locate(path),
    'witness.others': ([path]) => witness.others(path),
    'witness.snapshot': ([request]) => witness.snapshot(request),
    'witness.changes': ([from, to]) => witness.changes(from, to),
    'witness.lines': ([from, to, wish]) => witness.lines(from, to, wish),
    'witness.file': ([request]) => history.file({ ...request, text: false }),
    'witness.blame': ([request]) => history.blame(request),
    'witness.commits': ([path, range, most]) => history.commits(path, range, most),
    'witness.files': ([path, rev, under]) => history.files(path, rev, under),
    'witness.hashes': ([path, oids, salt]) => history.hashes(path, oids, salt),
    'witness.branch': ([request]) => witness.branch(request),
    'witness.states': async ([one, paths]) => {
      const states = await contents.states(one, paths)
      return states && [...states]
    },
    'witness.contents': async ([places, ids, most]) => {
      const kept = await contents.read(places, ids, most)
      return [...kept].map(([id, { bytes, size }]) => [
        id,
        size,
        bytes && Buffer.from(bytes).toString('base64'),
      ])
    },
    'witness.touched': ([from, to]) => witness.touched(from, to),
    'witness.unifiedDiff': ([from, to, paths]) => witness.unifiedDiff(from, to, paths ?? undefined),
    'witness.matching': ([one, areas]) => witness.matching(one, areas),
    'witness.overlapping': ([one, areas, others]) => witness.overlapping(one, areas, others),
    'witness.packages': ([one]) => witness.packages(one),
    'witness.treeHash': ([path]) => witness.treeHash(path),
    'witness.content': ([path]) => witness.content(path),
    'copies.contents': async ([one, paths]) => {
      const found = await copies?.contents(one, paths)
      return [...(found ?? [])].map(([path, { id, changedAt }]) => [
        path,
        { ...(id !== undefined && { id }), changedAt },
      ])
    },
    'copies.amended': ([one, name, files]) => copies?.amended(one, name, new Map(files)),
    'copies.linesOf': async ([one, steps]) => {
      const lines = await copies?.linesOf(one, steps)
      return lines && [...lines]
    },
    'linkedTrees.bound': ([path]) => workTree.linkedTrees.bound(path),
    'linkedTrees.list': ([path]) => workTree.linkedTrees.list(path),
    'linkedTrees.add': ([tree]) =>
      linkedTrees.add({
        ...tree,
        taskId: namedTask(tree.taskId, running),
        folder: folder(tree.folder),
        path: resolveNeighbor(tree.path, running),
      }),
    'linkedTrees.remove': async ([path, tree]) =>
      linkedTrees.remove(folder(path), await namedTree(folder(path), tree, running)),
    'linkedTrees.losses': ([path, tree]) => workTree.linkedTrees.losses(path, tree),
    'linkedTrees.discard': async ([path, tree]) =>
      linkedTrees.discard(folder(path), await namedTree(folder(path), tree, running)),
    'evidenceFiles.freshness': ([path, files]) => evidenceFiles.freshness(path, files),
    'evidenceFiles.contents': ([path, paths]) => evidenceFiles.contents(path, paths),
    'shownContents.isKept': ([content]) => shownContents.isKept(content),
    'shownContents.keep': ([content, parts]) => shownContents.keep(content, parts),
    'shownContents.since': ([content, parts]) => shownContents.since(content, parts),
    'planFiles.load': ([file, format]) => planFiles.load(file, format ?? undefined),
    'processFiles.list': async () => (await processFiles.list()).map(sourceOf),
    'processFiles.hasOwn': () => processFiles.hasOwn(),
    'processFiles.load': async ([idOrFile]) => sourceOf(await processFiles.load(idOrFile)),
    'commandApprovals.hashOf': ([command]) => workTree.commandApprovals.hashOf(command),
    'commandApprovals.filesOf': ([command]) => workTree.commandApprovals.filesOf(command),
    'commandApprovals.isApproved': ([hash, approvedThere]) => commands.isApproved(hash, approvedThere),
    'commandApprovals.list': ([folders]) => workTree.commandApprovals.list(folders),
    'commandApprovals.refusalOf': ([hash]) => commandApprovals.refusalOf(hash),
    'commandApprovals.refused': ([folders]) => workTree.commandApprovals.refused(folders),
    'commandApprovals.revoke': ([hash]) => commandApprovals.revoke(hash),
  }
}

function sourceOf({
  file,
  origin,
  id,
  text,
}: {
  file: string
  origin: 'project' | 'shipped' | 'file'
  id: string
  text: string
}) {
  return { file, origin, id, text }
}

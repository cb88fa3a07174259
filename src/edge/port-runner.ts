import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { Failure, messageOf } from '../domain/failure.ts'
import type { SnapshotPlace } from '../domain/track/task.ts'
import {
  type ArgsOf,
  type GatheredCall,
  isPortCall,
  type PortCall,
  type PortCallName,
  type PortRequest,
  portCalls,
} from '../operations/edge/port-calls.ts'
import type { Context } from '../operations/operation.ts'
import type { CommandEnd } from '../ports/command-runner.ts'
import type { TrustedCommands } from './trusted-commands.ts'

/** What a server's calls are run with, on this machine. */
export interface PortRunning {
  /** This machine's own ports. */
  readonly context: Context
  /** This edge's id. */
  readonly edge: string
  /** Below it this project's snapshots lie. */
  readonly snapshots: () => string
  /** Decides which commands of the server run here. */
  readonly commands: TrustedCommands
  /** The operation that this machine's user asked for; undefined where the server decides which. */
  readonly asked: string | undefined
  /** Runs a command that was approved; null where it goes on when the call is answered. */
  readonly runCommand: (command: StartArgs) => Promise<CommandEnd | null>
}

export type StartArgs = ArgsOf<'commandRunner.start'>[0]

/** Runs the calls that a server asks for: those of the table, inside the project's root. What is refused is said. */
export async function runCalls(
  requests: readonly PortRequest[],
  running: PortRunning,
): Promise<readonly GatheredCall[]> {
  const roots = await rootsOf(running.context)
  return Promise.all(requests.map((request) => runCall(request, { ...running, roots })))
}

interface Confined extends PortRunning {
  readonly roots: readonly string[]
}

async function runCall(request: PortRequest, running: Confined): Promise<GatheredCall> {
  try {
    return { ...request, answer: (await answerOf(request, running)) ?? null }
  } catch (error) {
    const { code, hint, details } =
      error instanceof Failure ? error : new Failure('INTERNAL', messageOf(error))
    const told = toldCodes.find((known) => known === code) ?? 'INTERNAL'
    const failure = {
      code: told,
      message: messageOf(error),
      ...(hint !== undefined && { hint }),
      ...(details !== undefined && { details }),
    }
    return { ...request, failure }
  }
}

const toldCodes = [
  'INVALID_INPUT',
  'NOT_FOUND',
  'CONFLICT',
  'REFUSED',
  'FORBIDDEN',
  'UNAVAILABLE',
  'INTERNAL',
] as const

async function answerOf({ call, args }: PortRequest, running: Confined): Promise<unknown> {
  if (!isPortCall(call)) {
    throw forbidden('unknown_call', `The server asked for "${call.slice(0, 100)}", which no server may.`)
  }
  const known: PortCall = portCalls[call]
  const read = known.args.safeParse(args)
  if (!read.success) {
    throw forbidden('unknown_call', `The server asked for ${call} in a way that is not understood.`)
  }
  if (known.during && !known.during.includes(running.asked ?? '')) {
    throw forbidden(
      'not_asked_here',
      `The server asked for ${call}, which nobody on this machine asked it for.`,
    )
  }
  return table(running)[call](read.data as never) // as the schema of the call read it
}

function forbidden(reason: string, message: string): Failure {
  return new Failure('FORBIDDEN', message, { details: { reason } })
}

type Table = { readonly [Name in PortCallName]: (args: ArgsOf<Name>) => unknown }

/** The whole of what is ever done for a server. */
function table(running: Confined): Table {
  const { context, commands } = running
  const { witness, linkedTrees, evidenceFiles, shownContents, planFiles, processFiles } = context
  const { commandApprovals, copies } = context
  const folder = (path: string) => inside(path, running)
  const place = (one: SnapshotPlace) => ownSnapshot(one, running)
  return {
    'witness.locate': ([path]) => witness.locate(folder(path)),
    'witness.others': ([path]) => witness.others(folder(path)),
    'witness.snapshot': ([request]) =>
      witness.snapshot({
        ...request,
        folder: folder(request.folder),
        ...(request.top !== undefined && { top: folder(request.top) }),
      }),
    'witness.changes': ([from, to]) => witness.changes(place(from), place(to)),
    'witness.lines': ([from, to, wish]) => witness.lines(place(from), place(to), wish),
    'witness.file': ([request]) =>
      // The text of a line stays where the file is.
      witness.history.file({ ...request, folder: folder(request.folder), text: false }),
    'witness.blame': ([request]) => witness.history.blame({ ...request, folder: folder(request.folder) }),
    'witness.commits': ([path, range, most]) => witness.history.commits(folder(path), range, most),
    'witness.files': ([path, rev, under]) => witness.history.files(folder(path), rev, under),
    'witness.hashes': ([path, oids, salt]) => witness.history.hashes(folder(path), oids, salt),
    'witness.branch': ([request]) => witness.branch({ ...request, folder: folder(request.folder) }),
    'witness.states': async ([one, paths]) => {
      const states = await witness.contents.states(place(one), paths)
      return states && [...states]
    },
    'witness.contents': async ([places, ids, most]) => {
      const contents = await witness.contents.read(places.map(place), ids, most)
      return [...contents].map(([id, { bytes, size }]) => [
        id,
        size,
        bytes && Buffer.from(bytes).toString('base64'),
      ])
    },
    'witness.touched': ([from, to]) => witness.touched(place(from), place(to)),
    'witness.unifiedDiff': ([from, to, paths]) =>
      witness.unifiedDiff(place(from), place(to), paths ?? undefined),
    'witness.wholeDiff': ([from, to, most]) => witness.wholeDiff(place(from), place(to), most),
    'witness.matching': ([one, areas]) => witness.matching(place(one), areas),
    'witness.overlapping': ([one, areas, others]) => witness.overlapping(place(one), areas, others),
    'witness.packages': ([one]) => witness.packages(place(one)),
    'witness.treeHash': ([path]) => witness.treeHash(folder(path)),
    'witness.content': ([path]) => witness.content(folder(path)),
    'copies.contents': async ([one, paths]) => {
      const found = await copies?.contents(place(one), paths)
      return [...(found ?? [])].map(([path, { id, changedAt }]) => [
        path,
        { ...(id !== undefined && { id }), changedAt },
      ])
    },
    'copies.amended': ([one, name, files]) => copies?.amended(place(one), name, new Map(files)),
    'copies.linesOf': async ([one, steps]) => {
      const lines = await copies?.linesOf(place(one), steps)
      return lines && [...lines]
    },
    'linkedTrees.bound': ([path]) => linkedTrees.bound(folder(path)),
    'linkedTrees.list': ([path]) => linkedTrees.list(folder(path)),
    'linkedTrees.add': ([tree]) =>
      linkedTrees.add({ ...tree, folder: folder(tree.folder), path: beside(tree.path, running) }),
    'linkedTrees.remove': ([path, tree]) =>
      linkedTrees.remove(folder(path), { ...tree, path: folder(tree.path) }),
    'linkedTrees.losses': ([path, tree]) =>
      linkedTrees.losses(folder(path), { ...tree, path: folder(tree.path) }),
    'linkedTrees.discard': ([path, tree]) =>
      linkedTrees.discard(folder(path), { ...tree, path: folder(tree.path) }),
    'evidenceFiles.read': ([path, paths]) => evidenceFiles.read(folder(path), paths),
    'evidenceFiles.freshness': ([path, files]) => evidenceFiles.freshness(folder(path), files),
    'evidenceFiles.contents': ([path, paths]) => evidenceFiles.contents(folder(path), paths),
    'shownContents.isKept': ([content]) => shownContents.isKept(content),
    'shownContents.keep': ([content, parts]) => shownContents.keep(content, parts),
    'shownContents.since': ([content, parts]) => shownContents.since(content, parts),
    'planFiles.load': ([file, format]) => planFiles.load(file, format ?? undefined),
    'processFiles.list': async () => (await processFiles.list()).map(sourceOf),
    'processFiles.hasOwn': () => processFiles.hasOwn(),
    'processFiles.load': async ([idOrFile]) => sourceOf(await processFiles.load(idOrFile)),
    'commandApprovals.hashOf': ([command]) =>
      commandApprovals.hashOf({ ...command, folder: folder(command.folder) }),
    'commandApprovals.filesOf': ([command]) =>
      commandApprovals.filesOf({ ...command, folder: folder(command.folder) }),
    'commandApprovals.isApproved': ([hash, approvedThere]) => commands.isApproved(hash, approvedThere),
    'commandApprovals.approve': ([{ run, folder: place, pinned, hash }]) =>
      commands.approve({ run, folder: folder(place), pinned }, hash),
    'commandApprovals.list': ([folders]) => commandApprovals.list(folders.map(folder)),
    'commandApprovals.refuse': ([refusal]) => commands.refuse({ ...refusal, folder: folder(refusal.folder) }),
    'commandApprovals.refusalOf': ([hash]) => commandApprovals.refusalOf(hash),
    'commandApprovals.refused': ([folders]) => commandApprovals.refused(folders.map(folder)),
    'commandApprovals.revoke': ([hash]) => commandApprovals.revoke(hash),
    'commandRunner.start': ([command]) => started(command, running),
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

async function started(command: StartArgs, running: Confined): Promise<unknown> {
  const end = await running.runCommand({ ...command, folder: inside(command.folder, running) })
  return end ?? { status: 'running', exitCode: null, output: '' }
}

/** The project's folder, and every work tree of its repository. */
async function rootsOf({ witness, folder }: Context): Promise<readonly string[]> {
  const found = await witness.locate(folder).catch(() => null)
  const others = found?.engine === 'git' ? await witness.others(folder).catch(() => []) : []
  return [...new Set([folder, ...(found ? [found.top, found.mainTop] : []), ...others].map(realOf))]
}

function inside(path: string, { roots, context }: Confined): string {
  const real = realOf(resolve(context.folder, path))
  if (roots.some((root) => lies(real, root))) return resolve(context.folder, path)
  throw forbidden(
    'outside_project',
    `The server asked for ${path.slice(0, 200)}, which lies outside the project.`,
  )
}

/** A new work tree lies in the project, or beside its main one under a name that begins with that one's. */
function beside(path: string, running: Confined): string {
  const real = realOf(path)
  const isNeighbour = running.roots.some(
    (root) => dirname(real) === dirname(root) && basename(real).startsWith(`${basename(root)}-`),
  )
  return isNeighbour ? path : inside(path, running)
}

function ownSnapshot(
  { edge, engine, directory, top, prefix, id }: SnapshotPlace,
  running: Confined,
): SnapshotPlace {
  const place = { engine, directory, top, prefix, id }
  const kept = running.snapshots()
  if (edge !== undefined && edge !== running.edge) {
    throw forbidden('other_machine', `The server asked for a snapshot of ${edge}, which is another machine.`)
  }
  if (!lies(realOf(place.directory), realOf(kept))) {
    throw forbidden(
      'no_snapshot',
      `The server asked for ${place.directory.slice(0, 200)}, which is no snapshot.`,
    )
  }
  inside(place.top, running)
  return place
}

function lies(path: string, root: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** What a path leads to, though its last parts need not exist yet. */
function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realOf(parent), basename(path))
  }
}

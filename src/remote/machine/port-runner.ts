import { basename, dirname, resolve } from 'node:path'
import type { CommandEnd, PinnedCommand } from '../../gate/ports/command-runner.ts'
import { Failure, messageOf } from '../../kernel/failure.ts'
import { containedPath, reachedPath } from '../../kernel/files/contained.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import { isSecretFile } from '../../kernel/secret-files.ts'
import type { SnapshotPlace } from '../../track/domain/task.ts'
import {
  type ArgsOf,
  type GatheredCall,
  isPortCall,
  type PortCall,
  type PortCallName,
  type PortRequest,
  portCalls,
} from '../operations/port-calls.ts'
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
  /** What they asked it with: a file that is read by its path is one that is named there. */
  readonly input: unknown
  /** The contents of readable files that were named to the server during this call: only these may it ask for by id. */
  readonly named: Set<string>
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
    const { code, reason, hint, details } =
      error instanceof Failure
        ? error
        : new Failure('INTERNAL', messageOf(error), { reason: 'unexpected_error' })
    const told = toldCodes.find((known) => known === code) ?? 'INTERNAL'
    const failure = {
      code: told,
      message: messageOf(error),
      ...(reason !== null && { reason }),
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
  if (silent.includes(running.asked ?? '')) {
    throw forbidden('not_asked_here', `The server asked for ${call} when it was only told something.`)
  }
  return table(running)[call](read.data as never) // as the schema of the call read it
}

/** What this machine tells by itself: nothing is measured for it. */
const silent: readonly string[] = ['command_renew', 'command_end', 'edge_brief']

function forbidden(reason: string, message: string): Failure {
  return new Failure('FORBIDDEN', message, { reason, details: { reason } })
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
      witness.history.file({ ...noSecret(request), folder: folder(request.folder), text: false }),
    'witness.blame': async ([request]) => {
      const blamed = await witness.history.blame({ ...noSecret(request), folder: folder(request.folder) })
      for (const [, path, oid] of blamed.contents) nameContent(path, oid, running)
      return blamed
    },
    'witness.commits': ([path, range, most]) => witness.history.commits(folder(path), range, most),
    'witness.files': ([path, rev, under]) => witness.history.files(folder(path), rev, under),
    'witness.hashes': ([path, oids, salt]) => {
      const named = oids.filter((oid) => running.named.has(oid))
      return witness.history.hashes(folder(path), named, salt)
    },
    'witness.branch': ([request]) => witness.branch({ ...request, folder: folder(request.folder) }),
    'witness.states': async ([one, paths]) => {
      const states = await witness.contents.states(place(one), paths)
      for (const [path, state] of states ?? []) nameContent(path, state?.id ?? null, running)
      return states && [...states]
    },
    'witness.contents': async ([places, ids, most]) => {
      const own = places.map(place)
      const named = ids.filter((id) => running.named.has(id))
      const others = ids.filter((id) => !running.named.has(id))
      const [asNamed, kept] = [
        await witness.contents.read(own, named, most),
        await witness.contents.read(own, others, most, 'kept'),
      ]
      return [...asNamed, ...kept].map(([id, { bytes, size }]) => [
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
      linkedTrees.add({
        ...tree,
        taskId: namedTask(tree.taskId, running),
        folder: folder(tree.folder),
        path: beside(tree.path, running),
      }),
    'linkedTrees.remove': async ([path, tree]) =>
      linkedTrees.remove(folder(path), await namedTree(folder(path), tree, running)),
    'linkedTrees.losses': async ([path, tree]) =>
      linkedTrees.losses(folder(path), await ownTree(folder(path), tree, running)),
    'linkedTrees.discard': async ([path, tree]) =>
      linkedTrees.discard(folder(path), await namedTree(folder(path), tree, running)),
    'evidenceFiles.read': ([path, paths]) => {
      for (const one of paths) assertNamed(one, running)
      return evidenceFiles.read(folder(path), paths)
    },
    'evidenceFiles.freshness': ([path, files]) => evidenceFiles.freshness(folder(path), files),
    'evidenceFiles.contents': ([path, paths]) => evidenceFiles.contents(folder(path), paths),
    'shownContents.isKept': ([content]) => shownContents.isKept(shownBy(content, running)),
    'shownContents.keep': ([content, parts]) => shownContents.keep(shownBy(content, running), parts),
    'shownContents.since': ([content, parts]) => shownContents.since(shownBy(content, running), parts),
    'planFiles.load': ([file, format]) => {
      assertNamed(file, running)
      return planFiles.load(readable(file, running), format ?? undefined)
    },
    'processFiles.list': async () =>
      (await processFiles.list()).filter((process) => isReadableProcess(process, running)).map(sourceOf),
    'processFiles.hasOwn': () => processFiles.hasOwn(),
    'processFiles.load': async ([idOrFile]) => {
      if (!processId.test(idOrFile)) {
        assertNamed(idOrFile, running)
        readable(idOrFile, running)
      }
      const process = await processFiles.load(idOrFile)
      if (!isReadableProcess(process, running)) throw unreadable(process.file)
      return sourceOf(process)
    },
    'commandApprovals.hashOf': ([command]) => commandApprovals.hashOf(confinedCommand(command, running)),
    'commandApprovals.filesOf': ([command]) => commandApprovals.filesOf(confinedCommand(command, running)),
    'commandApprovals.isApproved': ([hash, approvedThere]) => commands.isApproved(hash, approvedThere),
    'commandApprovals.approve': ([{ run, folder: place, pinned, hash }]) =>
      commands.approve(confinedCommand({ run, folder: place, pinned }, running), hash),
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
  const end = await running.runCommand({
    ...command,
    folder: confinedCommand(command, running).folder,
  })
  return end ?? { status: 'running', exitCode: null, output: '' }
}

/** The project's folder, and every work tree of its repository. */
async function rootsOf({ witness, folder }: Context): Promise<readonly string[]> {
  const found = await witness.locate(folder).catch(() => null)
  const others = found?.engine === 'git' ? await witness.others(folder).catch(() => []) : []
  return [...new Set([folder, ...(found ? [found.top, found.mainTop] : []), ...others])]
}

/** Measuring looks into files that are secret by their name as well: no content of theirs leaves it. */
const measuring = { missing: 'allowed', secrets: 'allowed' } as const

function inside(path: string, { roots, context }: Confined): string {
  const named = resolve(context.folder, path)
  if (roots.some((root) => !('reason' in containedPath(root, named, measuring)))) return named
  throw forbidden(
    'outside_project',
    `The server asked for ${path.slice(0, 200)}, which lies outside the project.`,
  )
}

/** Pinned files count from the command's folder, and lie in the project. */
function confinedCommand<Command extends PinnedCommand>(
  { run, folder, pinned }: Command,
  running: Confined,
): PinnedCommand {
  const place = inside(folder, running)
  for (const path of pinned) inside(resolve(place, path), running)
  return { run, folder: place, pinned }
}

/** Fails where a person or agent here did not name this very path in the call. */
function assertNamed(path: string, { input }: Confined): void {
  if (textsIn(input).includes(path)) return
  throw forbidden(
    'not_named_here',
    `The server asked for the content of ${path.slice(0, 200)}, which nobody on this machine named.`,
  )
}

/** A task that the call names: people shorten ids. */
function namedTask(taskId: string, { input }: Confined): string {
  if (textsIn(input).some((text) => text.length >= 3 && taskId.startsWith(text))) return taskId
  throw forbidden(
    'not_named_here',
    `The server asked for the work tree of ${taskId.slice(0, 100)}, which nobody on this machine named.`,
  )
}

/** A work tree as git lists it here: the server chooses neither its branch nor the task that it is for. */
async function ownTree(folder: string, { path }: { readonly path: string }, { context }: Confined) {
  const tree = (await context.linkedTrees.list(folder)).find((one) => one.path === path)
  if (tree) return tree
  throw forbidden(
    'outside_project',
    `The server asked for ${path.slice(0, 200)}, which is no work tree here.`,
  )
}

/** The same of the task that the call names. */
async function namedTree(folder: string, asked: { readonly path: string }, running: Confined) {
  const tree = await ownTree(folder, asked, running)
  namedTask(tree.taskId ?? '', running)
  return tree
}

/** What this server had shown here, and nothing that another one had. */
function shownBy(content: string, { edge }: Confined): string {
  return `${edge}-${content}`
}

/** Every text of a call's input. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** The id of a process, which is no path. */
const processId = /^[A-Za-z0-9][\w-]{0,200}$/

/** A file of the project whose content may leave this machine. */
function readable(path: string, { context }: Confined): string {
  if ('reason' in containedPath(context.folder, path)) throw unreadable(path)
  return path
}

function isReadableProcess(
  { origin, file }: { readonly origin: string; readonly file: string },
  { context }: Confined,
): boolean {
  return origin === 'shipped' || !('reason' in containedPath(context.folder, file))
}

/** From now on the server may ask for this content by its id, unless its file may hold secrets. */
function nameContent(path: string, id: string | null, { named }: Confined): void {
  if (id !== null && !isSecretFile(path)) named.add(id)
}

function noSecret<Request extends { readonly path: string }>(request: Request): Request {
  if (isSecretFile(request.path)) throw unreadable(request.path)
  return request
}

function unreadable(path: string): Failure {
  return forbidden(
    'unreadable_file',
    `The server asked for ${path.slice(0, 200)}, which is outside the project, of git, or may hold secrets.`,
  )
}

/** A new work tree lies in the project, or beside its main one under a name that begins with that one's. */
function beside(path: string, running: Confined): string {
  const named = resolve(running.context.folder, path)
  const real = reachedPath(named)
  const isNeighbour = running.roots.some((root) => {
    const reached = reachedPath(root)
    return (
      typeof real === 'string' &&
      typeof reached === 'string' &&
      dirname(real) === dirname(reached) &&
      basename(real).startsWith(`${basename(reached)}-`)
    )
  })
  return isNeighbour ? named : inside(named, running)
}

const keptHere = { missing: 'allowed', secrets: 'allowed', git: 'allowed' } as const

function ownSnapshot(
  { edge, engine, directory, top, prefix, id }: SnapshotPlace,
  running: Confined,
): SnapshotPlace {
  const place = { engine, directory, top, prefix, id }
  if (edge !== undefined && edge !== running.edge) {
    throw forbidden('other_machine', `The server asked for a snapshot of ${edge}, which is another machine.`)
  }
  if ('reason' in containedPath(running.snapshots(), directory, keptHere)) {
    throw forbidden('no_snapshot', `The server asked for ${directory.slice(0, 200)}, which is no snapshot.`)
  }
  inside(top, running)
  return place
}

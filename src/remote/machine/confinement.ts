import { basename, dirname, resolve } from 'node:path'
import type { ContentDifference, ContentParts } from '../../gate/domain/approved-content.ts'
import type { PinnedCommand, RemoteRunner } from '../../gate/ports/command-runner.ts'
import type { RestoreRequest, UndoRequest } from '../../git/ports/work-tree.ts'
import type { Actor } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import { containedPath, reachedPath } from '../../kernel/files/contained-file.ts'
import type { WorkTree, WritableWorkTree } from '../../kernel/operations/measurement-protocol.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import { isSecretFile } from '../../kernel/secret-files.ts'
import type { LoadedPlan, LoadedProcess } from '../../project/ports/project-files.ts'
import type { SnapshotLocation } from '../../track/domain/task.ts'
import type { TrustedCommands } from './trusted-commands.ts'

/** The limits of a server's measurements on this machine. */
export interface ConfinedContext {
  /** This machine's own ports. */
  readonly context: Context
  /** This machine's id. */
  readonly machine: string
  /** The folders of this project's snapshots: each of these work trees has its own. */
  readonly snapshots: (workTrees: readonly string[]) => readonly string[]
  /** Decides which commands of the server run here. */
  readonly commands: TrustedCommands
  /** Runs those that are approved. */
  readonly runCommand: RemoteRunner['run']
  /** The input of the operation here: the server may only read files that it names. */
  readonly input: unknown
  readonly roots: readonly string[]
  /** Content ids of readable files sent to the server in this call: it may request only these. */
  readonly named: Set<string>
  /** By the clock of the server. */
  readonly now: () => number
}

/** A work tree for a server's measurements: inside the project, without files that may hold secrets. */
export function confinedWorkTree(confined: ConfinedContext): WorkTree {
  const { context, commands } = confined
  const { witness, linkedTrees, workUndo, evidenceFiles, shownContents, planFiles, processFiles } = context
  const { commandApprovals, copies } = context
  const folder = (path: string) => resolveContained(path, confined)
  const place = (one: SnapshotLocation) => ownSnapshot(one, confined)
  const { history, contents } = witness
  return {
    folder: context.folder,
    fingerprint: context.fingerprint,
    ...(context.setupFiles && { setupFiles: context.setupFiles }),
    now: confined.now,
    snapshotName: () => context.ids.next('attempt'),
    witness: {
      locate: async (path) => witness.locate(folder(path)),
      others: async (path) => witness.others(folder(path)),
      snapshot: async (request) =>
        witness.snapshot({
          ...request,
          // An existing snapshot of this name would be replaced.
          name: context.ids.next('attempt'),
          folder: folder(request.folder),
          ...(request.top !== undefined && { top: folder(request.top) }),
        }),
      changes: async (from, to) => witness.changes(place(from), place(to)),
      lines: async (from, to, request) => witness.lines(place(from), place(to), request),
      history: {
        // The text of a line stays where the file is.
        file: async (request) =>
          history.file({ ...noSecret(request), folder: folder(request.folder), text: false }),
        blame: async (request) => {
          const blamed = await history.blame({ ...noSecret(request), folder: folder(request.folder) })
          for (const [, path, oid] of blamed.contents) nameContent(path, oid, confined)
          return blamed
        },
        commits: async (path, range, limit) => history.commits(folder(path), range, limit),
        files: async (path, rev, under) => history.files(folder(path), rev, under),
        landing: async (request) =>
          history.landing({
            ...request,
            folder: folder(request.folder),
            tasks: request.tasks.map((task) => ({
              ...task,
              files: task.files.filter(({ path }) => !isSecretFile(path)),
            })),
          }),
        hashes: async (path, oids, salt) =>
          history.hashes(
            folder(path),
            oids.filter((oid) => confined.named.has(oid)),
            salt,
          ),
      },
      branch: async (request) => witness.branch({ ...request, folder: folder(request.folder) }),
      contents: {
        states: async (one, paths) => {
          const states = await contents.states(place(one), paths)
          for (const [path, state] of states ?? []) nameContent(path, state?.id ?? null, confined)
          return states
        },
        heldPaths: async (from, one, paths) => contents.heldPaths(place(from), place(one), paths),
        read: async (places, ids, limit) => {
          const own = places.map(place)
          const named = ids.filter((id) => confined.named.has(id))
          const others = ids.filter((id) => !confined.named.has(id))
          const asNamed = await contents.read(own, named, limit)
          return new Map([...asNamed, ...(await contents.read(own, others, limit, 'kept'))])
        },
      },
      linkTargets: async (top, paths, since) => witness.linkTargets(folder(top), paths, since),
      touchedPaths: async (from, to) => witness.touchedPaths(place(from), place(to)),
      changedSince: async (one, time, { paths }) =>
        witness.changedSince(place(one), time, { paths, name: context.ids.next('attempt') }),
      lostFiles: async ({ states, counted, now, starts, undone }) =>
        witness.lostFiles({
          states: states.map(place),
          counted,
          now: place(now),
          starts: starts.map(place),
          undone: undone.map(place),
        }),
      elsewhere: async (one, since, past) => witness.elsewhere(place(one), since, past),
      unifiedDiff: async (from, to, paths) => witness.unifiedDiff(place(from), place(to), paths),
      matching: async (one, areas) => witness.matching(place(one), areas),
      overlapping: async (one, areas, others) => witness.overlapping(place(one), areas, others),
      packages: async (one) => witness.packages(place(one)),
      treeHash: async (path) => witness.treeHash(folder(path)),
      content: async (path) => witness.content(folder(path)),
    },
    ...(copies && {
      copies: {
        contents: async (one, paths) => copies.contents(place(one), paths),
        amend: async (one, name, files) => copies.amend(place(one), name, files),
        linesOf: async (one, steps) => copies.linesOf(place(one), steps),
      },
    }),
    workUndo: {
      plan: async (request) => workUndo.plan(confinedUndo(request, confined)),
    },
    linkedTrees: {
      bound: async (path) => linkedTrees.bound(folder(path)),
      list: async (path) => linkedTrees.list(folder(path)),
      losses: async (path, tree) =>
        linkedTrees.losses(folder(path), await ownTree(folder(path), tree, confined)),
    },
    evidenceFiles: {
      read: async (path, paths) => {
        for (const one of paths) assertNamedInInput(one, confined)
        return evidenceFiles.read(folder(path), paths)
      },
      freshness: async (path, files) => evidenceFiles.freshness(folder(path), files),
      contents: async (path, paths) => evidenceFiles.contents(folder(path), paths),
    },
    shownContents: {
      isKept: (content) => shownContents.isKept(shownContentKey(content, confined)),
      keep: (content, parts) => shownContents.keep(shownContentKey(content, confined), parts),
      since: async (content, parts) =>
        withoutTexts(await shownContents.since(shownContentKey(content, confined), parts), parts),
    },
    planFiles: {
      load: async (file, format) => {
        assertNamedInInput(file, confined)
        const plan = await planFiles.load(assertReadable(file, confined), format)
        return plan.kind === 'log' ? { ...plan, lines: await sentLines(file, plan.lines) } : plan
      },
    },
    processFiles: {
      list: async () => (await processFiles.list()).filter((process) => isReadableProcess(process, confined)),
      hasOwn: () => processFiles.hasOwn(),
      load: async (idOrFile) => loadedProcess(idOrFile, confined),
      read: (source) => processFiles.read(source),
    },
    commandApprovals: {
      hashOf: async (command) => commandApprovals.hashOf(confinedCommand(command, confined)),
      filesOf: async (command) => commandApprovals.filesOf(confinedCommand(command, confined)),
      isApproved: (hash) => commands.isApproved(hash, false),
      list: async (folders) => commandApprovals.list(folders.map(folder)),
      refusalOf: (hash) => commandApprovals.refusalOf(hash),
      refusedIn: async (folders) => commandApprovals.refusedIn(folders.map(folder)),
      trustsServer: commands.trustsServer,
    },
    remoteCommands: {
      run: async (command) => confined.runCommand({ ...command, ...confinedCommand(command, confined) }),
    },
  }
}

/** Only what this machine kept of the project is written, into a work tree of the project. */
function confinedUndo(request: UndoRequest, confined: ConfinedContext): UndoRequest {
  return {
    ...request,
    folder: resolveContained(request.folder, confined),
    now: ownSnapshot(request.now, confined),
    windows: request.windows.map(({ files, from, to }) => ({
      files: files.filter(({ path, from: old }) => !isSecretFile(path) && !isSecretFile(old)),
      from: ownSnapshot(from, confined),
      to: ownSnapshot(to, confined),
    })),
  }
}

/** Only what this machine kept of the project is written, into the work tree that it was kept of. */
function confinedRestore(request: RestoreRequest, confined: ConfinedContext): RestoreRequest {
  return {
    ...request,
    states: request.states.map((one) => ownSnapshot(one, confined)),
    base: request.base && ownSnapshot(request.base, confined),
    known: request.known.map((one) => ownSnapshot(one, confined)),
  }
}

/** The same for an operation that writes: limited to what its caller named. */
export function confinedWritableWorkTree(confined: ConfinedContext): WritableWorkTree {
  const { context, commands } = confined
  const { linkedTrees, workUndo, workRestore, commandApprovals } = context
  const workTree = confinedWorkTree(confined)
  const folder = (path: string) => resolveContained(path, confined)
  return {
    ...workTree,
    workUndo: {
      ...workTree.workUndo,
      apply: async (request, hash) => {
        assertPerson(context.actor)
        return workUndo.apply(confinedUndo(request, confined), hash)
      },
    },
    workRestore: {
      plan: async (request) => workRestore.plan(confinedRestore(request, confined)),
      apply: async (request, shown) => {
        assertPerson(context.actor)
        return workRestore.apply(confinedRestore(request, confined), shown)
      },
    },
    linkedTrees: {
      ...workTree.linkedTrees,
      add: async (tree) =>
        linkedTrees.add({
          ...tree,
          taskId: namedTask(tree.taskId, confined),
          folder: folder(tree.folder),
          path: resolveNeighbor(tree.path, confined),
        }),
      remove: async (path, tree) =>
        linkedTrees.remove(folder(path), await namedTree(folder(path), tree, confined)),
      discard: async (path, tree) => {
        assertPerson(context.actor)
        return linkedTrees.discard(folder(path), await namedTree(folder(path), tree, confined))
      },
    },
    commandApprovals: {
      ...workTree.commandApprovals,
      // This machine shows and measures it, and uses its own person's name.
      approve: async ({ hash, pinned = [], ...command }) =>
        commands.approve(confinedCommand({ ...command, pinned }, confined), hash),
      refuse: async (refusal) => commands.refuse({ ...refusal, folder: folder(refusal.folder) }),
      revoke: async (hash) => commandApprovals.revoke(namedHash(hash, confined)),
    },
  }
}

function assertPerson({ kind, name }: Actor): void {
  if (kind === 'person') return
  throw confinementFailure(
    'person_needed',
    `Refused a request of the server to discard work: ${name} is an agent, and only people may.`,
  )
}

/** An answer that the call names by the start of its hash. */
function namedHash(hash: string, { input }: ConfinedContext): string {
  const isNamed = collectTexts(input).some(
    (text) => text.length >= minHash && hash.startsWith(text.toLowerCase()),
  )
  if (isNamed) return hash
  throw confinementFailure(
    'not_named_here',
    `Refused a request of the server to revoke the answer to ${hash.slice(0, 16)}: nobody on this machine asked for it.`,
  )
}

const minHash = 6

async function loadedProcess(idOrFile: string, confined: ConfinedContext): Promise<LoadedProcess> {
  if (!processId.test(idOrFile)) {
    assertNamedInInput(idOrFile, confined)
    assertReadable(idOrFile, confined)
  }
  const process = await confined.context.processFiles.load(idOrFile)
  if (!isReadableProcess(process, confined)) throw unreadableFileFailure(process.file)
  return process
}

function confinementFailure(reason: string, message: string): Failure {
  return new Failure('FORBIDDEN', message, { reason, details: { reason } })
}

/** The project's folder, and every work tree of its repository. */
export async function rootsOf({ witness, folder }: Context): Promise<readonly string[]> {
  const found = await witness.locate(folder).catch(() => null)
  const others = found?.engine === 'git' ? await witness.others(folder).catch(() => []) : []
  return [...new Set([folder, ...(found ? [found.top, found.mainTop] : []), ...others])]
}

const keptHere = { missing: 'allowed', secrets: 'allowed', git: 'allowed' } as const

/** Measurements also read files with secret names, but never send their content. */
const measuring = { missing: 'allowed', secrets: 'allowed' } as const

function resolveContained(path: string, { roots, context }: ConfinedContext): string {
  const named = resolve(context.folder, path)
  if (roots.some((root) => !('reason' in containedPath(root, named, measuring)))) return named
  throw confinementFailure(
    'outside_project',
    `Refused a request of the server for ${path.slice(0, 200)}: it is outside the project.`,
  )
}

/** Pinned files are relative to the command's folder and inside the project. */
function confinedCommand<Command extends PinnedCommand>(
  { run, folder, pinned }: Command,
  confined: ConfinedContext,
): PinnedCommand {
  const place = resolveContained(folder, confined)
  for (const path of pinned) resolveContained(resolve(place, path), confined)
  return { run, folder: place, pinned }
}

/** Fails unless the call here names exactly this path. */
function assertNamedInInput(path: string, { input }: ConfinedContext): void {
  if (collectTexts(input).includes(path)) return
  throw confinementFailure(
    'not_named_here',
    `Refused a request of the server for the content of ${path.slice(0, 200)}: nobody on this machine asked for it.`,
  )
}

/** A task that the call names: people shorten ids. */
function namedTask(taskId: string, { input }: ConfinedContext): string {
  if (collectTexts(input).some((text) => text.length >= 3 && taskId.startsWith(text))) return taskId
  throw confinementFailure(
    'not_named_here',
    `Refused a request of the server for the work tree of ${taskId.slice(0, 100)}: nobody on this machine asked for it.`,
  )
}

/** A work tree that git lists here: the server chooses neither its branch nor its task. */
async function ownTree(folder: string, { path }: { readonly path: string }, { context }: ConfinedContext) {
  const tree = (await context.linkedTrees.list(folder)).find((one) => one.path === path)
  if (tree) return tree
  throw confinementFailure(
    'outside_project',
    `Refused a request of the server for ${path.slice(0, 200)}: it is not a work tree here.`,
  )
}

/** The same, for the task that the call names. */
async function namedTree(folder: string, request: { readonly path: string }, confined: ConfinedContext) {
  const tree = await ownTree(folder, request, confined)
  namedTask(tree.taskId ?? '', confined)
  return tree
}

/** The key of content that this server showed here; other servers have other keys. */
function shownContentKey(content: string, { machine }: ConfinedContext): string {
  return `${machine}-${content}`
}

/** The names of files that differ, without their content. Only scripts keep it: a question quotes them. */
function withoutTexts(difference: ContentDifference | null, { files }: ContentParts) {
  const scripts = new Set(files.flatMap(({ path, isScript }) => (isScript ? [path] : [])))
  const sent = difference?.files.map((file) => (scripts.has(file.path) ? file : { ...file, diff: null }))
  return difference && { ...difference, files: sent ?? [] }
}

/** Every text of a call's input. */
function collectTexts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(collectTexts) : []
}

/** The id of a process, which is no path. */
const processId = /^[A-Za-z0-9][\w-]{0,200}$/

/** A file of the project whose content may leave this machine. */
function assertReadable(path: string, { context }: ConfinedContext): string {
  if ('reason' in containedPath(context.folder, path)) throw unreadableFileFailure(path)
  return path
}

function isReadableProcess(
  { origin, file }: { readonly origin: string; readonly file: string },
  { context }: ConfinedContext,
): boolean {
  return origin === 'shipped' || !('reason' in containedPath(context.folder, file))
}

/** Allows the server to request this content by its id, unless the file may hold secrets. */
function nameContent(path: string, id: string | null, { named }: ConfinedContext): void {
  if (id !== null && !isSecretFile(path)) named.add(id)
}

function noSecret<Request extends { readonly path: string }>(request: Request): Request {
  if (isSecretFile(request.path)) throw unreadableFileFailure(request.path)
  return request
}

function unreadableFileFailure(path: string): Failure {
  return confinementFailure(
    'unreadable_file',
    `Refused a request of the server for ${path.slice(0, 200)}: it is outside the project, belongs to git, or may hold secrets.`,
  )
}

/** A new work tree is in the project, or beside a main work tree with its name as prefix. */
function resolveNeighbor(path: string, confined: ConfinedContext): string {
  const named = resolve(confined.context.folder, path)
  const real = reachedPath(named)
  const isNeighbour = confined.roots.some((root) => {
    const reached = reachedPath(root)
    return (
      typeof real === 'string' &&
      typeof reached === 'string' &&
      dirname(real) === dirname(reached) &&
      basename(real).startsWith(`${basename(reached)}-`)
    )
  })
  return isNeighbour ? named : resolveContained(named, confined)
}

function ownSnapshot(
  { machineId: machine, engine, directory, top, prefix, id }: SnapshotLocation,
  confined: ConfinedContext,
): SnapshotLocation {
  const place = { engine, directory, top, prefix, id }
  if (machine !== undefined && machine !== confined.machine) {
    throw confinementFailure(
      'other_machine',
      `Refused a request of the server for a snapshot of ${machine}: it is another machine.`,
    )
  }
  const isKept = (folder: string) => !('reason' in containedPath(folder, directory, keptHere))
  if (!confined.snapshots(confined.roots).some(isKept)) {
    throw confinementFailure(
      'no_snapshot',
      `Refused a request of the server for ${directory.slice(0, 200)}: it is not a snapshot.`,
    )
  }
  resolveContained(top, confined)
  return place
}

/** In characters. */
const maxSentLog = 200_000_000

/** The lines of an exported project, which are sent at once. */
async function sentLines(file: string, lines: LogLines): Promise<readonly string[]> {
  const sent: string[] = []
  let length = 0
  for await (const line of lines) {
    length += line.length
    if (length > maxSentLog)
      throw new Failure(
        'INVALID_INPUT',
        `${file} has more than ${maxSentLog} characters, the most that this machine sends.`,
        { reason: 'file_too_large', hint: 'Import it on the machine of the server.' },
      )
    sent.push(line)
  }
  return sent
}

type LogLines = Extract<LoadedPlan, { readonly kind: 'log' }>['lines']

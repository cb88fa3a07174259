import { z } from 'zod'
import type { FileState } from '../../../git/ports/work-tree.ts'
import { Failure } from '../../../kernel/failure.ts'
import {
  difference,
  measuredList,
  names,
  path,
  pinned,
  pinnedFile,
  place,
  recordedFile,
  sha,
  time,
  words,
} from '../../../kernel/operations/fields.ts'
import {
  type BriefOf,
  isAmong,
  type Measurement,
  type MeasurementOf,
  type MeasurementValues,
  measurement,
  type Readable,
  type WorkTree,
} from '../../../kernel/operations/measurement-protocol.ts'
import type { FileChange } from '../../../track/domain/changes.ts'
import type { SnapshotLocation } from '../../../track/domain/task.ts'
import { attemptChanges, attemptEnds } from '../../../track/operations/measure-attempt.ts'
import { sensitiveChanges } from '../../../track/operations/sensitive.ts'
import type { FilePreview } from '../../domain/approved-content.ts'
import type { PinnedFile } from '../../ports/command-runner.ts'

const most = 20_000

function isForEach(briefs: readonly unknown[], measured: readonly unknown[]): boolean {
  return briefs.length === measured.length
}

const earlierApproval = z.strictObject({ hash: sha, author: words, createdAt: time })

/** The facts that a person needs to approve a command. */
const commandQuestion = z.strictObject({
  files: measuredList(pinnedFile, most),
  /** The earlier approval of this line. */
  before: earlierApproval.extend({ difference: difference.nullable() }).nullable(),
})
export type CommandQuestion = Readable<z.output<typeof commandQuestion>>

const commandBrief = pinned.extend({
  asks: z.boolean(),
  /** The earlier approval of this line in the record; the machine's own list has others. */
  before: earlierApproval.exactOptional(),
  /** The record revoked the answer in this machine's list: the question is asked all the same. */
  isRevoked: z.literal(true).exactOptional(),
})
const commandApprovalShape = z.strictObject({
  hash: sha,
  isApproved: z.boolean(),
  /** Approvals at the server count on this machine. */
  trustsServer: z.boolean(),
  refusal: z.strictObject({ author: words, reason: words }).nullable(),
  question: commandQuestion.nullable(),
})

/** Null: no file, or its content is unknown. */
const stateText = z.string().max(300).nullable()

/** A work tree, with the intervals in which no attempt at a subject ran. */
const workBrief = z.strictObject({
  first: place,
  /** `to` is null for an interval that lasts until now. */
  gaps: measuredList(z.strictObject({ from: place, to: place.nullable() }), 10_000),
  ended: place.nullable(),
  isCompared: z.boolean(),
  sensitive: words.nullable(),
})
type WorkBrief = Readable<z.output<typeof workBrief>>
const workShape = z.strictObject({
  /** The current tree; if it is gone, the project's own, into which it was merged. */
  now: place.nullable(),
  /** Null: the tree exists, but cannot be measured. */
  gaps: z
    .strictObject({
      changes: measuredList(z.strictObject({ path: z.string(), from: z.string().exactOptional() })),
      sensitive: names,
    })
    .nullable(),
  touched: names.nullable(),
})

/** Measurements for guards and approvals. Each is a list, so that several runs are measured together. */
export const runMeasurements = {
  ends: attemptEnds,
  changes: attemptChanges,
  /** Whether submitted files are unchanged. */
  files: measurement({
    brief: measuredList(recordedFile, most),
    measured: measuredList(z.enum(['current', 'changed', 'deleted']), most),
    fits: isForEach,
    measure: ({ evidenceFiles, folder }, files) => evidenceFiles.freshness(folder, files),
  }),
  /** The keys of results: the hash of the work tree, the commit. Null: it cannot be measured. */
  tree: measurement({
    brief: measuredList(z.enum(['content', 'commit']), 2),
    measured: measuredList(z.string().max(200).nullable(), 2),
    fits: isForEach,
    measure: ({ witness, folder }, kinds) =>
      Promise.all(
        kinds.map((kind) =>
          kind === 'content' ? nullIfUnavailable(() => witness.treeHash(folder)) : commitOf(witness, folder),
        ),
      ),
  }),
  commands: measurement({
    brief: measuredList(commandBrief, 1_000),
    measured: measuredList(commandApprovalShape, 1_000),
    fits: isForEach,
    measure: (workTree, commands) => Promise.all(commands.map((one) => commandApproval(workTree, one))),
  }),
  /** Changes in a work tree while no attempt at a subject ran, and files touched since the last one. */
  work: measurement({
    brief: measuredList(workBrief, 1_000),
    measured: measuredList(workShape, 1_000),
    fits: isForEach,
    measure: (workTree, trees) => Promise.all(trees.map((one) => workOutsideAttempts(workTree, one))),
  }),
  /** Whether files differ from their state at the start of the work. Null: unknown. */
  net: measurement({
    brief: measuredList(z.strictObject({ first: place, now: place, paths: names }), 1_000),
    measured: measuredList(measuredList(z.tuple([z.string().max(4_096), z.boolean().nullable()])), 1_000),
    fits: (briefs, measured) =>
      isForEach(briefs, measured) &&
      measured.every((pairs, index) =>
        isAmong(
          pairs.map(([one]) => one),
          briefs[index]?.paths ?? [],
        ),
      ),
    measure: ({ witness }, trees) =>
      Promise.all(
        trees.map(async ({ first, now, paths }) => {
          const states = (snapshot: SnapshotLocation) =>
            nullIfGone(() => witness.contents.states(snapshot, paths))
          const [before, after] = await Promise.all([states(first), states(now)])
          if (!before || !after) return []
          return paths.map((one): [string, boolean | null] => [
            one,
            isDifferentState(before.get(one), after.get(one)),
          ])
        }),
      ),
  }),
  /** Files on disk and in git; and the whole work tree where those are not exact. */
  fileStates: measurement({
    brief: measuredList(z.strictObject({ first: place, paths: names, isWholeTree: z.boolean() }), 1_000),
    measured: measuredList(
      z.strictObject({
        files: measuredList(z.strictObject({ path: z.string().max(4_096), disk: stateText, git: stateText })),
        /** Null: not needed, or it cannot be measured. */
        tree: z.string().max(200).nullable(),
        /** Every content is known: by its file, or by the whole tree. */
        isExact: z.boolean(),
      }),
      1_000,
    ),
    fits: (briefs, measured) =>
      isForEach(briefs, measured) &&
      measured.every(({ files }, index) =>
        isAmong(
          files.map((file) => file.path),
          briefs[index]?.paths ?? [],
        ),
      ),
    measure: (workTree, trees) => Promise.all(trees.map((one) => fileStates(workTree, one))),
  }),
  /** The current hashes of changed files. Their content stays on the machine. */
  hashes: measurement({
    brief: measuredList(z.strictObject({ top: path, paths: names }), 1_000),
    measured: measuredList(measuredList(pinnedFile), 1_000),
    fits: (briefs, measured) =>
      isForEach(briefs, measured) &&
      measured.every((files, position) => {
        const expected = briefs[position]?.paths ?? []
        return files.length === expected.length && files.every((file, index) => file.path === expected[index])
      }),
    measure: ({ evidenceFiles }, trees) =>
      Promise.all(
        trees.map(async ({ top, paths }) =>
          (await evidenceFiles.contents(top, paths)).map((file) => ({
            path: file.path,
            sha256: file.sha256,
          })),
        ),
      ),
  }),
}

async function fileStates(
  workTree: WorkTree,
  {
    first,
    paths,
    isWholeTree,
  }: { readonly first: SnapshotLocation; readonly paths: readonly string[]; readonly isWholeTree: boolean },
) {
  const { witness, folder } = workTree
  const now = await nullIfGone(() => snapshotOfTree(workTree, first))
  const place = now ?? (await nullIfGone(() => snapshotOf(workTree, first, { folder })))
  const states = place && (await nullIfGone(() => witness.contents.states(place, paths)))
  const gitHeld = place && (await nullIfGone(() => witness.contents.heldPaths(first, place, paths)))
  const files = paths.map((one) => {
    const state = states?.get(one)
    const id = state?.id ?? state?.hash
    const disk = state == null || id === undefined ? null : `${state.mode} ${id}`
    return { path: one, disk, git: gitHeld?.get(one) ?? null, isMeasured: state === null || disk !== null }
  })
  const needsTree = isWholeTree || files.some(({ isMeasured }) => !isMeasured)
  const content =
    needsTree && place
      ? await nullIfUnavailable(() => witness.treeHash(`${place.top}/${place.prefix}`))
      : null
  const commit = content === null ? null : await commitOf(witness, place?.top ?? folder)
  return {
    files: files.map(({ path: one, disk, git }) => ({ path: one, disk, git })),
    tree: content === null ? null : `${content} ${commit ?? ''}`,
    isExact: place !== null && gitHeld !== null && (!needsTree || content !== null),
  }
}

function snapshotOfTree(workTree: WorkTree, { top, prefix, engine }: SnapshotLocation) {
  return snapshotOf(workTree, { engine }, { folder: `${top}/${prefix}`, top })
}

async function snapshotOf(
  { witness, snapshotName }: WorkTree,
  { engine }: Pick<SnapshotLocation, 'engine'>,
  tree: { readonly folder: string; readonly top?: string },
): Promise<SnapshotLocation> {
  return (await witness.snapshot({ ...tree, name: snapshotName(), engine })).ref
}

export type RunMeasurements = typeof runMeasurements

type ListMeasurement = Measurement & { readonly brief: z.ZodType<readonly unknown[]> }
type EntryOf<Of extends Measurement> = BriefOf<Of> extends readonly (infer Entry)[] ? Entry : never
type ResultOf<Of extends Measurement> = MeasurementOf<Of> extends readonly (infer Result)[] ? Result : never

/** Collects the entries of list measurements, and returns the results that are there already. */
export class MeasurementQuestions<Of extends Readonly<Record<string, ListMeasurement>>> {
  readonly #measured: MeasurementValues<Of>
  readonly #entries = new Map<string, Map<string, { readonly index: number; readonly entry: unknown }>>()

  constructor(measured: MeasurementValues<Of>) {
    this.#measured = measured
  }

  /** Undefined until measured. Equal entries are measured once. */
  ask<Name extends keyof Of & string>(name: Name, entry: EntryOf<Of[Name]>): ResultOf<Of[Name]> | undefined {
    const entries = this.#entries.get(name) ?? new Map<string, { index: number; entry: unknown }>()
    this.#entries.set(name, entries)
    const key = JSON.stringify(entry)
    const { index } = entries.get(key) ?? { index: entries.size }
    entries.set(key, { index, entry })
    const measured = (this.#measured[name] ?? []) as readonly ResultOf<Of[Name]>[] // a list, as its shape says
    return measured[index]
  }

  get briefs(): { readonly [Name in keyof Of]?: BriefOf<Of[Name]> } {
    return Object.fromEntries(
      [...this.#entries].map(([name, entries]) => [name, [...entries.values()].map(({ entry }) => entry)]),
    ) as never // by name
  }
}

async function commandApproval(
  { commandApprovals, evidenceFiles, shownContents }: WorkTree,
  { asks, isRevoked, before: recorded, ...command }: Readable<z.output<typeof commandBrief>>,
): Promise<Readable<z.output<typeof commandApprovalShape>>> {
  const hash = await commandApprovals.hashOf(command)
  const isApproved = await commandApprovals.isApproved(hash)
  const refused = isApproved ? null : await commandApprovals.refusalOf(hash)
  const { trustsServer = false } = commandApprovals
  const answer = {
    hash,
    isApproved,
    trustsServer,
    refusal: refused && { author: refused.author, reason: refused.reason },
  }
  if (!asks || ((isApproved || refused) && !isRevoked)) return { ...answer, question: null }
  const files = await commandApprovals.filesOf(command)
  const parts = {
    files: await coveredContents(evidenceFiles, command, files),
    events: commandEvents(command),
  }
  if (!(await shownContents.isKept(hash))) await shownContents.keep(hash, parts)
  const approved = recorded ? [] : await commandApprovals.list([command.folder])
  const before =
    recorded?.hash === hash
      ? undefined
      : (recorded ?? approved.find((one) => one.run === command.run && one.hash !== hash))
  return {
    ...answer,
    question: {
      files: [...files],
      before: before
        ? {
            hash: before.hash,
            author: before.author,
            createdAt: before.createdAt,
            difference: await shownContents.since(before.hash, parts),
          }
        : null,
    },
  }
}

/** The contents that the approval of a command covers: pinned files, and scripts with their texts. */
export async function coveredContents(
  evidenceFiles: WorkTree['evidenceFiles'],
  { folder }: { readonly folder: string },
  files: readonly PinnedFile[],
): Promise<readonly FilePreview[]> {
  const scripts = files.flatMap(({ path: name, sha256, text }) =>
    text === undefined ? [] : [{ path: name, sha256, text: `${text}\n`, isScript: true as const }],
  )
  const others = files.filter(({ text }) => text === undefined).map((file) => file.path)
  return [...scripts, ...(await evidenceFiles.contents(folder, others))]
}

/** The content of an approval of a command beside its pinned files. */
export function commandEvents({ run, folder }: { readonly run: string; readonly folder: string }) {
  return { command: run, folder }
}

async function workOutsideAttempts(
  workTree: WorkTree,
  { first, gaps, ended, isCompared, sensitive }: WorkBrief,
): Promise<Readable<z.output<typeof workShape>>> {
  const { witness, folder } = workTree
  const snapshot = await snapshotOfTree(workTree, first).catch((error: unknown) => {
    if (error instanceof Failure && isGone(error)) return 'gone'
    if (error instanceof Failure && error.code === 'UNAVAILABLE') return 'unreadable'
    throw error
  })
  const current = typeof snapshot === 'string' ? null : snapshot
  return {
    now: current ?? (isCompared ? await nullIfGone(() => snapshotOf(workTree, first, { folder })) : null),
    gaps:
      snapshot === 'unreadable'
        ? null
        : await nullIfUnavailable(() => changesInGaps(workTree, { first, gaps, now: current, sensitive })),
    touched: ended === null || current === null ? null : await witness.touchedPaths(ended, current),
  }
}

async function changesInGaps(
  workTree: WorkTree,
  {
    first,
    gaps,
    now,
    sensitive: setting,
  }: Pick<WorkBrief, 'first' | 'gaps' | 'sensitive'> & {
    readonly now: SnapshotLocation | null
  },
) {
  if (now === null || gaps.length === 0) return { changes: [], sensitive: [] }
  const all = await changesOf(workTree, first, now)
  const inGaps = new Set<string>()
  for (const { from, to } of all.length === 0 ? [] : gaps) {
    for (const change of await changesOf(workTree, from, to ?? now)) {
      inGaps.add(change.path)
      if (change.from !== undefined) inGaps.add(change.from)
    }
  }
  const changes = all.filter(
    (change) => inGaps.has(change.path) || (change.from !== undefined && inGaps.has(change.from)),
  )
  const sensitive = await sensitiveChanges(workTree, first, { changes, end: now, setting })
  return {
    changes: changes.map((change) => ({
      path: change.path,
      ...(change.from !== undefined && { from: change.from }),
    })),
    sensitive: [...sensitive.keys()],
  }
}

const heldByGit = { change: 'modified', origin: 'task', addedLines: null, deletedLines: null } as const

async function changesOf(
  { witness }: WorkTree,
  from: SnapshotLocation,
  to: SnapshotLocation,
): Promise<readonly FileChange[]> {
  const { changes, unreadable } = await witness.changes(from, to)
  // Folders end with a slash. For a file in this list, git holds a change that the disk has not.
  const heldFiles = unreadable.filter((one) => !one.endsWith('/'))
  return [
    ...changes.filter(({ origin }) => origin !== 'imported'),
    ...heldFiles.map((one): FileChange => ({ path: one, ...heldByGit })),
  ]
}

async function commitOf(witness: WorkTree['witness'], folder: string): Promise<string | null> {
  try {
    return (await witness.branch({ folder, base: 'HEAD' })).head.id
  } catch (error) {
    // No commit yet, or no git.
    if (error instanceof Failure && (error.code === 'INVALID_INPUT' || error.code === 'UNAVAILABLE'))
      return null
    throw error
  }
}

/** No result and no approval counts for a tree that cannot be measured. */
export async function nullIfUnavailable<Measured>(
  measure: () => Promise<Measured>,
): Promise<Measured | null> {
  try {
    return await measure()
  } catch (error) {
    if (error instanceof Failure && error.code === 'UNAVAILABLE') return null
    throw error
  }
}

/** A connected machine refuses a folder that is no longer a work tree. */
function isGone({ reason }: Failure): boolean {
  return reason === 'folder_not_found' || reason === 'outside_project'
}

async function nullIfGone<Found>(measure: () => Promise<Found>): Promise<Found | null> {
  try {
    return await measure()
  } catch (error) {
    if (error instanceof Failure && (error.code === 'UNAVAILABLE' || isGone(error))) return null
    throw error
  }
}

type NetFileState = FileState | null | undefined

function isDifferentState(before: NetFileState, after: NetFileState): boolean | null {
  if (before === undefined || after === undefined) return null
  if (before === null || after === null) return before !== after
  if (before.mode !== after.mode) return true
  return before.id === null || after.id === null ? null : before.id !== after.id
}

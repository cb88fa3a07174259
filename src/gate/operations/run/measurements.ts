import { z } from 'zod'
import type { FileState } from '../../../git/ports/work-tree.ts'
import { Failure } from '../../../kernel/failure.ts'
import {
  difference,
  known,
  list,
  names,
  path,
  pinned,
  pinnedFile,
  place,
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
} from '../../../kernel/operations/measurement.ts'
import type { FileChange } from '../../../track/domain/changes.ts'
import type { SnapshotLocation } from '../../../track/domain/task.ts'
import { attemptChanges, attemptEnds } from '../../../track/operations/measure-attempt.ts'
import { sensitiveChanges } from '../../../track/operations/sensitive.ts'

const most = 20_000

function isForEach(asked: readonly unknown[], measured: readonly unknown[]): boolean {
  return asked.length === measured.length
}

/** A command as it is approved, and what a person who is asked about it has to know. */
const commandQuestion = z.strictObject({
  files: list(pinnedFile, most),
  /** What was approved of this line before. */
  before: z
    .strictObject({ hash: sha, author: words, createdAt: time, difference: difference.nullable() })
    .nullable(),
})
export type CommandQuestion = Readable<z.output<typeof commandQuestion>>

const commandBrief = pinned.extend({ asks: z.boolean() })
const commandApprovalShape = z.strictObject({
  hash: sha,
  isApproved: z.boolean(),
  /** An approval at the server counts here. */
  trustsServer: z.boolean(),
  refusal: z.strictObject({ author: words, reason: words }).nullable(),
  question: commandQuestion.nullable(),
})

/** Null: no file there, or a content that is not told. */
const stateText = z.string().max(300).nullable()

/** A work tree, with the times in it in which no attempt at a subject ran. */
const workBrief = z.strictObject({
  first: place,
  /** An open end is now. */
  gaps: list(z.strictObject({ from: place, to: place.nullable() }), 10_000),
  ended: place.nullable(),
  isCompared: z.boolean(),
  sensitive: words.nullable(),
})
type WorkBrief = Readable<z.output<typeof workBrief>>
const workShape = z.strictObject({
  /** The tree as it is; where it is gone, what it held was merged into the project's own. */
  now: place.nullable(),
  /** Null: it is there and cannot be measured. */
  gaps: z
    .strictObject({
      changes: list(z.strictObject({ path: z.string(), from: z.string().exactOptional() })),
      sensitive: names,
    })
    .nullable(),
  touched: names.nullable(),
})

/** What guards and approvals look at where the files are. Each is a list, so that several runs are measured together. */
export const runMeasurements = {
  ends: attemptEnds,
  changes: attemptChanges,
  /** Whether files that were submitted are as they were. */
  files: measurement({
    brief: list(known, most),
    measured: list(z.enum(['current', 'changed', 'deleted']), most),
    fits: isForEach,
    measure: ({ evidenceFiles, folder }, files) => evidenceFiles.freshness(folder, files),
  }),
  /** What results are bound to: the hash of the work tree, the commit. Null: it cannot be measured. */
  tree: measurement({
    brief: list(z.enum(['content', 'commit']), 2),
    measured: list(z.string().max(200).nullable(), 2),
    fits: isForEach,
    measure: ({ witness, folder }, asked) =>
      Promise.all(
        asked.map((of) =>
          of === 'content' ? nullIfUnavailable(() => witness.treeHash(folder)) : commitOf(witness, folder),
        ),
      ),
  }),
  commands: measurement({
    brief: list(commandBrief, 1_000),
    measured: list(commandApprovalShape, 1_000),
    fits: isForEach,
    measure: (workTree, commands) => Promise.all(commands.map((one) => commandApproval(workTree, one))),
  }),
  /** What changed in a work tree while no attempt at a subject ran, and what was touched since the last of them. */
  work: measurement({
    brief: list(workBrief, 1_000),
    measured: list(workShape, 1_000),
    fits: isForEach,
    measure: (workTree, trees) => Promise.all(trees.map((one) => workOutsideAttempts(workTree, one))),
  }),
  /** Whether files are other than they were when the work on them began. Null: it cannot be seen. */
  net: measurement({
    brief: list(z.strictObject({ first: place, now: place, paths: names }), 1_000),
    measured: list(list(z.tuple([z.string().max(4_096), z.boolean().nullable()])), 1_000),
    fits: (asked, measured) =>
      isForEach(asked, measured) &&
      measured.every((found, at) =>
        isAmong(
          found.map(([one]) => one),
          asked[at]?.paths ?? [],
        ),
      ),
    measure: ({ witness }, trees) =>
      Promise.all(
        trees.map(async ({ first, now, paths }) => {
          const states = (of: SnapshotLocation) => nullIfGone(() => witness.contents.states(of, paths))
          const [before, after] = await Promise.all([states(first), states(now)])
          if (!before || !after) return []
          return paths.map((one): [string, boolean | null] => [
            one,
            isDifferentState(before.get(one), after.get(one)),
          ])
        }),
      ),
  }),
  /** Files as they are and as git holds them, and where those do not tell all of it, the whole work tree. */
  fileStates: measurement({
    brief: list(z.strictObject({ first: place, paths: names, isWholeTree: z.boolean() }), 1_000),
    measured: list(
      z.strictObject({
        files: list(z.strictObject({ path: z.string().max(4_096), disk: stateText, git: stateText })),
        /** Null: not asked for, or it cannot be measured. */
        tree: z.string().max(200).nullable(),
        /** Every content is told: by its file, or by the whole tree. */
        isExact: z.boolean(),
      }),
      1_000,
    ),
    fits: (asked, measured) =>
      isForEach(asked, measured) &&
      measured.every(({ files }, at) =>
        isAmong(
          files.map((file) => file.path),
          asked[at]?.paths ?? [],
        ),
      ),
    measure: (workTree, trees) => Promise.all(trees.map((one) => fileStates(workTree, one))),
  }),
  /** The hashes of changed files as they are. What they hold stays where they are. */
  hashes: measurement({
    brief: list(z.strictObject({ top: path, paths: names }), 1_000),
    measured: list(list(pinnedFile), 1_000),
    fits: (asked, measured) =>
      isForEach(asked, measured) &&
      measured.every((files, at) => {
        const paths = asked[at]?.paths ?? []
        return files.length === paths.length && files.every((file, index) => file.path === paths[index])
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
  const held = place && (await nullIfGone(() => witness.contents.held(first, place, paths)))
  const files = paths.map((one) => {
    const state = states?.get(one)
    const id = state?.id ?? state?.hash
    const disk = state == null || id === undefined ? null : `${state.mode} ${id}`
    return { path: one, disk, git: held?.get(one) ?? null, isTold: state === null || disk !== null }
  })
  const needsTree = isWholeTree || files.some(({ isTold }) => !isTold)
  const content =
    needsTree && place
      ? await nullIfUnavailable(() => witness.treeHash(`${place.top}/${place.prefix}`))
      : null
  const commit = content === null ? null : await commitOf(witness, place?.top ?? folder)
  return {
    files: files.map(({ path: one, disk, git }) => ({ path: one, disk, git })),
    tree: content === null ? null : `${content} ${commit ?? ''}`,
    isExact: place !== null && held !== null && (!needsTree || content !== null),
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

/** Collects what is asked of measurements that are lists, and answers what was measured of it already. */
export class MeasurementQuestions<Of extends Readonly<Record<string, ListMeasurement>>> {
  readonly #measured: MeasurementValues<Of>
  readonly #asked = new Map<string, Map<string, { readonly at: number; readonly entry: unknown }>>()

  constructor(measured: MeasurementValues<Of>) {
    this.#measured = measured
  }

  /** Undefined where it was not measured yet. The same is measured once, however often it is asked. */
  ask<Name extends keyof Of & string>(name: Name, entry: EntryOf<Of[Name]>): ResultOf<Of[Name]> | undefined {
    const asked = this.#asked.get(name) ?? new Map<string, { at: number; entry: unknown }>()
    this.#asked.set(name, asked)
    const key = JSON.stringify(entry)
    const { at } = asked.get(key) ?? { at: asked.size }
    asked.set(key, { at, entry })
    const measured = (this.#measured[name] ?? []) as readonly ResultOf<Of[Name]>[] // a list, as its shape says
    return measured[at]
  }

  get briefs(): { readonly [Name in keyof Of]?: BriefOf<Of[Name]> } {
    return Object.fromEntries(
      [...this.#asked].map(([name, asked]) => [name, [...asked.values()].map(({ entry }) => entry)]),
    ) as never // by name
  }
}

async function commandApproval(
  { commandApprovals, evidenceFiles, shownContents }: WorkTree,
  { asks, ...command }: Readable<z.output<typeof commandBrief>>,
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
  if (!asks || isApproved || refused) return { ...answer, question: null }
  const files = await commandApprovals.filesOf(command)
  const parts = {
    files: await evidenceFiles.contents(
      command.folder,
      files.map((file) => file.path),
    ),
    events: commandEvents(command),
  }
  if (!(await shownContents.isKept(hash))) await shownContents.keep(hash, parts)
  const approved = await commandApprovals.list([command.folder])
  const before = approved.find(({ run }) => run === command.run)
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

/** What an approval of a command is bound to beside its pinned files. */
export function commandEvents({ run, folder }: { readonly run: string; readonly folder: string }) {
  return { command: run, folder }
}

async function workOutsideAttempts(
  workTree: WorkTree,
  { first, gaps, ended, isCompared, sensitive }: WorkBrief,
): Promise<Readable<z.output<typeof workShape>>> {
  const { witness, folder } = workTree
  const taken = await snapshotOfTree(workTree, first).catch((error: unknown) => {
    if (error instanceof Failure && isGone(error)) return 'gone'
    if (error instanceof Failure && error.code === 'UNAVAILABLE') return 'unreadable'
    throw error
  })
  const there = typeof taken === 'string' ? null : taken
  return {
    now: there ?? (isCompared ? await nullIfGone(() => snapshotOf(workTree, first, { folder })) : null),
    gaps:
      taken === 'unreadable'
        ? null
        : await nullIfUnavailable(() => changesInGaps(workTree, { first, gaps, now: there, sensitive })),
    touched: ended === null || there === null ? null : await witness.touched(ended, there),
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
  // Folders end with a slash; a file is one of which git holds a change that the disk has not.
  const held = unreadable.filter((one) => !one.endsWith('/'))
  return [
    ...changes.filter(({ origin }) => origin !== 'imported'),
    ...held.map((one): FileChange => ({ path: one, ...heldByGit })),
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

/** A tree that cannot be measured is no tree: no result and no approval counts for it. */
async function nullIfUnavailable<Measured>(look: () => Promise<Measured>): Promise<Measured | null> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof Failure && error.code === 'UNAVAILABLE') return null
    throw error
  }
}

/** A connected machine refuses to look into a folder that is no work tree any more. */
function isGone({ reason }: Failure): boolean {
  return reason === 'folder_not_found' || reason === 'outside_project'
}

async function nullIfGone<Found>(look: () => Promise<Found>): Promise<Found | null> {
  try {
    return await look()
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

import { z } from 'zod'
import { type Branch, maxBranchFiles } from '../../git/ports/branch.ts'
import type { MeasuredLines } from '../../lines/domain/line-hashes.ts'
import type { BlameResult, LineHistoryFile } from '../../lines/ports/line-history.ts'
import {
  type DocumentTask,
  documentResolutions,
  documentStatuses,
  type PlanDocument,
} from '../../plan/domain/document.ts'
import type { DoneWhenChanges } from '../../plan/domain/done-when.ts'
import { planFormats } from '../../project/ports/project-files.ts'
import { bringingCommands, type ChangeReport } from '../../track/domain/changes.ts'
import type { SnapshotLocation } from '../../track/domain/task.ts'

/** The shapes of briefs and results of measurements. */

/** A list whose validation stops at the first error: collecting the errors of all values could take seconds. */
export function measuredList<Item extends z.ZodType>(
  item: Item,
  most = 200_000,
): z.ZodType<z.output<Item>[], unknown> {
  return z.unknown().transform((value, context) => {
    if (!Array.isArray(value) || value.length > most) {
      context.addIssue(`must be a list of at most ${most}`)
      return z.NEVER
    }
    const items: z.output<Item>[] = []
    for (const [index, one] of value.entries()) {
      const { success, data, error } = item.safeParse(one)
      if (!success) {
        const [first] = error.issues
        context.addIssue({
          code: 'custom',
          path: [index, ...(first?.path ?? [])],
          message: first?.message ?? '',
        })
        return z.NEVER
      }
      items.push(data)
    }
    return items
  })
}

export const path = z.string().min(1).max(4_096)
export const sha = z.string().regex(/^[0-9a-f]{64}$/)
export const time = z.number().min(0)
export const words = z.string().max(1_000_000)
export const names = measuredList(z.string().max(4_096), 200_000)

export const place = z.strictObject({
  engine: z.enum(['git', 'checksum']),
  directory: path,
  top: path,
  prefix: z.string().max(4_096),
  id: z.string().max(200),
  machineId: z.string().max(100).exactOptional(),
  machineName: z.string().max(100).exactOptional(),
}) satisfies z.ZodType<SnapshotLocation, unknown>

const changeKinds = ['added', 'modified', 'deleted', 'renamed'] as const
const lines = z.int().min(0).nullable()
const ignored = z.strictObject({ added: names, modified: names, deleted: names })
const broughtBy = z.strictObject({
  command: z.enum(bringingCommands).exactOptional(),
  commit: z
    .string()
    .regex(/^[0-9a-f]{40,64}$/)
    .exactOptional(),
})
export const changeReport = z.strictObject({
  status: z.enum(['exact', 'partial', 'unknown']),
  changes: measuredList(
    z.strictObject({
      path: z.string(),
      from: z.string().exactOptional(),
      change: z.enum(changeKinds),
      typeChanged: z.literal(true).exactOptional(),
      origin: z.enum(['task', 'imported', 'mixed']),
      addedLines: lines,
      deletedLines: lines,
      broughtLines: z.int().min(0).exactOptional(),
      broughtBy: broughtBy.exactOptional(),
      uncertain: z.string().exactOptional(),
    }),
    200_000,
  ),
  ignored,
  headMoves: measuredList(
    z.strictObject({
      commit: z.string(),
      action: z.string(),
      message: z.string(),
      origin: z.enum(['task', 'imported']),
      movedAt: z.number(),
      paths: names,
    }),
    10_000,
  ),
  removedWork: names,
  notes: measuredList(words, 1_000),
  doubts: measuredList(words, 1_000),
  unreadable: measuredList(words, 1_000),
}) satisfies z.ZodType<ChangeReport, unknown>

export const tree = z.strictObject({
  path,
  branch: z.string().nullable(),
  head: z.string().nullable(),
  taskId: z.string().nullable(),
  exists: z.boolean(),
})

const loss = z.strictObject({ total: z.int().nullable(), first: measuredList(words, 5) })
export const losses = z.strictObject({ uncommitted: loss, unmerged: loss, submodules: loss })

export const recordedFile = z.strictObject({
  path: z.string(),
  bytes: z.int(),
  sha256: sha,
  stamp: z.string(),
})
export const pinned = z.strictObject({ run: words, folder: path, pinned: names })
export const pinnedFile = z.strictObject({
  path: z.string(),
  sha256: z.string().nullable(),
  text: words.exactOptional(),
})
export const approved = pinned.extend({
  hash: sha,
  files: measuredList(pinnedFile, 20_000),
  author: z.string(),
  createdAt: time,
})
export const refused = approved.extend({ reason: words })

export const difference = z.strictObject({
  files: measuredList(
    z.strictObject({
      path: z.string(),
      shown: z.string().nullable(),
      now: z.string().nullable(),
      diff: z.string().nullable(),
    }),
  ),
  events: measuredList(
    z.strictObject({ name: z.string(), shown: z.string().nullable(), now: z.string().nullable() }),
  ),
})

/** The text of a process file; the server parses it itself. */
export const processSource = z.strictObject({
  file: z.string(),
  origin: z.enum(['project', 'shipped', 'file']),
  id: z.string(),
  text: z.string().max(4_000_000),
  unread: z.union([z.literal('no-process'), z.strictObject({ bytes: z.int() })]).exactOptional(),
})

const note = z.strictObject({
  content: z.string(),
  kind: z.string().nullable(),
  role: z.string().nullable(),
  author: z.string().nullable(),
  createdAt: z.number().nullable(),
})
const promises = measuredList(words, 1_000).exactOptional()
const doneWhen = z.strictObject({
  criteria: promises,
  check: measuredList(
    z.strictObject({ run: words, pinned: measuredList(words, 1_000), timeout: z.number().positive() }),
    1_000,
  ).exactOptional(),
  changes: promises,
  keeps: promises,
  inherit: z.boolean().exactOptional(),
}) satisfies z.ZodType<DoneWhenChanges, unknown>
const documentTask = z.strictObject({
  key: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  phase: z.string().nullable(),
  milestone: z.string().nullable(),
  parent: z.string().nullable(),
  role: z.string().nullable(),
  assignee: z.string().nullable(),
  areas: names,
  doneWhen: doneWhen.exactOptional(),
  status: z.enum(documentStatuses),
  resolution: z.enum(documentResolutions).nullable(),
  sortOrder: z.number().nullable(),
  dependsOn: measuredList(z.string()),
  notes: measuredList(note),
  creator: z.string().nullable(),
  createdAt: z.number().nullable(),
  updatedAt: z.number().nullable(),
  foreignId: z.string().nullable(),
}) satisfies z.ZodType<DocumentTask, unknown>
const document = z.strictObject({
  phases: measuredList(
    z.strictObject({
      key: z.string(),
      name: z.string(),
      status: z.enum(documentStatuses),
      sortOrder: z.number().nullable(),
      foreignId: z.string().nullable(),
    }),
  ),
  milestones: measuredList(
    z.strictObject({
      key: z.string(),
      phase: z.string(),
      name: z.string().nullable(),
      criterion: z.string().nullable(),
      reached: z.boolean(),
      foreignId: z.string().nullable(),
    }),
  ),
  tasks: measuredList(documentTask, 100_000),
}) satisfies z.ZodType<PlanDocument, unknown>
export const planFormat = z.enum(planFormats)

export const oid = z.string().regex(/^[0-9a-f]{40,64}$/)
export const oidOrNull = oid.nullable()
export const salt = z.string().max(200)
export const count = z.int().min(0)
const hashes = z.string().max(8_000_000)
export const measuredLines = z.strictObject({
  headBefore: oidOrNull,
  headAfter: oidOrNull,
  stashMoved: z.boolean(),
  ran: z.boolean(),
  broughtFrom: measuredList(oid, 10_000),
  steps: measuredList(
    z.strictObject({
      path: z.string(),
      from: z.string().exactOptional(),
      before: oidOrNull,
      after: oidOrNull,
      origin: z.enum(['task', 'imported', 'mixed']),
      hunks: measuredList(z.tuple([count, count, count, count])),
      added: hashes,
      removed: hashes,
      around: z.strictObject({ lines: measuredList(count), hashes }),
      reformatted: measuredList(z.tuple([count, count])).exactOptional(),
      moved: measuredList(z.tuple([z.string(), count, count])).exactOptional(),
      brought: measuredList(z.tuple([count, count])).exactOptional(),
      broughtBy: broughtBy.exactOptional(),
      alike: measuredList(z.tuple([count, count])).exactOptional(),
      staged: oid.exactOptional(),
      link: count.exactOptional(),
      reported: z.literal(true).exactOptional(),
    }),
    5_000,
  ),
  times: measuredList(z.tuple([z.string(), z.number()])),
  notes: measuredList(words, 1_000),
}) satisfies z.ZodType<MeasuredLines, unknown>
export const lineHashes = measuredList(z.string().max(20), 200_000)
export const foundFile = z.strictObject({
  top: path,
  path: z.string(),
  oid: z.string().max(64),
  commit: oidOrNull,
  head: z.strictObject({ commit: oid, oid: oidOrNull }).nullable(),
  hashes: lineHashes,
  stamp: z.string().max(100),
  withoutLines: words.exactOptional(),
}) satisfies z.ZodType<LineHistoryFile, unknown>
export const blamed = z.strictObject({
  lines: measuredList(
    z.strictObject({ commit: oidOrNull, path: z.string(), line: count, currentLine: count, count }),
    200_000,
  ),
  commits: measuredList(
    z.strictObject({
      id: oid,
      author: words,
      authoredAt: z.number(),
      committedAt: z.number(),
      summary: words,
      agent: words.exactOptional(),
      isCut: z.boolean(),
    }),
    200_000,
  ),
  contents: measuredList(z.tuple([oid, z.string(), oid]), 200_000),
  error: words.exactOptional(),
}) satisfies z.ZodType<BlameResult, unknown>

const namedCommit = z.strictObject({ id: oid, committedAt: z.number() })
export const branch = z.strictObject({
  head: namedCommit,
  base: namedCommit,
  commits: measuredList(
    namedCommit.extend({
      author: words,
      email: words,
      subject: words,
      isMerge: z.boolean(),
      paths: names,
    }),
    5_000,
  ),
  files: measuredList(
    z.strictObject({
      path: z.string(),
      from: z.string().exactOptional(),
      change: z.enum(changeKinds),
      before: oidOrNull,
      after: oidOrNull,
    }),
    maxBranchFiles,
  ),
  isShallow: z.boolean(),
  isCut: z.boolean(),
}) satisfies z.ZodType<Branch, unknown>

/** Workspace packages: name and folder. */
export const packages = measuredList(z.tuple([z.string(), z.string()]), 20_000)
export const takenSnapshot = z.strictObject({ ref: place, dirty: names, notes: measuredList(words) })

function isAsyncIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

export const loadedPlan = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('plan'),
    format: planFormat.exclude(['log']),
    document,
    notices: measuredList(words),
  }),
  z.strictObject({
    kind: z.literal('log'),
    // A file on this machine is read line by line; another machine sends the lines.
    lines: z.union([measuredList(words, 1_000_000), z.custom<AsyncIterable<string>>(isAsyncIterable)]),
  }),
])

/** The common state of all work trees of a repository. */
export const location = z.strictObject({
  top: path,
  mainTop: path,
  engine: z.enum(['git', 'checksum']),
  reason: z.string().exactOptional(),
})

import { z } from 'zod'
import { type Branch, mostBranchFiles } from '../../git/ports/branch.ts'
import { leftOutReasons } from '../../git/ports/work-tree.ts'
import type { MeasuredLines } from '../../lines/domain/step.ts'
import type { Blamed, FoundFile } from '../../lines/ports/line-history.ts'
import {
  type DocumentTask,
  documentResolutions,
  documentStatuses,
  type PlanDocument,
} from '../../plan/domain/document.ts'
import { planFormats } from '../../project/ports/project-files.ts'
import type { ChangeReport } from '../../track/domain/changes.ts'
import type { SnapshotPlace } from '../../track/domain/task.ts'

/**
 * What a server may ask of the machine that its caller works on: each call with the shape of its arguments and of its
 * answer. Both sides hold to this table, and nothing else is ever run for a server.
 */

/**
 * A list that is read until its first mistake: what others send may have a mistake in each of its values, and naming
 * them all takes seconds.
 */
function list<Item extends z.ZodType>(item: Item, most = 200_000): z.ZodType<z.output<Item>[], unknown> {
  return z.unknown().transform((value, context) => {
    if (!Array.isArray(value) || value.length > most) {
      context.addIssue(`must be a list of at most ${most}`)
      return z.NEVER
    }
    const read: z.output<Item>[] = []
    for (const [at, one] of value.entries()) {
      const { success, data, error } = item.safeParse(one)
      if (!success) {
        const [first] = error.issues
        context.addIssue({
          code: 'custom',
          path: [at, ...(first?.path ?? [])],
          message: first?.message ?? '',
        })
        return z.NEVER
      }
      read.push(data)
    }
    return read
  })
}

const path = z.string().min(1).max(4_096)
const sha = z.string().regex(/^[0-9a-f]{64}$/)
const moment = z.number().min(0)
const words = z.string().max(1_000_000)
const names = list(z.string().max(4_096), 200_000)

export const place = z.strictObject({
  engine: z.enum(['git', 'checksum']),
  directory: path,
  top: path,
  prefix: z.string().max(4_096),
  id: z.string().max(200),
  edge: z.string().max(100).exactOptional(),
  machine: z.string().max(100).exactOptional(),
}) satisfies z.ZodType<SnapshotPlace, unknown>

const snapshotName = z.string().regex(/^[a-z0-9-]{1,100}$/)
const changeKinds = ['added', 'modified', 'deleted', 'renamed'] as const
const lines = z.int().min(0).nullable()
const ignored = z.strictObject({ added: names, modified: names, deleted: names })
const report = z.strictObject({
  status: z.enum(['exact', 'partial', 'unknown']),
  changes: list(
    z.strictObject({
      path: z.string(),
      from: z.string().exactOptional(),
      change: z.enum(changeKinds),
      typeChanged: z.literal(true).exactOptional(),
      origin: z.enum(['task', 'imported', 'mixed']),
      addedLines: lines,
      deletedLines: lines,
      uncertain: z.string().exactOptional(),
    }),
    200_000,
  ),
  ignored,
  headMoves: list(
    z.strictObject({
      commit: z.string(),
      action: z.string(),
      message: z.string(),
      origin: z.enum(['task', 'imported']),
      at: z.number(),
      paths: names,
    }),
    10_000,
  ),
  notes: list(words, 1_000),
  doubts: list(words, 1_000),
  unreadable: list(words, 1_000),
}) satisfies z.ZodType<ChangeReport, unknown>

const tree = z.strictObject({
  path,
  branch: z.string().nullable(),
  head: z.string().nullable(),
  taskId: z.string().nullable(),
  exists: z.boolean(),
})

const loss = z.strictObject({ total: z.int().nullable(), first: list(words, 5) })
const losses = z.strictObject({ uncommitted: loss, unmerged: loss, submodules: loss })

const known = z.strictObject({ path: z.string(), bytes: z.int(), sha256: sha, stamp: z.string() })
const pinned = z.strictObject({ run: words, folder: path, pinned: names })
const pinnedFile = z.strictObject({ path: z.string(), sha256: z.string().nullable() })
const approved = pinned.extend({
  hash: sha,
  files: list(pinnedFile, 20_000),
  by: z.string(),
  at: moment,
})
const refused = approved.extend({ reason: words })

const shownParts = z.strictObject({
  files: list(
    z.strictObject({ path: z.string(), sha256: z.string().nullable(), text: z.string().nullable() }),
    200_000,
  ),
  facts: z.record(z.string(), z.string()),
})
const difference = z.strictObject({
  files: list(
    z.strictObject({
      path: z.string(),
      shown: z.string().nullable(),
      now: z.string().nullable(),
      diff: z.string().nullable(),
    }),
  ),
  facts: list(z.strictObject({ name: z.string(), shown: z.string().nullable(), now: z.string().nullable() })),
})

/** What a file of a process says; the server reads it by itself. */
const processSource = z.strictObject({
  file: z.string(),
  origin: z.enum(['project', 'shipped', 'file']),
  id: z.string(),
  text: z.string().max(4_000_000),
})

const note = z.strictObject({
  content: z.string(),
  kind: z.string().nullable(),
  role: z.string().nullable(),
  author: z.string().nullable(),
  createdAt: z.number().nullable(),
})
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
  status: z.enum(documentStatuses),
  resolution: z.enum(documentResolutions).nullable(),
  sortOrder: z.number().nullable(),
  dependsOn: list(z.string()),
  notes: list(note),
  creator: z.string().nullable(),
  createdAt: z.number().nullable(),
  updatedAt: z.number().nullable(),
  foreignId: z.string().nullable(),
}) satisfies z.ZodType<DocumentTask, unknown>
const document = z.strictObject({
  phases: list(
    z.strictObject({
      key: z.string(),
      name: z.string(),
      status: z.enum(documentStatuses),
      sortOrder: z.number().nullable(),
      foreignId: z.string().nullable(),
    }),
  ),
  milestones: list(
    z.strictObject({
      key: z.string(),
      phase: z.string(),
      name: z.string().nullable(),
      criterion: z.string().nullable(),
      reached: z.boolean(),
      foreignId: z.string().nullable(),
    }),
  ),
  tasks: list(documentTask, 100_000),
}) satisfies z.ZodType<PlanDocument, unknown>
const planFormat = z.enum(planFormats)

const oid = z.string().regex(/^[0-9a-f]{40,64}$/)
const oidOrNull = oid.nullable()
const salt = z.string().max(200)
const count = z.int().min(0)
const hashes = z.string().max(8_000_000)
const measuredLines = z.strictObject({
  headBefore: oidOrNull,
  headAfter: oidOrNull,
  stashMoved: z.boolean(),
  ran: z.boolean(),
  broughtFrom: list(oid, 10_000),
  steps: list(
    z.strictObject({
      path: z.string(),
      from: z.string().exactOptional(),
      before: oidOrNull,
      after: oidOrNull,
      origin: z.enum(['task', 'imported', 'mixed']),
      hunks: list(z.tuple([count, count, count, count])),
      added: hashes,
      removed: hashes,
      around: z.strictObject({ lines: list(count), hashes }),
      reformatted: list(z.tuple([count, count])).exactOptional(),
      moved: list(z.tuple([z.string(), count, count])).exactOptional(),
      brought: list(z.tuple([count, count])).exactOptional(),
      staged: oid.exactOptional(),
      link: count.exactOptional(),
    }),
    5_000,
  ),
  notes: list(words, 1_000),
}) satisfies z.ZodType<MeasuredLines, unknown>
const lineHashes = list(z.string().max(20), 200_000)
const foundFile = z.strictObject({
  top: path,
  path: z.string(),
  oid: z.string().max(64),
  commit: oidOrNull,
  head: z.strictObject({ commit: oid, oid: oidOrNull }).nullable(),
  hashes: lineHashes,
  stamp: z.string().max(100),
  withoutLines: words.exactOptional(),
}) satisfies z.ZodType<FoundFile, unknown>
const blamed = z.strictObject({
  lines: list(
    z.strictObject({ commit: oidOrNull, path: z.string(), line: count, at: count, count }),
    200_000,
  ),
  commits: list(
    z.strictObject({
      id: oid,
      author: words,
      authoredAt: z.number(),
      committedAt: z.number(),
      summary: words,
      isCut: z.boolean(),
    }),
    200_000,
  ),
  contents: list(z.tuple([oid, z.string(), oid]), 200_000),
  trouble: words.exactOptional(),
}) satisfies z.ZodType<Blamed, unknown>

const namedCommit = z.strictObject({ id: oid, at: z.number() })
const branch = z.strictObject({
  head: namedCommit,
  base: namedCommit,
  commits: list(
    namedCommit.extend({
      author: words,
      email: words,
      subject: words,
      isMerge: z.boolean(),
      paths: names,
    }),
    5_000,
  ),
  files: list(
    z.strictObject({
      path: z.string(),
      from: z.string().exactOptional(),
      change: z.enum(changeKinds),
      before: oidOrNull,
      after: oidOrNull,
    }),
    mostBranchFiles,
  ),
  isShallow: z.boolean(),
  isCut: z.boolean(),
}) satisfies z.ZodType<Branch, unknown>

/** One call that may be asked. */
export interface PortCall {
  readonly args: z.ZodType<readonly unknown[]>
  readonly answer: z.ZodType
  /** The contract that it came with. */
  readonly since: number
  /** A call that changes something is run only while its own machine asks for one of these. */
  readonly during?: readonly string[]
}

const asked = <Args extends z.ZodType<readonly unknown[]>, Answered extends z.ZodType>(
  args: Args,
  answer: Answered,
  during?: readonly string[],
) => ({ args, answer, since: 1, ...(during && { during }) })

const askedSince = <Args extends z.ZodType<readonly unknown[]>, Answered extends z.ZodType>(
  since: number,
  ...[args, answer, during]: Parameters<typeof asked<Args, Answered>>
) => ({ ...asked(args, answer, during), since })

const nothing = z.null()

export const portCalls = {
  'witness.locate': asked(
    z.tuple([path]),
    z.strictObject({
      top: path,
      mainTop: path,
      engine: z.enum(['git', 'checksum']),
      reason: z.string().exactOptional(),
    }),
  ),
  'witness.others': asked(z.tuple([path]), names),
  'witness.snapshot': asked(
    z.tuple([
      z.strictObject({
        folder: path,
        name: snapshotName,
        engine: z.enum(['git', 'checksum']).exactOptional(),
        top: path.exactOptional(),
      }),
    ]),
    z.strictObject({ ref: place, dirty: names, notes: list(words) }),
  ),
  'witness.changes': asked(z.tuple([place, place]), report),
  'witness.lines': askedSince(
    3,
    z.tuple([
      place,
      place,
      z.strictObject({
        salt,
        during: z.enum(['attempt', 'gap']),
        // Only to a machine that keeps copies, since by them it is known what a path went through.
        chains: list(z.strictObject({ path, contents: list(oidOrNull, 20_000) }), 20_000).exactOptional(),
      }),
    ]),
    measuredLines.nullable(),
  ),
  'witness.file': askedSince(
    3,
    z.tuple([z.strictObject({ folder: path, path, rev: z.string().max(300).optional(), salt })]),
    foundFile,
  ),
  'witness.blame': askedSince(
    3,
    z.tuple([z.strictObject({ folder: path, path, commit: oidOrNull, oid, copies: z.boolean() })]),
    blamed,
  ),
  'witness.commits': askedSince(
    3,
    z.tuple([path, z.string().max(1_000), z.int().min(1).max(10_000)]),
    list(z.strictObject({ id: oid, committedAt: z.number(), paths: names })),
  ),
  'witness.files': askedSince(
    3,
    z.tuple([path, z.string().max(300), z.string().max(4_096).nullable()]),
    z.strictObject({
      commit: oid,
      files: list(z.strictObject({ path: z.string(), bytes: count, generated: z.boolean() }), 200_000),
    }),
  ),
  'witness.hashes': askedSince(3, z.tuple([path, list(oid, 20_000), salt]), list(z.tuple([oid, lineHashes]))),
  'witness.branch': askedSince(
    3,
    z.tuple([
      z.strictObject({ folder: path, base: z.string().max(300), head: z.string().max(300).optional() }),
    ]),
    branch,
  ),
  // What files held in a snapshot: for people who look at it where the record is.
  'witness.states': askedSince(
    4,
    z.tuple([place, names]),
    list(
      z.tuple([
        z.string().max(4_096),
        z.strictObject({ id: oidOrNull, hash: oid.optional(), mode: z.string().max(10) }).nullable(),
      ]),
      200_000,
    ).nullable(),
  ),
  'witness.contents': askedSince(
    4,
    z.tuple([list(place, 1_000), list(oid, 20_000), count.max(8_000_000)]),
    list(z.tuple([oid, count, z.string().max(12_000_000).nullable()]), 20_000),
  ),
  'witness.touched': asked(z.tuple([place, place]), names.nullable()),
  'witness.unifiedDiff': asked(
    z.tuple([place, place, names.nullable()]),
    z
      .strictObject({
        text: z.string().max(64_000_000),
        leftOut: list(z.strictObject({ path, why: z.enum(leftOutReasons) }), 200_000),
      })
      .nullable(),
  ),
  // The whole of it, cut where it is longer than so many characters.
  'witness.wholeDiff': asked(
    z.tuple([place, place, z.int().min(1).max(8_000_000)]),
    z.strictObject({ text: z.string().max(8_000_000), cut: z.boolean() }).nullable(),
  ),
  'witness.matching': asked(
    z.tuple([place, names]),
    list(z.strictObject({ area: z.string(), excludes: z.boolean(), files: z.int() })),
  ),
  'witness.overlapping': asked(
    z.tuple([place, names, list(z.strictObject({ areas: names, prefix: z.string() }), 1_000)]),
    list(list(z.strictObject({ ours: z.string(), theirs: z.string() }))),
  ),
  'witness.packages': asked(z.tuple([place]), list(z.tuple([z.string(), z.string()]), 20_000)),
  'witness.treeHash': asked(z.tuple([path]), z.string()),
  'witness.content': asked(
    z.tuple([path]),
    z.strictObject({
      hash: z.string(),
      stamps: list(z.tuple([z.string(), z.string()]), 1_000_000),
    }),
  ),
  // What hooks copied of files: the copies stay where they are.
  'copies.contents': askedSince(
    5,
    z.tuple([place, names]),
    list(
      z.tuple([
        z.string().max(4_096),
        z.strictObject({ id: oidOrNull.exactOptional(), changedAt: z.number().nullable() }),
      ]),
      200_000,
    ),
  ),
  'copies.amended': askedSince(
    5,
    z.tuple([place, snapshotName, list(z.tuple([z.string().max(4_096), oidOrNull]), 20_000)]),
    place.nullable(),
  ),
  'copies.linesOf': askedSince(
    5,
    z.tuple([
      place,
      list(
        z.strictObject({
          by: z.string().max(100),
          before: oidOrNull,
          after: oidOrNull,
          reformats: z.literal(true).exactOptional(),
        }),
        20_000,
      ),
    ]),
    list(z.tuple([z.string().max(100), z.strictObject({ added: count, deleted: count })]), 20_000).nullable(),
  ),
  'linkedTrees.bound': asked(z.tuple([path]), list(z.strictObject({ path, taskId: z.string() }))),
  'linkedTrees.list': asked(z.tuple([path]), list(tree)),
  'linkedTrees.add': asked(
    z.tuple([
      z.strictObject({
        folder: path,
        path,
        branch: z.string().max(300),
        from: z.string().max(300).optional(),
        taskId: z.string().max(100),
      }),
    ]),
    tree.extend({ notes: list(words) }),
    ['worktree_add'],
  ),
  'linkedTrees.remove': asked(z.tuple([path, tree]), nothing, ['worktree_remove']),
  'linkedTrees.losses': askedSince(2, z.tuple([path, tree]), losses),
  'linkedTrees.discard': askedSince(2, z.tuple([path, tree]), losses, ['worktree_remove']),
  'evidenceFiles.read': asked(
    z.tuple([path, names]),
    list(known.extend({ content: z.unknown().optional() })),
  ),
  'evidenceFiles.freshness': asked(
    z.tuple([path, list(known, 20_000)]),
    list(z.enum(['current', 'changed', 'deleted'])),
  ),
  'evidenceFiles.contents': asked(
    z.tuple([path, names]),
    list(z.strictObject({ path: z.string(), sha256: z.string().nullable(), text: z.string().nullable() })),
  ),
  'shownContents.isKept': asked(z.tuple([z.string().max(200)]), z.boolean()),
  'shownContents.keep': asked(z.tuple([z.string().max(200), shownParts]), nothing),
  'shownContents.since': asked(z.tuple([z.string().max(200), shownParts]), difference.nullable()),
  'planFiles.load': asked(
    z.tuple([path, planFormat.nullable()]),
    z.discriminatedUnion('kind', [
      z.strictObject({
        kind: z.literal('plan'),
        format: planFormat.exclude(['journal']),
        document,
        notices: list(words),
      }),
      z.strictObject({ kind: z.literal('journal'), lines: list(words, 1_000_000) }),
    ]),
  ),
  'processFiles.list': asked(z.tuple([]), list(processSource, 1_000)),
  'processFiles.hasOwn': asked(z.tuple([]), z.boolean()),
  'processFiles.load': asked(z.tuple([z.string().max(4_096)]), processSource),
  'commandApprovals.hashOf': asked(z.tuple([pinned]), sha),
  'commandApprovals.filesOf': asked(z.tuple([pinned]), list(pinnedFile)),
  // With whether a person approved it at the server, which counts only where this machine's user said so.
  'commandApprovals.isApproved': asked(z.tuple([sha, z.boolean()]), z.boolean()),
  'commandApprovals.approve': asked(z.tuple([pinned.extend({ hash: sha })]), nothing, ['approve']),
  'commandApprovals.list': asked(z.tuple([names]), list(approved)),
  'commandApprovals.refuse': asked(z.tuple([refused]), nothing, ['reject']),
  'commandApprovals.refusalOf': asked(z.tuple([sha]), refused.nullable()),
  'commandApprovals.refused': asked(z.tuple([names]), list(refused)),
  'commandApprovals.revoke': asked(z.tuple([sha]), nothing, ['command_revoke']),
  'commandRunner.start': asked(
    z.tuple([
      z.strictObject({
        id: z.string().max(100),
        run: words,
        folder: path,
        pinned: names,
        timeout: z.number().positive(),
        hash: sha,
        approvedThere: z.boolean(),
      }),
    ]),
    z.strictObject({
      status: z.enum(['passed', 'failed', 'timed_out', 'stopped', 'running']),
      exitCode: z.int().nullable(),
      output: z.string().max(40_000),
    }),
  ),
} as const satisfies Readonly<Record<string, PortCall>>

export type PortCallName = keyof typeof portCalls

export type ArgsOf<Name extends PortCallName> = z.output<(typeof portCalls)[Name]['args']>
export type AnswerOf<Name extends PortCallName> = z.output<(typeof portCalls)[Name]['answer']>

type Fits = { readonly [Name in PortCallName]?: (args: ArgsOf<Name>, answer: AnswerOf<Name>) => boolean }

/** Whether the keys of an answer are among those of its call. */
function among(answered: readonly string[], asked: readonly string[]): boolean {
  const known = new Set(asked)
  return answered.every((one) => known.has(one))
}

function inOrder(answered: readonly string[], asked: readonly string[]): boolean {
  return answered.length === asked.length && answered.every((one, at) => one === asked[at])
}

const fits: Fits = {
  'witness.states': ([, paths], states) =>
    among(
      (states ?? []).map(([path]) => path),
      paths,
    ),
  'witness.contents': ([, ids], contents) =>
    among(
      contents.map(([id]) => id),
      ids,
    ),
  'witness.hashes': ([, oids], hashes) =>
    among(
      hashes.map(([id]) => id),
      oids,
    ),
  'copies.contents': ([, paths], contents) =>
    among(
      contents.map(([path]) => path),
      paths,
    ),
  'copies.linesOf': ([, steps], lines) =>
    among(
      (lines ?? []).map(([by]) => by),
      steps.map(({ by }) => by),
    ),
  'evidenceFiles.read': ([, paths], files) => files.length <= paths.length,
  'evidenceFiles.freshness': ([, files], answers) => answers.length === files.length,
  'evidenceFiles.contents': ([, paths], contents) =>
    inOrder(
      contents.map(({ path }) => path),
      paths,
    ),
  // What was shown before may be gone since; what is there now is what the call names.
  'shownContents.since': ([, { files, facts }], found) => {
    const now = new Map(files.map(({ path, sha256 }) => [path, sha256]))
    return (
      found === null ||
      (found.files.every((file) => (now.get(file.path) ?? null) === file.now) &&
        found.facts.every((fact) => (facts[fact.name] ?? null) === fact.now))
    )
  },
  'commandApprovals.refusalOf': ([hash], refused) => refused === null || refused.hash === hash,
}

/** Whether an answer is of what its call asked for, and of nothing beside it. */
export function isOfCall<Name extends PortCallName>(
  name: Name,
  args: ArgsOf<Name>,
  answer: AnswerOf<Name>,
): boolean {
  const isFitting: ((args: ArgsOf<Name>, answer: AnswerOf<Name>) => boolean) | undefined = fits[name]
  return isFitting?.(args, answer) ?? true
}

export function isPortCall(name: string): name is PortCallName {
  return Object.hasOwn(portCalls, name)
}

/** A call that the server asks for. */
export const PortRequest = z.strictObject({
  call: z.string().max(100),
  args: list(z.unknown(), 10),
})
export type PortRequest = z.output<typeof PortRequest>

const ToldFailure = z.strictObject({
  code: z.enum(['INVALID_INPUT', 'NOT_FOUND', 'CONFLICT', 'REFUSED', 'FORBIDDEN', 'UNAVAILABLE', 'INTERNAL']),
  message: z.string().max(20_000),
  reason: z.string().max(100).optional(),
  hint: z.string().max(20_000).optional(),
  details: z.record(z.string(), z.unknown()).optional(),
})
export type ToldFailure = z.output<typeof ToldFailure>

/** What came of such a call. */
export const GatheredCall = PortRequest.extend({
  answer: z.unknown().optional(),
  failure: ToldFailure.optional(),
})
export type GatheredCall = z.output<typeof GatheredCall>

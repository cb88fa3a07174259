import { z } from 'zod'
import { leftOutReasons } from '../../git/ports/work-tree.ts'
import {
  approved,
  blamed,
  branch,
  count,
  difference,
  foundFile,
  known,
  lineHashes,
  list,
  loadedPlan,
  location,
  losses,
  measuredLines,
  names,
  oid,
  oidOrNull,
  path,
  pinned,
  pinnedFile,
  place,
  planFormat,
  processSource,
  refused,
  report,
  salt,
  sha,
  shownParts,
  snapshotName,
  tree,
  words,
} from '../../kernel/operations/shapes.ts'
import { SentFailure } from './remote-measurement.ts'

/**
 * What a server may ask of the machine that its caller works on: each call with the shape of its arguments and of its
 * answer. Both sides hold to this table, and nothing else is ever run for a server.
 */

/** One call that may be asked. */
export interface PortCall {
  readonly args: z.ZodType<readonly unknown[]>
  readonly answer: z.ZodType
}

const asked = <Args extends z.ZodType<readonly unknown[]>, Answered extends z.ZodType>(
  args: Args,
  answer: Answered,
) => ({ args, answer })

const nothing = z.null()

export const portCalls = {
  'witness.locate': asked(z.tuple([path]), location),
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
  'witness.lines': asked(
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
  'witness.file': asked(
    z.tuple([z.strictObject({ folder: path, path, rev: z.string().max(300).optional(), salt })]),
    foundFile,
  ),
  'witness.blame': asked(
    z.tuple([z.strictObject({ folder: path, path, commit: oidOrNull, oid, copies: z.boolean() })]),
    blamed,
  ),
  'witness.commits': asked(
    z.tuple([path, z.string().max(1_000), z.int().min(1).max(10_000)]),
    list(z.strictObject({ id: oid, committedAt: z.number(), paths: names })),
  ),
  'witness.files': asked(
    z.tuple([path, z.string().max(300), z.string().max(4_096).nullable()]),
    z.strictObject({
      commit: oid,
      files: list(z.strictObject({ path: z.string(), bytes: count, generated: z.boolean() }), 200_000),
    }),
  ),
  'witness.hashes': asked(z.tuple([path, list(oid, 20_000), salt]), list(z.tuple([oid, lineHashes]))),
  'witness.branch': asked(
    z.tuple([
      z.strictObject({ folder: path, base: z.string().max(300), head: z.string().max(300).optional() }),
    ]),
    branch,
  ),
  // What files held in a snapshot: for people who look at it where the record is.
  'witness.states': asked(
    z.tuple([place, names]),
    list(
      z.tuple([
        z.string().max(4_096),
        z.strictObject({ id: oidOrNull, hash: oid.optional(), mode: z.string().max(10) }).nullable(),
      ]),
      200_000,
    ).nullable(),
  ),
  'witness.contents': asked(
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
  'copies.contents': asked(
    z.tuple([place, names]),
    list(
      z.tuple([
        z.string().max(4_096),
        z.strictObject({ id: oidOrNull.exactOptional(), changedAt: z.number().nullable() }),
      ]),
      200_000,
    ),
  ),
  'copies.amended': asked(
    z.tuple([place, snapshotName, list(z.tuple([z.string().max(4_096), oidOrNull]), 20_000)]),
    place.nullable(),
  ),
  'copies.linesOf': asked(
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
  ),
  'linkedTrees.remove': asked(z.tuple([path, tree]), nothing),
  'linkedTrees.losses': asked(z.tuple([path, tree]), losses),
  'linkedTrees.discard': asked(z.tuple([path, tree]), losses),
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
  'planFiles.load': asked(z.tuple([path, planFormat.nullable()]), loadedPlan),
  'processFiles.list': asked(z.tuple([]), list(processSource, 1_000)),
  'processFiles.hasOwn': asked(z.tuple([]), z.boolean()),
  'processFiles.load': asked(z.tuple([z.string().max(4_096)]), processSource),
  'commandApprovals.hashOf': asked(z.tuple([pinned]), sha),
  'commandApprovals.filesOf': asked(z.tuple([pinned]), list(pinnedFile)),
  // With whether a person approved it at the server, which counts only where this machine's user said so.
  'commandApprovals.isApproved': asked(z.tuple([sha, z.boolean()]), z.boolean()),
  'commandApprovals.list': asked(z.tuple([names]), list(approved)),
  'commandApprovals.refusalOf': asked(z.tuple([sha]), refused.nullable()),
  'commandApprovals.refused': asked(z.tuple([names]), list(refused)),
  'commandApprovals.revoke': asked(z.tuple([sha]), nothing),
} as const satisfies Readonly<Record<string, PortCall>>

export type PortCallName = keyof typeof portCalls

export type ArgsOf<Name extends PortCallName> = z.output<(typeof portCalls)[Name]['args']>
export type AnswerOf<Name extends PortCallName> = z.output<(typeof portCalls)[Name]['answer']>

type PortAnswerChecks = {
  readonly [Name in PortCallName]?: (args: ArgsOf<Name>, answer: AnswerOf<Name>) => boolean
}

/** Whether the keys of an answer are among those of its call. */
function isSubset(answered: readonly string[], asked: readonly string[]): boolean {
  const known = new Set(asked)
  return answered.every((one) => known.has(one))
}

function isSameOrder(answered: readonly string[], asked: readonly string[]): boolean {
  return answered.length === asked.length && answered.every((one, at) => one === asked[at])
}

const fits: PortAnswerChecks = {
  'witness.states': ([, paths], states) =>
    isSubset(
      (states ?? []).map(([path]) => path),
      paths,
    ),
  'witness.contents': ([, ids], contents) =>
    isSubset(
      contents.map(([id]) => id),
      ids,
    ),
  'witness.hashes': ([, oids], hashes) =>
    isSubset(
      hashes.map(([id]) => id),
      oids,
    ),
  'copies.contents': ([, paths], contents) =>
    isSubset(
      contents.map(([path]) => path),
      paths,
    ),
  'copies.linesOf': ([, steps], lines) =>
    isSubset(
      (lines ?? []).map(([by]) => by),
      steps.map(({ by }) => by),
    ),
  'evidenceFiles.freshness': ([, files], answers) => answers.length === files.length,
  'evidenceFiles.contents': ([, paths], contents) =>
    isSameOrder(
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

/** What came of such a call. */
export const PortCallResult = PortRequest.extend({
  answer: z.unknown().optional(),
  failure: SentFailure.optional(),
})
export type PortCallResult = z.output<typeof PortCallResult>

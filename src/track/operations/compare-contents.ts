import { z } from 'zod'
import { measuredList, names, path, place } from '../../kernel/operations/fields.ts'
import {
  type BriefOf,
  isAmong,
  measurement,
  type WorkTree,
} from '../../kernel/operations/measurement-protocol.ts'
import { manifestPaths, manifestPatterns, missingPackages } from '../domain/packages.ts'
import type { SnapshotLocation } from '../domain/task.ts'
import { changesOfTask, firstAttempt } from '../domain/task-work.ts'
import { promisedChanges } from '../domain/verdict.ts'
import { isComparedFile, weakeningKinds } from '../domain/weakened/line-patterns.ts'
import { testedFiles, type Weakening, weakenings } from '../domain/weakened/weakened.ts'
import type { ClaimedCompletion } from './judge-completion.ts'
import { contentsOfSnapshots, decodeText, maxManifestBytes } from './sensitive.ts'

/** More changed test, manifest and CI files are not compared. */
const maxCompared = 500
const maxPackages = 100
/** Manifests and lock files are searched for each package: of more bytes in all, nothing is judged. */
const maxSearched = 4_000_000

/** Compares the contents of changed test, manifest and CI files, and looks packages up in manifests. */
export const comparedContents = measurement({
  brief: z.strictObject({
    from: place,
    end: place,
    paths: measuredList(path, maxCompared),
    /** Files that promised changes name. */
    promised: measuredList(path, maxCompared),
    packages: measuredList(z.string().max(500), maxPackages),
  }),
  measured: z.strictObject({
    weakened: measuredList(
      z.strictObject({
        path,
        line: z.int().min(1).nullable(),
        kind: z.enum(weakeningKinds),
        text: z.string().max(4_500),
      }),
      1_000,
    ),
    missing: names,
    /** Of the promised files, those that changed in nothing but white space. */
    respaced: names,
  }),
  fits: ({ packages, promised }, { missing, respaced }) =>
    isAmong(missing, packages) && isAmong(respaced, promised),
  measure: async (workTree, { from, end, paths, promised, packages }) => {
    const [weakened, missing, respaced] = await Promise.all([
      weakenedFiles(workTree, { from, end, paths }),
      packages.length === 0 ? [] : packagesNowhere(workTree, { end, paths, packages }),
      promised.length === 0 ? [] : respacedFiles(workTree, { from, end, paths: promised }),
    ])
    return { weakened: [...weakened], missing: [...missing], respaced: [...respaced] }
  },
})

/** The files of a task to compare, since its first attempt began; null where there is nothing to compare. */
export function comparisonBrief({
  attempt,
  status,
  outcome,
  evidence,
  related,
  promises,
  sessionTasks,
}: ClaimedCompletion): BriefOf<typeof comparedContents> | null {
  const { endSnapshot: end, measurement: completeness } = evidence
  if (end === null || completeness === 'unknown' || status === 'failed') return null
  const changes = changesOfTask(attempt, { own: evidence.changes, related, touched: null, sessionTasks })
  const paths = changes
    .filter(({ isForeign }) => isForeign !== true)
    .flatMap((change) => (change.from === undefined ? [change.path] : [change.path, change.from]))
    .filter(isComparedFile)
  const promised = promisedChanges(changes, { prefix: attempt.snapshot.prefix, promises })
  const packages = outcome.packagesAdded.filter((name) => name.length <= 500)
  if (paths.length + packages.length + promised.length === 0) return null
  return {
    from: firstAttempt(attempt, related).snapshot,
    end,
    paths: [...new Set(paths)].slice(0, maxCompared),
    promised: promised.slice(0, maxCompared),
    packages: packages.slice(0, maxPackages),
  }
}

interface ComparedRange {
  readonly from: SnapshotLocation
  readonly end: SnapshotLocation
  readonly paths: readonly string[]
}

async function weakenedFiles(
  workTree: Pick<WorkTree, 'witness'>,
  { from, end, paths }: ComparedRange,
): Promise<readonly Weakening[]> {
  if (paths.length === 0) return []
  const contents = await contentsOfSnapshots(workTree, [from, end], paths)
  const files = paths.flatMap((one) => {
    const { before, after } = contents(one)
    return before === undefined || after === undefined
      ? []
      : [{ path: one, before: decodeText(before), after: decodeText(after) }]
  })
  const subjects = files.flatMap(({ path: one, after }) => (after === null ? testedFiles(one) : []))
  const states = subjects.length === 0 ? null : await workTree.witness.contents.states(end, subjects)
  return weakenings(files, (one) => (states?.get(one) ?? null) !== null)
}

/** The files that changed, and whose content is the same without white space. */
async function respacedFiles(
  workTree: Pick<WorkTree, 'witness'>,
  { from, end, paths }: ComparedRange,
): Promise<readonly string[]> {
  const contents = await contentsOfSnapshots(workTree, [from, end], paths)
  return paths.filter((one) => {
    const { before, after } = contents(one)
    if (before == null || after == null) return false
    return withoutSpace(before) === withoutSpace(after)
  })
}

function withoutSpace(content: Uint8Array): string {
  return new TextDecoder('latin1').decode(content).replace(/[ \t\r\n\f\v]+/g, '')
}

/** The packages that no manifest or lock file has; none if one of these files could not be read. */
async function packagesNowhere(
  workTree: Pick<WorkTree, 'witness'>,
  { end, paths, packages }: { readonly packages: readonly string[] } & Omit<ComparedRange, 'from'>,
): Promise<readonly string[]> {
  const { witness } = workTree
  const workspaces = (await witness.packages(end)).map(([, folder]) => `${end.prefix}${folder}/`)
  const folders = [...paths.map((one) => one.slice(0, one.lastIndexOf('/') + 1)), end.prefix, ...workspaces]
  const manifests = manifestPaths(folders)
  const [states, counts] = await Promise.all([
    witness.contents.states(end, manifests),
    witness.matching({ ...end, prefix: '' }, manifestPatterns).catch(() => null),
  ])
  const found = [...(states ?? [])].filter(([, state]) => state !== null)
  const total = new Set(found.map(([name]) => name)).size
  // Where others exist that were not read, a package may be in one of them.
  const known = counts?.slice(0, manifestPatterns.length).reduce((sum, { files }) => sum + files, 0)
  if (known !== total) return []
  const ids = found.flatMap(([, state]) => state?.id ?? [])
  const texts = await witness.contents.read([end], ids, maxManifestBytes)
  const read = ids.flatMap((id) => texts.get(id)?.bytes ?? [])
  const searched = read.reduce((sum, { length }) => sum + length, 0)
  if (read.length < found.length || searched > maxSearched) return []
  return missingPackages(
    packages,
    read.map((bytes) => decodeText(bytes) ?? ''),
  )
}

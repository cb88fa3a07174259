import type { ChangeReport, FileChange, Origin } from '../domain/track/changes.ts'
import { collapseAppeared } from './collapse.ts'
import { type Difference, sameState } from './comparison.ts'
import { settingsDoubts } from './content-settings.ts'
import { compareSnapshots, comparisonPlace, type Span } from './differences.ts'
import { comparisonNotes } from './notes.ts'
import { findOrigins, type Origins } from './origin.ts'
import { changedElsewhere } from './other-work-trees.ts'
import { displayPath, type PathBytes } from './path-bytes.ts'
import { type Reconciled, reconcileIgnored } from './reconciliation.ts'
import {
  type ChangeDetail,
  changeDetails,
  changesType,
  pairEqualContents,
  writeChangeCommits,
} from './renames.ts'
import type { Environment } from './run-git.ts'

/** What differs between two snapshots of one work tree. */
export async function reportChanges(span: Span, environment: Environment): Promise<ChangeReport> {
  const place = comparisonPlace(span, environment)
  const compared = await compareSnapshots(span, place)
  const reconciled = reconcileIgnored(span, compared.values())
  const { differences, collapsed } = collapseAppeared(span, reconciled.differences)
  const [details, origins] = await Promise.all([
    describe(place, differences),
    findOrigins(place, span, [...compared.values()]),
  ])
  const changes = fileChanges(differences, { details, origins, reconciled })
  const all = [...changes, ...collapsed].sort((a, b) => (a.path < b.path ? -1 : 1))
  const lost = details.lost
    ? ['The contents of some changed files are gone or were not kept: their lines are not counted.']
    : []
  const doubts = [
    ...new Set([
      ...all.flatMap(({ uncertain }) => uncertain ?? []),
      ...origins.doubts,
      ...settingsDoubts(span),
    ]),
  ]
  const elsewhere = all.length === 0 ? await changedElsewhere(span) : []
  return {
    status: doubts.length === 0 ? 'verified' : 'partial',
    changes: all,
    ignored: reconciled.ignored,
    headMoves: origins.moves,
    notes: [
      ...new Set([
        ...comparisonNotes(span, compared.values()),
        ...reconciled.notes,
        ...origins.notes,
        ...lost,
        ...elsewhere,
      ]),
    ],
    doubts,
  }
}

/** The paths that differ, without renames, lines and origins. */
export async function touchedPaths(span: Span, environment: Environment): Promise<string[]> {
  const compared = await compareSnapshots(span, comparisonPlace(span, environment))
  return reconcileIgnored(span, compared.values())
    .differences.map(({ path }) => displayPath(path))
    .sort()
}

interface Details {
  readonly byPath: ReadonlyMap<PathBytes, ChangeDetail>
  /** Old names of renames, which are no deletions. */
  readonly renamedAway: ReadonlySet<PathBytes>
  readonly lost: boolean
}

async function describe(
  place: Parameters<typeof writeChangeCommits>[0],
  differences: readonly Difference[],
): Promise<Details> {
  if (differences.length === 0) return { byPath: new Map(), renamedAway: new Set(), lost: false }
  const commits = await writeChangeCommits(place, differences)
  const counted = commits.without.size === differences.length ? [] : await changeDetails(place, commits)
  const uncounted = differences.filter(({ path }) => commits.without.has(path))
  const pairs = pairEqualContents(uncounted)
  const paired = [...pairs].map(([path, from]): ChangeDetail => {
    return { path, from, addedLines: null, deletedLines: null }
  })
  const details = [...counted, ...paired]
  return {
    byPath: new Map(details.map((detail) => [detail.path, detail])),
    renamedAway: new Set(details.flatMap(({ from }) => (from === undefined ? [] : [from]))),
    lost: uncounted.some(({ before, after }) => before?.mode !== '160000' && after?.mode !== '160000'),
  }
}

interface Findings {
  readonly details: Details
  readonly origins: Origins
  readonly reconciled: Reconciled
}

function fileChanges(differences: readonly Difference[], findings: Findings): FileChange[] {
  const { byPath, renamedAway } = findings.details
  return differences.flatMap((difference): FileChange[] => {
    const { path, before, after } = difference
    if (after === null && renamedAway.has(path)) return []
    const detail = byPath.get(path)
    const from = before === null ? detail?.from : undefined
    const uncertain = doubtAbout(difference, findings.reconciled)
    return [
      {
        path: displayPath(path),
        ...(from === undefined ? {} : { from: displayPath(from) }),
        change:
          from !== undefined
            ? 'renamed'
            : before === null
              ? 'added'
              : after === null
                ? 'deleted'
                : 'modified',
        ...(changesType(difference) ? { typeChanged: true } : {}),
        origin: joinOrigins(findings.origins.of(path), from === undefined ? [] : [findings.origins.of(from)]),
        addedLines: detail?.addedLines ?? null,
        deletedLines: detail?.deletedLines ?? null,
        ...(uncertain === undefined ? {} : { uncertain }),
      },
    ]
  })
}

function joinOrigins(first: Origin, others: readonly Origin[]): Origin {
  return others.every((other) => other === first) ? first : 'mixed'
}

function doubtAbout({ path, before, after, entryBefore, entryAfter }: Difference, reconciled: Reconciled) {
  const known = reconciled.uncertain.get(path)
  if (known !== undefined) return known
  const doubt = entryAfter?.uncertain ?? entryBefore?.uncertain
  if (doubt !== undefined) return doubt
  const byTimes = before !== null && after !== null && (before.oid === null || after.oid === null)
  return byTimes && !sameState(before, after) ? 'Compared by size and times, not by content.' : undefined
}

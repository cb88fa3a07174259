import type { Evidence } from '../../domain/fact.ts'
import type { AttemptId } from '../../domain/id.ts'
import { type AttributedChanges, attributeChanges, type Contender } from '../../domain/track/attribution.ts'
import type { ChangeReport } from '../../domain/track/changes.ts'
import type { ReportedChange } from '../../domain/track/evidence.ts'
import { parseScope } from '../../domain/track/scope/scope.ts'
import { judgeScope } from '../../domain/track/scope/verdict.ts'
import type { SnapshotPlace } from '../../domain/track/snapshot.ts'
import type { Attempt } from '../../domain/track/task.ts'
import { mostNeighbours, type Neighbours } from './neighbours.ts'
import type { MeasuredStretch } from './stretches.ts'

interface Surroundings {
  readonly neighbours: Neighbours
  readonly stretches: readonly MeasuredStretch[]
  readonly packages: ReadonlyMap<string, string>
}

/** Judges a measured report: whose each change is, whether it lies in the scope, and how sure all of it is. */
export function judge(
  attempt: Attempt,
  report: ChangeReport,
  around: Surroundings,
  endSnapshot: SnapshotPlace | null,
): Evidence {
  const scopeOf = ({ areas, snapshot }: Attempt) =>
    parseScope(areas, { prefix: snapshot.prefix, packages: around.packages })
  const contenders = contendersOf(around, scopeOf)
  const attributed = attribute(attempt, report, around.stretches, contenders)
  const own = report.changes.filter(({ path }) => attributed === null || attributed.own.has(path))
  const alsoAllowed = (path: string) => {
    const via = around.neighbours.get(attributed?.own.get(path)?.via ?? '')
    return via ? [scopeOf(via)] : []
  }
  const verdict = judgeScope(scopeOf(attempt), { status: report.status, changes: own }, alsoAllowed)
  const changes = verdict.files.map(({ change, scope }): ReportedChange => {
    const claim = attributed?.own.get(change.path)
    return {
      ...change,
      scope,
      attribution: claim?.certainty ?? 'certain',
      ...(claim?.via !== undefined && { via: claim.via as AttemptId }), // it came in as an attempt's id
    }
  })
  const contested = changes.filter(({ attribution }) => attribution === 'contested').length
  const crowded = around.neighbours.size >= mostNeighbours
  return {
    verification: report.status === 'verified' && (contested > 0 || crowded) ? 'partial' : report.status,
    changes,
    ignored: report.ignored,
    scope: { matches: verdict.scopeMatch, unexpected: verdict.unexpectedFiles },
    warnings: [
      ...verdict.warnings,
      ...report.doubts,
      ...report.notes,
      ...foreignNote(attributed),
      ...(crowded
        ? [`${mostNeighbours} or more attempts were open in this work tree: not all of them were compared.`]
        : []),
      ...(contested === 0
        ? []
        : [
            `${contested} file(s) changed while several attempts were open here: whose they are is contested.`,
          ]),
    ],
    endSnapshot,
  }
}

function contendersOf(
  { neighbours }: Surroundings,
  scopeOf: (attempt: Attempt) => Contender['scope'],
): ReadonlyMap<string, Contender> {
  return new Map(
    [...neighbours.values()].map((neighbour) => [
      neighbour.id,
      {
        id: neighbour.id,
        ancestors: neighbour.above,
        scope: scopeOf(neighbour),
        reported: new Set<string>(),
      },
    ]),
  )
}

/** Null when nobody else was there: then everything is the attempt's. */
function attribute(
  attempt: Attempt,
  report: ChangeReport,
  stretches: readonly MeasuredStretch[],
  contenders: ReadonlyMap<string, Contender>,
): AttributedChanges | null {
  if (stretches.length === 0) return null
  const known = stretches.map(({ touched, open }) => ({
    touched,
    open: open.map((id) => contenders.get(id)).filter((contender) => contender !== undefined),
  }))
  return attributeChanges(attempt.id, known, report.changes)
}

function foreignNote(attributed: AttributedChanges | null): readonly string[] {
  if (attributed === null || attributed.foreign.size === 0) return []
  const others = [...new Set([...attributed.foreign.values()].flat())]
  return [
    `${attributed.foreign.size} file(s) changed by other attempts (${others.slice(0, 5).join(', ')}) are not listed here.`,
  ]
}

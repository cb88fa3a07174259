import type { Evidence } from '../../domain/fact.ts'
import { Failure } from '../../domain/failure.ts'
import type { ChangeReport } from '../../domain/track/changes.ts'
import type { ClaimedWork } from '../../domain/track/claimed-paths.ts'
import type { SnapshotPlace } from '../../domain/track/snapshot.ts'
import type { Attempt } from '../../domain/track/task.ts'
import type { Context } from '../context.ts'
import { namesPackage } from './areas-at-start.ts'
import { judge } from './judge.ts'
import { readNeighbours } from './neighbours.ts'
import { neighbourhood } from './stretches.ts'

/** What an agent says when it completes a task, as far as it bears on the measurement. */
export interface Claims {
  readonly outcome: ClaimedWork
  /** Areas beyond those declared at the start. */
  readonly areas: readonly string[]
}

const nothingSaid: Claims = { outcome: { summary: '', achievements: [] }, areas: [] }

/** Measures what an attempt changed, and judges it. What cannot be measured is reported as unknown, never as nothing. */
export async function measure(
  handling: Context,
  attempt: Attempt,
  claims: Claims = nothingSaid,
): Promise<Evidence> {
  const { store, witness, clock, ids } = handling
  const at = clock.now()
  const end = await endSnapshot(handling, attempt, ids.next('attempt'))
  // Read after the snapshot: whoever began while it was taken may have changed what it saw.
  const neighbours = await store.view(({ tasks }) => readNeighbours(tasks, attempt))
  if (end.place === null)
    return judge(
      attempt,
      end.report,
      { neighbours, stretches: [], packages: new Map() },
      { claims, endSnapshot: null },
    )
  const report = await witness.changes(attempt.snapshot, end.place)
  const [stretches, packages] = await Promise.all([
    report.changes.length + report.headMoves.length === 0
      ? []
      : neighbourhood(witness, attempt, neighbours, { at, place: end.place }),
    namesPackage([...claims.areas, ...[...neighbours.values()].flatMap(({ areas }) => areas)])
      ? witness.packages(end.place)
      : new Map<string, string>(),
  ])
  const noted = { ...report, notes: [...end.notes, ...report.notes] }
  return judge(attempt, noted, { neighbours, stretches, packages }, { claims, endSnapshot: end.place })
}

type End =
  | { readonly place: SnapshotPlace; readonly notes: readonly string[] }
  | { readonly place: null; readonly report: ChangeReport }

async function endSnapshot({ witness }: Context, attempt: Attempt, name: string): Promise<End> {
  const { top, prefix, engine } = attempt.snapshot
  try {
    const { ref, notes } = await witness.snapshot({ folder: `${top}/${prefix}`, name, engine, top })
    return { place: ref, notes }
  } catch (error) {
    // A work tree that is gone stays gone; anything else may be mended, and the attempt stays open until then.
    if (!(error instanceof Failure && error.code === 'UNAVAILABLE')) throw error
    const doubt = `The end state could not be recorded: ${error.message}`
    const nothing = { added: [], modified: [], deleted: [] }
    return {
      place: null,
      report: { status: 'unknown', changes: [], ignored: nothing, headMoves: [], notes: [], doubts: [doubt] },
    }
  }
}

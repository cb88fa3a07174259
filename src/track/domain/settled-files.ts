import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import type { ReportedChange } from './changes.ts'
import { probablyOthersNotes, unknownAuthorNotes } from './owner-notes.ts'

/** The changes of an ended attempt, and what is measured of it besides. */
export interface SettledWork {
  readonly changes: readonly ReportedChange[]
  readonly evidence: Omit<AttemptMeasurement, 'changes' | 'mission'>
}

/** What is left of a measurement when uncertain files turn out to be others'. `own` is the agent's name. */
export function withoutSettled(
  { changes, evidence }: SettledWork,
  { paths, candidates, cause }: Pick<ProjectEventOf<'files.settled'>, 'paths' | 'candidates' | 'cause'>,
  own: string,
): SettledWork {
  const gone = new Set(paths)
  const kept = changes.filter(({ path }) => !gone.has(path))
  const unexpected = evidence.scope.unexpected.filter((path) => !gone.has(path))
  const matches = evidence.scope.matches === null ? null : unexpected.length === 0
  const { contested = [], released = [] } = evidence
  const open = contested.filter(({ path }) => !released.includes(path))
  const all = (some: readonly string[]) => some
  const unknown = unknownAuthorNotes(changes, own, all)
  const asked = evidence.warnings.filter((warning) => unknown.some((note) => warning.startsWith(note)))
  const stale = [...asked, ...probablyOthersNotes(open)]
  const taken = changes.flatMap(({ path }) => (gone.has(path) ? [path] : []))
  const settled = {
    ...evidence,
    scope: { matches, unexpected },
    warnings: [
      ...evidence.warnings.filter((warning) => !stale.includes(warning)),
      ...unknownAuthorNotes(kept, own, asked.some((warning) => !unknown.includes(warning)) ? () => [] : all),
      ...probablyOthersNotes(open.filter(({ path }) => !gone.has(path))),
      ...(taken.length > 0 ? [releaseNote(taken, { candidates, cause })] : []),
    ],
    contested: [
      ...contested.filter(({ path }) => cause === 'denied' || !gone.has(path)),
      ...(cause === 'denied' ? taken : paths).map((path) => ({ path, candidates })),
    ],
    released: [...new Set([...released, ...paths])],
    uncertain: (evidence.uncertain ?? []).filter((path) => !gone.has(path)),
    ...(cause === 'denied' && { denied: [...(evidence.denied ?? []), ...paths] }),
  }
  return { changes: kept, evidence: settled }
}

function releaseNote(
  paths: readonly string[],
  { candidates, cause }: Pick<ProjectEventOf<'files.settled'>, 'candidates' | 'cause'>,
): string {
  const files = `${paths.slice(0, 5).join(', ')}${paths.length > 5 ? ` and ${paths.length - 5} more` : ''}`
  return `Not counted here any more: ${files} (${cause === 'claimed' ? `claimed by ${candidates.join(', ')}` : 'denied by its agent'}).`
}

import { countedArtifacts } from '../artifacts.ts'
import { type GuardKind, satisfiedGuard, unsatisfiedGuard } from './guard.ts'

export interface ArtifactGuard {
  readonly type: 'artifact'
  readonly artifactType: string
  /** The number of different files needed; `exists` is one. */
  readonly count: number
}

/** Files of a type were submitted. */
export const artifact: GuardKind<ArtifactGuard> = {
  needs: ({ artifactType }) => [{ kind: 'artifacts', type: artifactType }],
  evaluate: ({ artifactType, count }, evidence) => {
    const { counted, passedOver } = countedArtifacts(artifactType, evidence)
    const why = passedOver.length === 0 ? '' : `; not counted: ${passedOver.join('; ')}`
    if (counted.length >= count)
      return satisfiedGuard(`${counted.length} of ${count} "${artifactType}" submitted`)
    const lacking =
      count === 1
        ? `no "${artifactType}" ${passedOver.length === 0 ? 'was submitted' : 'counts'}`
        : `not enough "${artifactType}" (now: ${counted.length}, needed: ${count})`
    return unsatisfiedGuard(
      `${lacking}${why}`,
      `Attach ${missingFilesText(artifactType, count - counted.length)} to the event.`,
    )
  },
}

function missingFilesText(type: string, missing: number): string {
  return missing === 1 ? `a file of type "${type}"` : `${missing} more files of type "${type}"`
}

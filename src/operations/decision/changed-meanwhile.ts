import { Failure } from '../../domain/failure.ts'

/** What was to be approved changed between the look at it and the approval. */
export function changedMeanwhile(id: string): Failure {
  return new Failure('CONFLICT', `${id} changed while you answered: nothing was decided.`, {
    hint: 'Look at it again: waymark inbox.',
  })
}

import { Failure } from '../../domain/failure.ts'
import type { WorkTreeWitness } from '../../ports/work-tree.ts'

export function assertNamed(input: {
  readonly name?: string | undefined
  readonly planned_task_id?: string | undefined
}): void {
  if (input.name !== undefined || input.planned_task_id !== undefined) return
  throw new Failure('INVALID_INPUT', 'start_task: "name" is missing.', {
    hint: 'Give the new task a name and a goal, or name a planned one with planned_task_id.',
  })
}

/** The folder to witness: the connection's own, or another work tree of the same repository. */
export async function assertSameProject(
  witness: WorkTreeWitness,
  folder: string,
  asked: string | undefined,
): Promise<string> {
  if (asked === undefined) return folder
  const [own, other] = await Promise.all([witness.locate(folder), witness.locate(asked)])
  if (own.mainTop === other.mainTop) return asked
  throw new Failure(
    'INVALID_INPUT',
    `The work tree ${asked} belongs to ${other.mainTop}, not to this project (${own.mainTop}).`,
    { hint: 'Name a work tree of this repository, or leave work_tree out.' },
  )
}

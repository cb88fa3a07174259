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
  // Not from where the process happens to run: a client starts its servers anywhere.
  const place = isAbsolute(asked) ? asked : `${folder}/${asked}`
  const [own, other] = await Promise.all([witness.locate(folder), witness.locate(place)])
  if (own.mainTop === other.mainTop) return place
  throw new Failure(
    'INVALID_INPUT',
    `The work tree ${asked} belongs to ${other.mainTop}, not to this project (${own.mainTop}).`,
    { hint: 'Name a work tree of this repository, or leave work_tree out.' },
  )
}

function isAbsolute(path: string): boolean {
  return /^(?:[/\\]|[a-z]:)/i.test(path)
}

import { Failure } from '../../domain/failure.ts'
import type { WorkTreeWitness } from '../../ports/work-tree.ts'
import type { Context } from '../context.ts'

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
export async function workTreeOf(
  { witness, folder, actor }: Pick<Context, 'witness' | 'folder' | 'actor'>,
  asked: string | undefined,
): Promise<string> {
  if (asked === undefined) {
    if (actor.channel === 'http') await assertOnlyTree(witness, folder)
    return folder
  }
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

const mostShown = 5

/** A server is not started where its clients work: with several work trees it cannot know which one is meant. */
async function assertOnlyTree(witness: WorkTreeWitness, folder: string): Promise<void> {
  const others = await witness.others(folder)
  if (others.length === 0) return
  const { top } = await witness.locate(folder)
  const shown = [top, ...others].slice(0, mostShown).join(', ')
  const more = others.length + 1 > mostShown ? `, and ${others.length + 1 - mostShown} more` : ''
  throw new Failure(
    'INVALID_INPUT',
    `start_task: "work_tree" is missing. Over HTTP it does not show which of ${others.length + 1} work trees you work in: ${shown}${more}.`,
    { hint: 'Give the folder whose files you edit as work_tree.' },
  )
}

function isAbsolute(path: string): boolean {
  return /^(?:[/\\]|[a-z]:)/i.test(path)
}

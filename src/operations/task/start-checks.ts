import { Failure } from '../../domain/failure.ts'
import type { Store } from '../../ports/store.ts'
import type { WorkTreeWitness } from '../../ports/work-tree.ts'
import type { Context } from '../context.ts'
import { findPhase } from '../plan/find.ts'

export function assertNamed(input: {
  readonly name?: string | undefined
  readonly planned_task_id?: string | undefined
}): void {
  if (input.name !== undefined || input.planned_task_id !== undefined) return
  throw new Failure('INVALID_INPUT', 'start_task: "name" is missing.', {
    hint: 'Give the new task a name and a goal, or name a planned one with planned_task_id.',
  })
}

interface InTree {
  readonly name?: string | undefined
  readonly planned_task_id?: string | undefined
  readonly work_tree?: string | undefined
}

/**
 * A task that has a work tree of its own is worked on there; in such a tree, nothing else needs to be named. Answers
 * what to say of it.
 */
export async function inOwnTree<Input extends InTree>(
  { linkedTrees, witness, folder }: Pick<Context, 'linkedTrees' | 'witness' | 'folder'>,
  input: Input,
): Promise<{ readonly input: Input; readonly said: readonly string[] }> {
  const { name, planned_task_id: planned, work_tree: asked } = input
  if (planned !== undefined ? asked !== undefined : name !== undefined) return { input, said: [] }
  const bound = await linkedTrees.bound(folder)
  if (bound.length === 0) return { input, said: [] }
  if (planned === undefined) {
    const { top } = await witness.locate(
      asked === undefined || isAbsolute(asked) ? (asked ?? folder) : `${folder}/${asked}`,
    )
    const own = bound.find(({ path }) => path === top)
    return { input: own ? { ...input, planned_task_id: own.taskId } : input, said: [] }
  }
  const own = bound.find(({ taskId }) => taskId === planned)
  if (!own || own.path === (await witness.locate(folder)).top) return { input, said: [] }
  return {
    input: { ...input, work_tree: own.path },
    said: [`The task has a work tree of its own, ${own.path}: edit there, only that is measured.`],
  }
}

interface NamingPhase {
  readonly phase_id?: string | undefined
  readonly phase?: number | undefined
  readonly mission_id?: string | undefined
  readonly workflow_id?: string | undefined
}

/** A phase that is named by its id, as its mission and number. */
export async function inNamedPhase<Input extends NamingPhase>(store: Store, input: Input): Promise<Input> {
  const { phase_id: id, mission_id, workflow_id } = input
  if (id === undefined) return input
  const phase = await store.view((reads) => findPhase(reads, id))
  if (phase.missionId === null || phase.number === null) {
    throw new Failure('INVALID_INPUT', `Phase ${id} "${phase.name}" has no number in a mission.`, {
      hint: `Plan the task in it with taskman_task_add { title, phase: "${id}" }, and begin it with start_task { planned_task_id }.`,
    })
  }
  const named = mission_id ?? workflow_id ?? phase.missionId
  if (named !== phase.missionId || (input.phase !== undefined && input.phase !== phase.number)) {
    throw new Failure(
      'CONFLICT',
      `Phase ${id} is phase ${phase.number} of ${phase.missionId}, not of ${named}${input.phase === undefined ? '' : `, phase ${input.phase}`}.`,
      {
        hint: 'Give phase_id alone, or the mission and the phase number.',
      },
    )
  }
  return { ...input, phase: phase.number, ...(workflow_id === undefined && { mission_id: phase.missionId }) }
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

import { excerpt } from '../../domain/budget.ts'
import { instant } from '../../domain/instant.ts'
import type { AreaCount } from '../../domain/track/scope/survey.ts'
import type { StartedTask } from '../../domain/track/start-task.ts'
import type { Reads } from '../../ports/store.ts'
import type { Snapshot } from '../../ports/work-tree.ts'
import { taskStory } from './task-story.ts'

const mostAreas = 20

/** What start_task answers: the seed's keys, then what the areas matched and what to know. */
export function startAnswer(
  started: StartedTask,
  measured: {
    readonly snapshot: Snapshot
    readonly survey: readonly AreaCount[]
    readonly rivals: readonly string[]
  },
) {
  const { task, attempt, phase } = started
  const survey = started.resumed ? [] : measured.survey
  return {
    task_id: task.id,
    attempt_id: attempt.id,
    snapshot_id: attempt.snapshot.id,
    snapshot_type: attempt.snapshot.engine,
    started_at: instant(attempt.openedAt),
    phase_id: phase?.id ?? null,
    phase_created: started.phaseCreated,
    phase_number: phase?.number ?? null,
    caller_type: attempt.callerType,
    agent_name: attempt.agentName,
    areas: survey.slice(0, mostAreas).map(({ area, files }) => ({ area: excerpt(area, 120), files })),
    warnings: [
      ...(started.resumed
        ? [`Attempt ${attempt.id} was already open: it goes on from its first snapshot.`]
        : []),
      ...started.notes,
      ...measured.snapshot.notes,
      ...(started.resumed ? [] : dirtyNote(measured.snapshot.dirty)),
      ...unmatchedNotes(survey.filter(({ files }) => files === 0)),
      ...measured.rivals,
    ],
  }
}

/** What a planned task is about, what it builds on, and what was tried before: nobody starts blind. */
export async function plannedStory(reads: Reads, started: StartedTask) {
  const { task } = started
  const phase = task.phaseId === null ? started.phase : await reads.plan.phase(task.phaseId)
  const { dependencies, ...rest } = await taskStory(reads, task.id)
  return {
    goal: task.goal,
    phase: phase && { id: phase.id, number: phase.number, name: phase.name },
    depends_on: dependencies,
    ...rest,
  }
}

const mostDirty = 5

function dirtyNote(dirty: readonly string[]): readonly string[] {
  if (dirty.length === 0) return []
  const more = dirty.length > mostDirty ? ` and ${dirty.length - mostDirty} more` : ''
  const shown = dirty.slice(0, mostDirty).map((path) => excerpt(path, 120))
  return [
    `${dirty.length === 1 ? '1 file already has' : `${dirty.length} files already have`} uncommitted changes: ${shown.join(', ')}${more}. Only what changes from now on counts as yours.`,
  ]
}

const mostUnmatched = 5

function unmatchedNotes(survey: readonly AreaCount[]): readonly string[] {
  const more = survey.length - mostUnmatched
  return [
    ...survey
      .slice(0, mostUnmatched)
      .map(
        ({ area }) =>
          `Area "${excerpt(area, 120)}" matches no file yet. Unless it is for new files, check the spelling.`,
      ),
    ...(more > 0 ? [`${more} more areas match no file yet.`] : []),
  ]
}

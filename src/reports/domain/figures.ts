/** Whether Waymark measured a figure, or an agent claimed it. */
export type FigureBasis = 'measured' | 'claimed'

export interface FigureDefinition {
  readonly figure: FigureName
  readonly title: string
  readonly basis: FigureBasis
  /** The plural of what n counts. */
  readonly unit: string
  /** The definition that every surface shows with it. */
  readonly definition: string
}

export type FigureName =
  | 'attempt_time'
  | 'task_time'
  | 'mission_time'
  | 'first_pass'
  | 'verdicts'
  | 'landed'
  | 'waiting'
  | 'out_of_scope'
  | 'retries'
  | 'refused_events'
  | 'lines'
  | 'tokens'
  | 'turn_tokens'

/** The definition of each figure, in display order. */
export const figureDefinitions: readonly FigureDefinition[] = [
  {
    figure: 'task_time',
    title: 'Task time',
    basis: 'measured',
    unit: 'tasks',
    definition:
      'From the start of the first attempt to the end of the one that completed the task, nights included.',
  },
  {
    figure: 'attempt_time',
    title: 'Attempt time',
    basis: 'measured',
    unit: 'attempts',
    definition:
      'From the start of an attempt to its completion, nights included. Abandoned attempts are not counted.',
  },
  {
    figure: 'mission_time',
    title: 'Mission time',
    basis: 'measured',
    unit: 'missions',
    definition:
      'From the start of a mission to its completion, nights included. Failed missions are not counted.',
  },
  {
    figure: 'first_pass',
    title: 'First pass',
    basis: 'claimed',
    unit: 'tasks',
    definition:
      'Share of completed tasks that needed one attempt, and that no person and no process sent back. The completion is a claim.',
  },
  {
    figure: 'verdicts',
    title: 'First verdicts',
    basis: 'measured',
    unit: 'completions',
    definition:
      'The verdict of each completion when it was claimed. Those that were contradicted and later cleared for the same work are counted apart. Failed attempts are not counted.',
  },
  {
    figure: 'landed',
    title: 'Landed',
    basis: 'measured',
    unit: 'tasks',
    definition:
      'Completed tasks with at least 80 % of their lines on the default branch: now, and by 1, 7 and 30 days after completion. Tasks without changed lines are not counted.',
  },
  {
    figure: 'waiting',
    title: 'Waiting for people',
    basis: 'measured',
    unit: 'answers',
    definition: 'From the opening of an inbox item to a person’s answer. Open items are not counted.',
  },
  {
    figure: 'out_of_scope',
    title: 'Files out of scope',
    basis: 'measured',
    unit: 'attempts',
    definition: 'Changed files that no path of the scope covers. Counts measured attempts with a scope.',
  },
  {
    figure: 'retries',
    title: 'Attempts per task',
    basis: 'measured',
    unit: 'tasks',
    definition: 'How often a task was started, including the first time. Counts tasks with an ended attempt.',
  },
  {
    figure: 'refused_events',
    title: 'Refused events',
    basis: 'measured',
    unit: 'events',
    definition:
      'Events that agents and people sent to a process too early: a condition was missing, or another step came first. Share of all events.',
  },
  {
    figure: 'lines',
    title: 'Changed lines',
    basis: 'measured',
    unit: 'attempts',
    definition:
      'Lines added and deleted by measured attempts, without those that git brought. A line that two attempts changed counts twice; for a mission it counts once.',
  },
  {
    figure: 'tokens',
    title: 'Tokens',
    basis: 'claimed',
    unit: 'attempts',
    definition: 'Tokens that agents report for their attempts.',
  },
  {
    figure: 'turn_tokens',
    title: 'Tokens of turns',
    basis: 'claimed',
    unit: 'turns',
    definition: 'Tokens that clients report for recorded turns, subagents included.',
  },
]

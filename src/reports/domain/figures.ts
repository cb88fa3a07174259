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
      'From the start of the first attempt at a task to the end of the attempt that completed it. Wall time, nights and waits included. Counts tasks that an attempt completed.',
  },
  {
    figure: 'attempt_time',
    title: 'Attempt time',
    basis: 'measured',
    unit: 'attempts',
    definition:
      'From start_task to complete_task. Wall time. Abandoned attempts are not counted, because the end of their work is unknown.',
  },
  {
    figure: 'mission_time',
    title: 'Mission time',
    basis: 'measured',
    unit: 'missions',
    definition: 'From the start of a mission to its completion. Wall time. Failed missions are not counted.',
  },
  {
    figure: 'first_pass',
    title: 'First pass',
    basis: 'claimed',
    unit: 'tasks',
    definition:
      'Share of completed tasks that needed one attempt, without a rejected review, scope or approval, and whose run entered no state twice. The completion is the agent’s claim; the rest is recorded.',
  },
  {
    figure: 'verdicts',
    title: 'Verdicts',
    basis: 'measured',
    unit: 'completions',
    definition:
      'The first verdict of each completion: proven, unproven or contradicted by the measurement. Explained: contradicted first, then cleared for the same work, by other words or a later check. Failed attempts claim nothing and are not counted.',
  },
  {
    figure: 'landed',
    title: 'Landed',
    basis: 'measured',
    unit: 'tasks',
    definition:
      'Completed tasks with at least 80 % of their lines on the default branch. After 1, 7 and 30 days: of the tasks completed that long ago, those that had landed by then. Tasks without changed lines are not counted.',
  },
  {
    figure: 'waiting',
    title: 'Waiting for people',
    basis: 'measured',
    unit: 'answers',
    definition:
      'From the opening of an inbox item to a person’s answer. Open items are not counted. Items that wait at the same time each count fully.',
  },
  {
    figure: 'out_of_scope',
    title: 'Files out of scope',
    basis: 'measured',
    unit: 'attempts',
    definition: 'Files that an attempt changed out of scope. Counts measured attempts with a scope.',
  },
  {
    figure: 'retries',
    title: 'Attempts per task',
    basis: 'measured',
    unit: 'tasks',
    definition: 'How often a task was started, the first time included. Counts tasks with an ended attempt.',
  },
  {
    figure: 'refused_events',
    title: 'Refused events',
    basis: 'measured',
    unit: 'events',
    definition: 'Events that a guard or the state of a run refused, of all events sent.',
  },
  {
    figure: 'lines',
    title: 'Changed lines',
    basis: 'measured',
    unit: 'attempts',
    definition:
      'Lines added and deleted by measured attempts, summed: a line that two attempts changed counts twice. Files without lines, such as images, are counted separately.',
  },
  {
    figure: 'tokens',
    title: 'Tokens',
    basis: 'claimed',
    unit: 'attempts',
    definition: 'Tokens that agents report. Counts attempts with a number.',
  },
  {
    figure: 'turn_tokens',
    title: 'Tokens of turns',
    basis: 'claimed',
    unit: 'turns',
    definition:
      'Tokens that clients report for recorded turns and their subagents. Counts ended turns; they belong to no mission or role.',
  },
]

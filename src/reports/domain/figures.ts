/** Whether a figure rests on what Waymark saw itself, or on what an agent said. */
export type FigureBasis = 'measured' | 'claimed'

export interface FigureDefinition {
  readonly figure: FigureName
  readonly title: string
  readonly basis: FigureBasis
  /** What its n counts, in the plural. */
  readonly unit: string
  /** What it is, in the words that every surface shows beside it. */
  readonly definition: string
}

export type FigureName =
  | 'attempt_time'
  | 'task_time'
  | 'mission_time'
  | 'first_pass'
  | 'waiting'
  | 'out_of_scope'
  | 'retries'
  | 'refused_events'
  | 'lines'
  | 'tokens'
  | 'turn_tokens'

/** The one definition of each figure, in the order in which they are shown. */
export const figureDefinitions: readonly FigureDefinition[] = [
  {
    figure: 'task_time',
    title: 'Task time',
    basis: 'measured',
    unit: 'tasks',
    definition:
      'From the start of the first attempt at a task to the end of the attempt that completed it: wall time, with nights and waits. Tasks that are done by an attempt.',
  },
  {
    figure: 'attempt_time',
    title: 'Attempt time',
    basis: 'measured',
    unit: 'attempts',
    definition:
      'From start_task to complete_task: wall time. Attempts that were given up are left out, since no one said when their work ended.',
  },
  {
    figure: 'mission_time',
    title: 'Mission time',
    basis: 'measured',
    unit: 'missions',
    definition: 'From the start of a mission to its completion: wall time. Failed missions are left out.',
  },
  {
    figure: 'first_pass',
    title: 'First pass',
    basis: 'claimed',
    unit: 'tasks',
    definition:
      'Of the tasks that an attempt completed, those that are done after one attempt, of which no person rejected a review, a scope or an approval, and whose run entered no state twice. That an attempt completed its task is the agent’s word; the rest is recorded.',
  },
  {
    figure: 'waiting',
    title: 'Waiting for people',
    basis: 'measured',
    unit: 'answers',
    definition:
      'From the moment a card appeared in the inbox to the answer of a person: questions, reviews, scopes, approvals, commands, silent attempts. What still waits is in the inbox, not here. Waits at the same time each count whole.',
  },
  {
    figure: 'out_of_scope',
    title: 'Files out of scope',
    basis: 'measured',
    unit: 'attempts',
    definition:
      'Files that an attempt changed outside the areas it declared. Attempts that declared areas and were measured.',
  },
  {
    figure: 'retries',
    title: 'Attempts per task',
    basis: 'measured',
    unit: 'tasks',
    definition: 'How often a task was begun, the first time included. Tasks with an attempt that ended.',
  },
  {
    figure: 'refused_events',
    title: 'Refused events',
    basis: 'measured',
    unit: 'events',
    definition: 'Events sent to runs that their guards or their state refused. All events that were sent.',
  },
  {
    figure: 'lines',
    title: 'Changed lines',
    basis: 'measured',
    unit: 'attempts',
    definition:
      'Lines added and deleted by attempts that were measured, as the sum over attempts: a line that two of them changed counts twice. Files without lines, such as pictures, are counted apart.',
  },
  {
    figure: 'tokens',
    title: 'Tokens',
    basis: 'claimed',
    unit: 'attempts',
    definition: 'Tokens that agents said they used. Attempts whose agent said a number.',
  },
  {
    figure: 'turn_tokens',
    title: 'Tokens of turns',
    basis: 'claimed',
    unit: 'turns',
    definition:
      'Tokens that clients report of captured turns and their subagents. Turns that ended, of sessions that hooks told of; they belong to no mission and no role.',
  },
]

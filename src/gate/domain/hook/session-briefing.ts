import type { InboxItem } from '../../../inbox/domain/inbox-item.ts'
import { excerpt } from '../../../kernel/text.ts'
import type { Mission } from '../../../track/domain/mission.ts'
import { interpolatePrompt, stateNamed } from '../definition.ts'
import { formatTransitionsOut, type HookAttempt, type HookRun } from './judge.ts'

/** The state of a project, for an agent that begins or lost its context. */
export interface Briefing {
  readonly missions: readonly Mission[]
  readonly attempts: readonly HookAttempt[]
  readonly runs: readonly HookRun[]
  /** The latest remarks of people on each run, a line each, newest first. */
  readonly remarks: ReadonlyMap<string, readonly string[]>
  /** Open ones, oldest first. */
  readonly items: readonly InboxItem[]
  /** How many open items are left out. */
  readonly moreItems: number
  /** Unanswered review comments, a line each. */
  readonly comments: readonly string[]
}

const maxPromptLength = 4000
const maxLineLength = 300

/** The briefing as text; null if there is nothing to report. */
export function brief({
  missions,
  attempts,
  runs,
  remarks,
  items,
  moreItems,
  comments,
}: Briefing): string | null {
  const lines = [
    ...missions.map(missionLine),
    ...attempts.map(attemptLine),
    ...runs.flatMap((run) => runLines(run, remarks.get(run.record.id) ?? [])),
    ...comments,
    ...items.map(({ id, kind, reason }) => `Needs a person: ${id} (${kind}): ${oneLineExcerpt(reason)}`),
    ...(moreItems > 0 ? [`${moreItems} more need a person: waymark inbox`] : []),
  ]
  if (lines.length === 0) return null
  return ['Waymark records the work in this project. Current state:', ...lines].join('\n')
}

/** A reminder of open tasks when an agent stops; null if there are none. */
export function openAttemptsReminder(attempts: readonly HookAttempt[]): string | null {
  if (attempts.length === 0) return null
  const open = attempts.map(({ attempt, task }) => `"${oneLineExcerpt(task)}" (${attempt.taskId})`)
  const [subject, call] = open.length === 1 ? ['The task', 'closes it'] : ['The tasks', 'closes each']
  const taskList = open.slice(0, 5).join(', ') + (open.length > 5 ? ` and ${open.length - 5} more` : '')
  return `${subject} ${taskList} ${open.length === 1 ? 'is' : 'are'} open in this work tree: complete_task ${call}.`
}

function missionLine({ id, name, objective }: Mission): string {
  return `Mission ${id}: ${oneLineExcerpt(name)}${objective === null ? '' : `. Objective: ${oneLineExcerpt(objective)}`}`
}

function attemptLine({ attempt, task }: HookAttempt): string {
  const areas = attempt.areas.length === 0 ? 'no scope' : `areas ${attempt.areas.join(', ')}`
  return `Open task ${attempt.taskId}, attempt ${attempt.id}: "${oneLineExcerpt(task)}"; ${areas}. Close it with complete_task.`
}

function runLines(run: HookRun, remarks: readonly string[]): readonly string[] {
  const { record, definition } = run
  const prompt = stateNamed(definition, record.state)?.prompt ?? null
  const instructions =
    prompt === null ? '' : interpolatePrompt(prompt, definition.dialect, record.context).trim()
  return [
    `Run ${record.id} of ${definition.name} is in the state "${record.state}", revision ${record.revision}.`,
    ...(instructions === '' ? [] : [excerpt(instructions, maxPromptLength)]),
    ...remarks.map(oneLineExcerpt),
    formatTransitionsOut(run),
  ]
}

function oneLineExcerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return excerpt(line, maxLineLength)
}

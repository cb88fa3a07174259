import { excerpt } from '../../../kernel/text.ts'
import type { Mission } from '../../../track/domain/mission.ts'
import type { InboxItem } from '../../../track/domain/records.ts'
import { interpolatePrompt, stateNamed } from '../definition.ts'
import { formatTransitionsOut, type HookAttempt, type HookRun } from './judge.ts'

/** What goes on in a project, for an agent that begins or that lost its context. */
export interface Briefing {
  readonly missions: readonly Mission[]
  readonly attempts: readonly HookAttempt[]
  readonly runs: readonly HookRun[]
  /** What people said about each run last, a line each, newest first. */
  readonly said: ReadonlyMap<string, readonly string[]>
  /** Open ones, oldest first. */
  readonly items: readonly InboxItem[]
  /** How many more of them there are. */
  readonly moreItems: number
  /** What people asked in reviews and nobody answered, a line each. */
  readonly comments: readonly string[]
}

const maxPromptLength = 4000
const maxLineLength = 300

/** One brief of what goes on; null when nothing does. */
export function brief({
  missions,
  attempts,
  runs,
  said,
  items,
  moreItems,
  comments,
}: Briefing): string | null {
  const lines = [
    ...missions.map(missionLine),
    ...attempts.map(attemptLine),
    ...runs.flatMap((run) => runLines(run, said.get(run.record.id) ?? [])),
    ...comments,
    ...items.map(({ id, kind, reason }) => `Needs a person: ${id} (${kind}): ${oneLineExcerpt(reason)}`),
    ...(moreItems > 0 ? [`${moreItems} more need a person: waymark inbox`] : []),
  ]
  if (lines.length === 0) return null
  return ['Waymark records the work in this project. Current state:', ...lines].join('\n')
}

/** What is left open when an agent stops; null when nothing is. */
export function openAttemptsReminder(attempts: readonly HookAttempt[]): string | null {
  if (attempts.length === 0) return null
  const open = attempts.map(({ attempt, task }) => `"${oneLineExcerpt(task)}" (${attempt.taskId})`)
  const [what, call] = open.length === 1 ? ['The task', 'closes it'] : ['The tasks', 'closes each']
  const shown = open.slice(0, 5).join(', ') + (open.length > 5 ? ` and ${open.length - 5} more` : '')
  return `${what} ${shown} ${open.length === 1 ? 'is' : 'are'} open in this work tree: complete_task ${call}.`
}

function missionLine({ id, name, objective }: Mission): string {
  return `Mission ${id}: ${oneLineExcerpt(name)}${objective === null ? '' : `. Objective: ${oneLineExcerpt(objective)}`}`
}

function attemptLine({ attempt, task }: HookAttempt): string {
  const areas = attempt.areas.length === 0 ? 'no scope' : `areas ${attempt.areas.join(', ')}`
  return `Open task ${attempt.taskId}, attempt ${attempt.id}: "${oneLineExcerpt(task)}"; ${areas}. Close it with complete_task.`
}

function runLines(run: HookRun, words: readonly string[]): readonly string[] {
  const { record, definition } = run
  const prompt = stateNamed(definition, record.state)?.prompt ?? null
  const asked = prompt === null ? '' : interpolatePrompt(prompt, definition.dialect, record.context).trim()
  return [
    `Run ${record.id} of ${definition.name} is in the state "${record.state}", revision ${record.revision}.`,
    ...(asked === '' ? [] : [excerpt(asked, maxPromptLength)]),
    ...words.map(oneLineExcerpt),
    formatTransitionsOut(run),
  ]
}

function oneLineExcerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return excerpt(line, maxLineLength)
}

import { formatCount } from '../../src/kernel/text.ts'
import type { OutputOf } from '../../src/surfaces/http/client/client.ts'
import { landedWords, landingWords } from '../../src/track/domain/landed.ts'
import { eventWords } from '../parts/event-words.ts'

/** What a command found, as lines; none where it only did something. */
export function resultLines(operation: string, answer: unknown): readonly string[] {
  return linesOf[operation]?.(answer) ?? []
}

/** The page of what a command began; null where the page that asked goes on. */
export function resultPath(operation: string, answer: unknown): string | null {
  if (operation !== 'start_mission') return null
  return `/missions/${(answer as OutputOf<'start_mission'>).mission_id}` // of its operation
}

// Each answer is that of its operation.
const linesOf: Readonly<Record<string, (answer: unknown) => readonly string[]>> = {
  measure_landed: (answer) => landedLines(answer as OutputOf<'measure_landed'>),
  verify: (answer) => checkLines(answer as OutputOf<'verify'>),
}

function landedLines({ counts, tasks, undone, note }: OutputOf<'measure_landed'>): readonly string[] {
  const states = Object.keys(landedWords) as (keyof typeof landedWords)[] // its own keys
  const found = states.flatMap((state) => {
    const count = counts[state] ?? 0
    return count === 0 ? [] : [`${formatCount(count, 'task')} ${landedWords[state]}`]
  })
  if (note !== undefined) return [note]
  if (found.length + undone.length === 0) return ['No task is done whose lines could land.']
  return [
    ...(found.length === 0 ? [] : [`${found.join(', ')}.`]),
    ...tasks.map((task) => `${task.title}: ${landingWords(task)}`),
    ...undone.map(({ name }) => `${name}: undone, so not followed`),
  ]
}

function checkLines({ commands, verdict, note }: OutputOf<'verify'>): readonly string[] {
  return [
    ...commands.map(({ run, status }) => `${run}: ${eventWords(status).toLowerCase()}`),
    ...(verdict ? [`Verdict: ${verdict.is}`] : []),
    ...(note === undefined ? [] : [note]),
  ]
}

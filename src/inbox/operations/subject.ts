import { z } from 'zod'
import { decisionChoices } from '../../gate/domain/decisions.ts'
import type { ProcessDefinition } from '../../gate/domain/definition.ts'
import { loadRun } from '../../gate/operations/run/find-run.ts'
import type { LoadedRun } from '../../gate/ports/run-reads.ts'
import { Failure } from '../../kernel/failure.ts'
import { identifier, text } from '../../kernel/operations/input/fields.ts'
import { strings } from '../../kernel/operations/list-answer.ts'
import { excerpt } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import { refuseClosedItem } from '../domain/answers.ts'
import type { InboxItem } from '../domain/inbox-item.ts'

/** The subject of a decision: a run, with the inbox item that named it, if any; or another inbox item. */
export type DecisionSubject =
  | { readonly kind: 'run'; readonly loaded: LoadedRun }
  | { readonly kind: 'inbox_item'; readonly item: InboxItem }

/** Finds what `h-…`, `i-…` or `run-…` names. Fails with NOT_FOUND, or CONFLICT when the inbox item has ended. */
export async function findDecisionSubject(reads: Reads, id: string): Promise<DecisionSubject> {
  if (id.startsWith('run-')) return { kind: 'run', loaded: await loadActive(reads, id) }
  const item = await findInboxItem(reads, id)
  refuseClosedItem(item)
  if (item.kind === 'approval' && item.runId !== null) {
    return { kind: 'run', loaded: await loadActive(reads, item.runId) }
  }
  return { kind: 'inbox_item', item }
}

async function loadActive(reads: Reads, id: string): Promise<LoadedRun> {
  const loaded = await loadRun(reads, id)
  const { record } = loaded
  if (record.status === 'active') return loaded
  throw new Failure(
    'RUN_FINISHED',
    `Run ${record.id} has ended (${record.status}) in "${record.state}". It cannot be decided.`,
    { reason: 'run_finished', hint: 'waymark inbox lists the open items.' },
  )
}

export async function findInboxItem(reads: Reads, id: string): Promise<InboxItem> {
  if (/^[tmw]-/.test(id)) {
    throw new Failure('NOT_FOUND', `${id} is not an inbox item. Their ids begin with h-.`, {
      reason: 'inbox_id_invalid',
      hint: `Review the work with waymark review ${id}. waymark inbox lists the items.`,
    })
  }
  const item = id.startsWith('i-') ? await reads.inboxItems.ofIssue(id) : await reads.inboxItems.find(id)
  if (item) return item
  throw new Failure('NOT_FOUND', `inbox item not found: ${id}`, {
    missing: 'inbox item',
    hint: 'waymark inbox lists the open items.',
  })
}

export const decidedField = identifier('The inbox item, its issue, or the run (h-…, i-… or run-…)')
export const reasonField = text('Reason; the waiting agent reads it').optional()
export const deciderRoleField = identifier(
  'Your role for this decision, if the process has several for people',
).optional()
export const contentField = identifier(
  'Hash of the content you reviewed, or its first characters; refused if the content changed',
).optional()

/** The text of a person for a waiting agent. Fails with INVALID_INPUT if it is missing. */
export function requireAnswerText(
  words: string | undefined,
  { what, command }: { readonly what: string; readonly command: string },
): string {
  if (words !== undefined && words.trim() !== '') return words
  throw new Failure('INVALID_INPUT', `${what} needs a text: the waiting agent acts on it.`, {
    reason: 'answer_missing',
    hint: `Say why: ${command}`,
  })
}

/** An event that a person may send in a state, with its meaning. */
export const ChoiceEntry = z.object({
  event: z.string(),
  description: z.string().nullable(),
  answer: z.enum(['yes', 'no', 'other']),
  sends_back: z.boolean(),
  approves: z.boolean(),
  /** Required fields of its payload besides a reason. */
  asks_for: strings,
})

export function choiceEntries(
  definition: ProcessDefinition,
  state: string,
  events: readonly string[],
): readonly z.output<typeof ChoiceEntry>[] {
  return decisionChoices(definition, state, events).map((choice) => ({
    event: choice.event,
    description: choice.description === null ? null : excerpt(choice.description, 160),
    answer: choice.answer,
    sends_back: choice.sendsBack,
    approves: choice.approves,
    asks_for: choice.asksFor,
  }))
}

import type { InboxCard } from '../../api/entities.ts'
import { may, whyNot } from '../../api/session.ts'
import type { Command } from '../../keys/bindings.ts'
import type { Status } from '../../parts/status.tsx'
import { eventWords } from '../../parts/text.tsx'

/** What a person may do with a card. */
export interface Verb {
  /** Null for one without a key. */
  readonly command: Extract<Command, 'approve' | 'send back' | 'resolve'> | null
  readonly label: string
  /** What it means, where the label alone does not say it. */
  readonly means?: string
  /** What is said once it is done. */
  readonly done: string
  /** A sentence is asked for: what the waiting agent is told. */
  readonly asks?: string
  readonly operation: string
  input(card: InboxCard, answer: string): object
}

type Choice = InboxCard['choices'][number]

interface Kind {
  readonly word: string
  readonly status: Status
  readonly verbs: readonly Verb[]
}

const resolves = ({ hold_id }: InboxCard, answer: string) => ({
  id: hold_id,
  ...(answer !== '' && { answer }),
})
const dismisses = (card: InboxCard, answer: string) => ({ ...resolves(card, answer), dismiss: true })

const sendBack: Verb = {
  command: 'send back',
  label: 'Send back',
  done: 'Sent back',
  asks: 'What should be done instead?',
  operation: 'resolve',
  input: resolves,
}

/** To what asks, in words: a yes is no answer to "which one?". */
const answers: Verb = {
  command: 'resolve',
  label: 'Answer',
  done: 'Answered',
  asks: 'What is the answer?',
  operation: 'resolve',
  input: resolves,
}

const decides: readonly Verb[] = [
  {
    command: 'approve',
    label: 'Approve',
    done: 'Approved',
    operation: 'approve',
    input: ({ hold_id }) => ({ id: hold_id }),
  },
  {
    ...sendBack,
    operation: 'reject',
    input: ({ hold_id }, answer) => ({ id: hold_id, reason: answer }),
  },
]

/** By kind of hold: what it is called, how it looks, what can be done. */
const kinds = {
  blocker: {
    word: 'Blocker',
    status: 'blocked',
    verbs: [
      answers,
      { command: 'send back', label: 'Dismiss', done: 'Dismissed', operation: 'resolve', input: dismisses },
    ],
  },
  review: {
    word: 'Review',
    status: 'review',
    verbs: [
      {
        command: 'approve',
        label: 'Approve',
        done: 'Approved',
        operation: 'approve',
        input: ({ hold_id }) => ({ id: hold_id, reason: 'Approved.' }),
      },
      answers,
      {
        ...sendBack,
        operation: 'review_send',
        input: ({ task_id }, text) => ({ subject: { task: task_id }, verdict: 'send_back', text }),
      },
    ],
  },
  scope: {
    word: 'Out of scope',
    status: 'blocked',
    verbs: [
      {
        command: 'approve',
        label: 'Accept the files',
        done: 'Accepted',
        operation: 'resolve',
        input: resolves,
      },
      { ...sendBack, input: dismisses },
    ],
  },
  approval: { word: 'Approval', status: 'review', verbs: decides },
  command: { word: 'Command', status: 'review', verbs: decides },
  stale_attempt: {
    word: 'Silent',
    status: 'planned',
    verbs: [
      {
        command: 'approve',
        label: 'Let it go on',
        done: 'It goes on',
        operation: 'resolve',
        input: dismisses,
      },
      { command: 'resolve', label: 'Give it up', done: 'Given up', operation: 'resolve', input: resolves },
    ],
  },
} as const satisfies Record<InboxCard['kind'], Kind>

export function kindOf(kind: InboxCard['kind']): Pick<Kind, 'word' | 'status'> {
  return kinds[kind]
}

/** What who is signed in can do with a card. */
export function verbsOf(card: InboxCard): readonly Verb[] {
  return allVerbsOf(card).filter(({ operation }) => may(operation))
}

/** Why who is signed in can do nothing with a card, as a sentence; null where they can. */
export function whyNoVerbs(card: InboxCard): string | null {
  const [first] = allVerbsOf(card)
  return first && verbsOf(card).length === 0 ? whyNot(first.operation) : null
}

/** A run that waits for a decision has a verb for each event. */
function allVerbsOf(card: InboxCard): readonly Verb[] {
  if (card.request?.kind !== 'decision') {
    const { verbs } = kinds[card.kind]
    return card.task_id === null ? verbs.filter(({ operation }) => operation !== 'review_send') : verbs
  }
  // What takes more than a reason is asked for on the page of the run.
  const verbs = card.choices.filter(({ asks_for }) => asks_for.length === 0).map(eventVerb)
  const approvesAlone = card.request.approvals.length > 0 && !card.choices.some(({ approves }) => approves)
  const [yes] = decides
  return approvesAlone && yes && !verbs.some(({ command }) => command === 'approve') ? [yes, ...verbs] : verbs
}

const commands = { yes: 'approve', no: 'send back', other: null } as const

function eventVerb({ event, description, answer, sends_back, approves }: Choice): Verb {
  const label = eventWords(event)
  return {
    command: commands[answer],
    label,
    done: `${label} sent`,
    ...(description !== null && { means: description }),
    ...(sends_back && { asks: 'What is the agent told?' }),
    // Approving gives the approvals that guards of the event ask for, and then sends it.
    operation: approves || answer === 'yes' ? 'approve' : 'decide',
    input: ({ hold_id, run_id }, reason) => ({
      ...(approves || answer === 'yes' ? { id: hold_id } : { run_id }),
      event,
      ...(reason !== '' && { reason }),
    }),
  }
}

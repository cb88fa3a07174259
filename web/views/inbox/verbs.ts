import type { InboxCard } from '../../api/entities.ts'
import { denialReason, isPermitted } from '../../api/session.ts'
import type { KeyCommand } from '../../keys/bindings.ts'
import type { Status } from '../../parts/status.tsx'
import { eventWords } from '../../parts/text.tsx'

/** What a person may do with a card. */
export interface CardAction {
  /** Null for one without a key. */
  readonly command: Extract<KeyCommand, 'approve' | 'send back' | 'resolve'> | null
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

type CardChoice = InboxCard['choices'][number]

interface CardKind {
  readonly word: string
  readonly status: Status
  readonly verbs: readonly CardAction[]
}

const resolveCardInput = ({ item_id }: InboxCard, answer: string) => ({
  id: item_id,
  ...(answer !== '' && { answer }),
})
const dismissCardInput = (card: InboxCard, answer: string) => ({
  ...resolveCardInput(card, answer),
  dismiss: true,
})

const sendBack: CardAction = {
  command: 'send back',
  label: 'Send back',
  done: 'Sent back',
  asks: 'What should be done instead?',
  operation: 'reject',
  input: ({ item_id }, answer) => ({ id: item_id, reason: answer }),
}

const approveCardInput = ({ item_id }: InboxCard, answer: string) => ({
  id: item_id,
  ...(answer !== '' && { reason: answer }),
})

/** To what asks, in words: a yes is no answer to "which one?". */
const answers: CardAction = {
  command: 'resolve',
  label: 'Answer',
  done: 'Answered',
  asks: 'What is the answer?',
  operation: 'resolve',
  input: resolveCardInput,
}

const decides: readonly CardAction[] = [
  {
    command: 'approve',
    label: 'Approve',
    done: 'Approved',
    operation: 'approve',
    input: ({ item_id }) => ({ id: item_id }),
  },
  sendBack,
]

/** By kind of inbox item: what it is called, how it looks, what can be done. */
const kinds = {
  blocker: {
    word: 'Blocker',
    status: 'blocked',
    verbs: [
      answers,
      {
        command: 'send back',
        label: 'Dismiss',
        done: 'Dismissed',
        operation: 'resolve',
        input: dismissCardInput,
      },
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
        input: ({ item_id }) => ({ id: item_id, reason: 'Approved.' }),
      },
      answers,
      {
        ...sendBack,
        operation: 'review_send',
        input: ({ task_id }, text) => ({ subject: { task: task_id }, action: 'send_back', text }),
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
        operation: 'approve',
        input: approveCardInput,
      },
      sendBack,
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
        operation: 'reject',
        // Its rejection needs words.
        input: ({ item_id }) => ({ id: item_id, reason: 'It goes on.' }),
      },
      {
        command: 'resolve',
        label: 'Give it up',
        done: 'Given up',
        operation: 'approve',
        input: approveCardInput,
      },
    ],
  },
} as const satisfies Record<InboxCard['kind'], CardKind>

export function kindOf(kind: InboxCard['kind']): Pick<CardKind, 'word' | 'status'> {
  return kinds[kind]
}

/** What who is signed in can do with a card. */
export function verbsOf(card: InboxCard): readonly CardAction[] {
  return allVerbsOf(card).filter(({ operation }) => isPermitted(operation))
}

/** Why who is signed in can do nothing with a card, as a sentence; null where they can. */
export function noVerbsReason(card: InboxCard): string | null {
  const [first] = allVerbsOf(card)
  return first && verbsOf(card).length === 0 ? denialReason(first.operation) : null
}

/** A run that waits for a decision has a verb for each event. */
function allVerbsOf(card: InboxCard): readonly CardAction[] {
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

function eventVerb({ event, description, answer, sends_back, approves }: CardChoice): CardAction {
  const label = eventWords(event)
  return {
    command: commands[answer],
    label,
    done: `${label} sent`,
    ...(description !== null && { means: description }),
    ...(sends_back && { asks: 'What is the agent told?' }),
    // Approving gives the approvals that guards of the event ask for, and then sends it.
    operation: approves || answer === 'yes' ? 'approve' : 'decide',
    input: ({ item_id, run_id }, reason) => ({
      ...(approves || answer === 'yes' ? { id: item_id } : { run_id }),
      event,
      ...(reason !== '' && { reason }),
    }),
  }
}

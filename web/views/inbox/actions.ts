import { excerpt } from '../../../src/kernel/text.ts'
import type { InboxCard } from '../../api/entities.ts'
import { denialReason, ownPermissions } from '../../api/session.ts'
import type { KeyCommand } from '../../keys/bindings.ts'
import { eventWords } from '../../parts/event-words.ts'
import type { Status } from '../../parts/status.tsx'

/** An action of a person on an inbox item. */
export interface CardAction {
  /** Null for one without a key. */
  readonly command: Extract<KeyCommand, 'approve' | 'send back' | 'resolve'> | null
  readonly label: string
  /** An explanation for labels that need one. */
  readonly means?: string
  /** The message after the action. */
  readonly done: string
  /** The label of the text field, for an action that needs a text. */
  readonly asks?: string
  /** It shows first what it would write. */
  readonly isPreviewed?: true
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
  asks: 'What should the agent change?',
  operation: 'reject',
  input: ({ item_id }, answer) => ({ id: item_id, reason: answer }),
}

const approveCardInput = ({ item_id }: InboxCard, answer: string) => ({
  id: item_id,
  ...(answer !== '' && { reason: answer }),
})

/** An answer in words: approval does not answer “which one?”. */
const answers: CardAction = {
  command: 'resolve',
  label: 'Answer',
  done: 'Answered',
  asks: 'Your answer',
  operation: 'resolve',
  input: resolveCardInput,
}

/** With a review of the task, which its agent reads. */
const sendWorkBack: CardAction = {
  ...sendBack,
  operation: 'review_send',
  input: ({ task_id }, text) => ({ subject: { task: task_id }, action: 'send_back', text }),
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

/** By kind of inbox item: its name, its look, and its actions. */
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
        label: 'Approve the work',
        done: 'Approved',
        operation: 'approve',
        input: ({ item_id }) => ({ id: item_id, reason: 'Approved.' }),
      },
      answers,
      sendWorkBack,
    ],
  },
  verdict: {
    word: 'Contradicted',
    status: 'blocked',
    verbs: [
      sendWorkBack,
      {
        command: 'approve',
        label: 'Accept the work',
        means: 'Accept it as it is, although the measurement contradicts the claim',
        done: 'Accepted',
        operation: 'approve',
        input: approveCardInput,
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
  loss: {
    word: 'Lost files',
    status: 'review',
    verbs: [
      {
        command: 'approve',
        label: 'Restore',
        means: 'Shows first what would be written',
        done: 'Restored',
        isPreviewed: true,
        operation: 'restore',
        input: ({ item_id }) => ({ id: item_id }),
      },
      {
        command: 'resolve',
        label: 'Dismiss',
        done: 'Dismissed',
        operation: 'resolve',
        input: ({ item_id }) => ({ id: item_id, dismiss: true }),
      },
    ],
  },
  stale_attempt: {
    word: 'Stale',
    status: 'planned',
    verbs: [
      {
        command: 'approve',
        label: 'Abandon the attempt',
        means: 'Others can start the task',
        done: 'Abandoned',
        operation: 'approve',
        input: approveCardInput,
      },
      {
        command: 'send back',
        label: 'Let it continue',
        done: 'Continues',
        operation: 'reject',
        // A rejection needs a reason.
        input: ({ item_id }) => ({ id: item_id, reason: 'It continues.' }),
      },
    ],
  },
} as const satisfies Record<InboxCard['kind'], CardKind>

/** A command is allowed, not work approved. */
function commandVerbs(run: string): readonly CardAction[] {
  return [
    {
      command: 'approve',
      label: `Allow ${run}`,
      means: 'Waymark may run it there, now and later',
      done: `Allowed ${run}`,
      operation: 'approve',
      input: ({ item_id }) => ({ id: item_id }),
    },
    {
      ...sendBack,
      label: 'Do not allow',
      means: 'Waymark does not run it; the reason goes to the agent',
      done: `Did not allow ${run}`,
      asks: 'Why not?',
    },
  ]
}

/** What a person reads after an action: to whom an answer went, else what it is about. */
export function doneText(
  { done, operation }: CardAction,
  about: string,
  answered: string,
  answer: string,
): string {
  return operation === 'resolve' && answer !== ''
    ? `Answered ${answered}: ${excerpt(answer, 80)}`
    : `${done}: ${about}`
}

export function kindOf(kind: InboxCard['kind']): Pick<CardKind, 'word' | 'status'> {
  return kinds[kind]
}

/** The actions that the person may take. */
export function verbsOf(card: InboxCard): readonly CardAction[] {
  return allVerbsOf(card).filter((verb) => refusalOf(card, verb) === null)
}

/** Why the person may not take an action; null if they may. A contributor answers their own agents. */
function refusalOf(card: InboxCard, { operation, command }: CardAction): string | null {
  const own = ownPermissions.value
  // Sending a review back decides about the work; its operation only sends comments to whoever may no more.
  const asked = operation === 'review_send' ? 'approve' : operation
  if (operation !== 'resolve' || own?.access !== 'contributor') return denialReason(asked)
  const isOwnAgent = card.kind === 'blocker' && card.opened_by_person === own.person.name
  return isOwnAgent && command === 'resolve' ? null : denialReason('approve')
}

/** Why the person may take no action; null if they may. */
export function noVerbsReason(card: InboxCard): string | null {
  const [first] = allVerbsOf(card)
  return first && verbsOf(card).length === 0 ? refusalOf(card, first) : null
}

/** A run that needs a decision has an action for each event. */
function allVerbsOf(card: InboxCard): readonly CardAction[] {
  if (card.request?.kind === 'command')
    return commandVerbs(excerpt(card.request.run, 60)).filter(
      ({ operation }) => operation !== 'approve' || !card.cannot_approve,
    )
  if (card.request?.kind !== 'decision') {
    const { verbs } = kinds[card.kind]
    return card.task_id === null ? verbs.filter(({ operation }) => operation !== 'review_send') : verbs
  }
  // Events with more fields than a reason are sent from the page of the run.
  const verbs = card.choices.filter(({ asks_for }) => asks_for.length === 0).map(eventVerb)
  const approvesAlone = card.request.approvals.length > 0 && !card.choices.some(({ approves }) => approves)
  const [yes] = decides
  const all =
    approvesAlone && yes && !verbs.some(({ command }) => command === 'approve') ? [yes, ...verbs] : verbs
  return card.cannot_approve ? all.filter(({ operation }) => operation !== 'approve') : all
}

const commands = { yes: 'approve', no: 'send back', other: null } as const

function eventVerb({ event, description, answer, sends_back, approves }: CardChoice): CardAction {
  const label = eventWords(event)
  return {
    command: commands[answer],
    label,
    done: approves || answer === 'yes' ? 'Approved' : sends_back ? 'Sent back' : `${label} sent`,
    ...(description !== null && { means: description }),
    ...(sends_back && { asks: 'Message to the agent' }),
    // Gives the approvals that the guards need, then sends the event.
    operation: approves || answer === 'yes' ? 'approve' : 'decide',
    input: ({ item_id, run_id }, reason) => ({
      ...(approves || answer === 'yes' ? { id: item_id } : { run_id }),
      event,
      ...(reason !== '' && { reason }),
    }),
  }
}

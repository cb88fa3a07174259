import type { OperationName, OutputOf } from '../../../kernel/operations/catalog.ts'

type TopInboxRow = OutputOf<'inbox'>['items'][number]

/** An inbox item with its evidence. */
export type TopCard = Omit<TopInboxRow, 'evidence'> & NonNullable<TopInboxRow['evidence']>

export function cardsOf({ items }: OutputOf<'inbox'>): readonly TopCard[] {
  return items.flatMap(({ evidence, ...item }) => (evidence ? [{ ...item, ...evidence }] : []))
}

/** An action on a card with its key, as in the dashboard. */
export interface ScreenAction {
  readonly key: string
  readonly label: string
  /** The prompt for a text that the waiting agent receives. */
  readonly asks?: string
  readonly operation: Extract<OperationName, 'approve' | 'reject' | 'resolve' | 'decide' | 'review_send'>
  input(card: TopCard, words: string): Readonly<Record<string, unknown>>
}

const resolveInput = ({ item_id }: TopCard, words: string) => ({
  id: item_id,
  ...(words !== '' && { answer: words }),
})
const dismissInput = (card: TopCard, words: string) => ({ ...resolveInput(card, words), dismiss: true })

const answer: ScreenAction = {
  key: 'e',
  label: 'answer',
  asks: 'The answer',
  operation: 'resolve',
  input: resolveInput,
}
const rejectInput = ({ item_id }: TopCard, words: string) => ({ id: item_id, reason: words })
const sendBack: ScreenAction = {
  key: 'r',
  label: 'send back',
  asks: 'What should be done instead',
  operation: 'reject',
  input: rejectInput,
}
/** With a review of the task, which its agent reads. */
const sendWorkBack: ScreenAction = {
  ...sendBack,
  operation: 'review_send',
  input: ({ task_id }, text) => ({ subject: { task: task_id }, action: 'send_back', text }),
}
const approveInput = ({ item_id }: TopCard, words: string) => ({
  id: item_id,
  ...(words !== '' && { reason: words }),
})

/** Rejecting the item lets a stale attempt continue, and needs a text. */
const goesOn = 'It continues.'

const decides: readonly ScreenAction[] = [
  { key: 'a', label: 'approve', operation: 'approve', input: ({ item_id }) => ({ id: item_id }) },
  {
    key: 'r',
    label: 'reject',
    asks: 'The reason',
    operation: 'reject',
    input: rejectInput,
  },
]

const verbs = {
  blocker: [answer, { key: 'd', label: 'dismiss', operation: 'resolve', input: dismissInput }],
  review: [
    {
      key: 'a',
      label: 'approve',
      operation: 'approve',
      input: ({ item_id }) => ({ id: item_id, reason: 'Approved.' }),
    },
    answer,
    sendWorkBack,
  ],
  verdict: [
    {
      key: 'a',
      label: 'accept it',
      operation: 'approve',
      input: approveInput,
    },
    answer,
    sendWorkBack,
  ],
  scope: [{ key: 'a', label: 'accept the files', operation: 'approve', input: approveInput }, sendBack],
  approval: decides,
  command: decides,
  stale_attempt: [
    { key: 'a', label: 'abandon it', operation: 'approve', input: approveInput },
    { key: 'r', label: 'let it continue', operation: 'reject', input: (card) => rejectInput(card, goesOn) },
  ],
  loss: [{ key: 'd', label: 'dismiss', operation: 'resolve', input: dismissInput }],
} as const satisfies Record<TopCard['kind'], readonly ScreenAction[]>

/** Each event of a decision has its own key, unless it means yes or no. */
export function verbsOf(card: TopCard): readonly ScreenAction[] {
  if (card.request?.kind !== 'decision') {
    return verbs[card.kind].filter(({ operation }) =>
      operation === 'approve'
        ? !card.cannot_approve || card.kind !== 'command'
        : operation !== 'review_send' || card.task_id !== null,
    )
  }
  const simple = card.choices.filter(({ asks_for }) => asks_for.length === 0)
  const others = simple.filter((choice) => choice.answer === 'other')
  // If several events mean yes, the refusal asks for one.
  const [yes, another] = simple.filter((choice) => choice.answer === 'yes')
  const actions = [
    ...decides.map((verb) => (verb.key === 'a' && yes && !another ? verbForEvent(verb, yes.event) : verb)),
    ...others.slice(0, 9).map((choice, at) => eventVerb(choice, `${at + 1}`)),
  ]
  return card.cannot_approve ? actions.filter(({ operation }) => operation !== 'approve') : actions
}

function verbForEvent(verb: ScreenAction, event: string): ScreenAction {
  return { ...verb, input: (card, words) => ({ ...verb.input(card, words), event }) }
}

function eventVerb({ event, sends_back, approves }: TopCard['choices'][number], key: string): ScreenAction {
  return {
    key,
    label: event.replace(/_/g, ' '),
    ...(sends_back && { asks: 'The reason' }),
    operation: approves ? 'approve' : 'decide',
    input: ({ item_id, run_id }, words) => ({
      ...(approves ? { id: item_id } : { run_id }),
      event,
      ...(words !== '' && { reason: words }),
    }),
  }
}

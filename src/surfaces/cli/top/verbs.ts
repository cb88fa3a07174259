import type { OperationName, OutputOf } from '../../../kernel/operations/catalog.ts'

type Hold = OutputOf<'inbox'>['holds'][number]

/** An inbox item with its evidence. */
export type Card = Omit<Hold, 'evidence'> & NonNullable<Hold['evidence']>

export function cardsOf({ holds }: OutputOf<'inbox'>): readonly Card[] {
  return holds.flatMap(({ evidence, ...hold }) => (evidence ? [{ ...hold, ...evidence }] : []))
}

/** What a person may do with a card by a key, as in the dashboard. */
export interface Verb {
  readonly key: string
  readonly label: string
  /** What is asked for first: words that the waiting agent is told. */
  readonly asks?: string
  readonly operation: Extract<OperationName, 'approve' | 'reject' | 'resolve' | 'decide' | 'review_send'>
  input(card: Card, words: string): Readonly<Record<string, unknown>>
}

const resolves = ({ hold_id }: Card, words: string) => ({
  id: hold_id,
  ...(words !== '' && { answer: words }),
})
const dismisses = (card: Card, words: string) => ({ ...resolves(card, words), dismiss: true })

const answer: Verb = {
  key: 'e',
  label: 'answer',
  asks: 'The answer',
  operation: 'resolve',
  input: resolves,
}
const sendBack: Verb = {
  key: 'r',
  label: 'send back',
  asks: 'What should be done instead',
  operation: 'resolve',
  input: resolves,
}

const decides: readonly Verb[] = [
  { key: 'a', label: 'approve', operation: 'approve', input: ({ hold_id }) => ({ id: hold_id }) },
  {
    key: 'r',
    label: 'reject',
    asks: 'The reason',
    operation: 'reject',
    input: ({ hold_id }, words) => ({ id: hold_id, reason: words }),
  },
]

const verbs = {
  blocker: [answer, { key: 'd', label: 'dismiss', operation: 'resolve', input: dismisses }],
  review: [
    {
      key: 'a',
      label: 'approve',
      operation: 'approve',
      input: ({ hold_id }) => ({ id: hold_id, reason: 'Approved.' }),
    },
    answer,
    {
      ...sendBack,
      operation: 'review_send',
      input: ({ task_id }, text) => ({ subject: { task: task_id }, verdict: 'send_back', text }),
    },
  ],
  scope: [
    { key: 'a', label: 'accept the files', operation: 'resolve', input: resolves },
    { ...sendBack, input: dismisses },
  ],
  approval: decides,
  command: decides,
  stale_attempt: [
    { key: 'a', label: 'let it go on', operation: 'resolve', input: dismisses },
    { key: 'g', label: 'give it up', operation: 'resolve', input: resolves },
  ],
} as const satisfies Record<Card['kind'], readonly Verb[]>

/** The events of a decision have a key each where they are neither the yes nor the no. */
export function verbsOf(card: Card): readonly Verb[] {
  if (card.request?.kind !== 'decision') {
    return verbs[card.kind].filter(({ operation }) => operation !== 'review_send' || card.task_id !== null)
  }
  const simple = card.choices.filter(({ asks_for }) => asks_for.length === 0)
  const others = simple.filter((choice) => choice.answer === 'other')
  // Of several that mean yes, which one is meant is asked by the refusal.
  const [yes, another] = simple.filter((choice) => choice.answer === 'yes')
  return [
    ...decides.map((verb) => (verb.key === 'a' && yes && !another ? ofEvent(verb, yes.event) : verb)),
    ...others.slice(0, 9).map((choice, at) => sends(choice, `${at + 1}`)),
  ]
}

function ofEvent(verb: Verb, event: string): Verb {
  return { ...verb, input: (card, words) => ({ ...verb.input(card, words), event }) }
}

function sends({ event, sends_back, approves }: Card['choices'][number], key: string): Verb {
  return {
    key,
    label: event.replace(/_/g, ' '),
    ...(sends_back && { asks: 'The reason' }),
    operation: approves ? 'approve' : 'decide',
    input: ({ hold_id, run_id }, words) => ({
      ...(approves ? { id: hold_id } : { run_id }),
      event,
      ...(words !== '' && { reason: words }),
    }),
  }
}

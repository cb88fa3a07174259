interface ItemOnAttempt {
  readonly item_id: string
  readonly kind: string
  readonly status: string
  readonly attempt_id: string | null
  readonly opened_by: string
}

/** The open verdict on work that was done again, beside the review that only says so: one answer settles both. */
export function verdictBeside<Item extends ItemOnAttempt>(
  { kind, status, attempt_id: attempt, opened_by: opener }: ItemOnAttempt,
  items: readonly Item[],
): Item | undefined {
  if (kind !== 'review' || status !== 'open' || attempt === null || opener !== 'waymark') return undefined
  return items.find((one) => one.kind === 'verdict' && one.status === 'open' && one.attempt_id === attempt)
}

export const answeredWithVerdict = 'Approving or sending back its verdict answers this review, too.'

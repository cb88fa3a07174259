/** The author and time of an entry in an answer. */
export function entryStamp({
  author,
  created_at,
}: {
  readonly author: string
  readonly created_at: string
}): string {
  return `${author} ${created_at}`
}

/** Groups approvals with the event that they were given with. The others stand alone. */
export function approvalsByEvent<Stamped, Event extends Stamped, Approval extends Stamped>(
  events: readonly Event[],
  approvals: readonly Approval[],
  stampOf: (entry: Stamped) => string,
): { readonly byEvent: ReadonlyMap<Event, readonly Approval[]>; readonly alone: readonly Approval[] } {
  const isWith = (event: Event, approval: Approval) => stampOf(event) === stampOf(approval)
  return {
    byEvent: new Map(
      events.map((event) => [event, approvals.filter((approval) => isWith(event, approval))] as const),
    ),
    alone: approvals.filter((approval) => !events.some((event) => isWith(event, approval))),
  }
}

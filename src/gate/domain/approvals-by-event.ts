interface ActionStamp {
  readonly by: string
  readonly at: number | string
}

/** Approvals that somebody gave with an event: one deed, to be listed once. The others stand alone. */
export function approvalsByEvent<Event extends ActionStamp, Approval extends ActionStamp>(
  events: readonly Event[],
  approvals: readonly Approval[],
): { readonly of: ReadonlyMap<Event, readonly Approval[]>; readonly alone: readonly Approval[] } {
  const isWith = (event: Event, approval: Approval) => event.by === approval.by && event.at === approval.at
  return {
    of: new Map(
      events.map((event) => [event, approvals.filter((approval) => isWith(event, approval))] as const),
    ),
    alone: approvals.filter((approval) => !events.some((event) => isWith(event, approval))),
  }
}

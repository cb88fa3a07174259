/** Names a transition among all of a process. */
export function transitionId({
  from,
  event,
  to,
}: {
  readonly from: string
  readonly event: string
  readonly to: string
}): string {
  return `${from} ${event} ${to}`
}

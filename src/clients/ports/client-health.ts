/** The health of a client that agents work in. */
export interface ClientHealth {
  /** As `waymark setup` calls it. */
  readonly client: string
  readonly ok: boolean
  /** In words: its entry, its command, its project, its trust. */
  readonly finding: string
}

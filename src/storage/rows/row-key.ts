/** Whose row it is, and the fact that makes it. */
export interface RowKey {
  readonly projectId: string
  readonly seq: number
}

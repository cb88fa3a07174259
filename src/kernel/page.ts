/** A part of a list. `before` continues after an item already seen, newest first. */
export interface PageRequest {
  readonly limit: number
  /** Only items with a lower seq. */
  readonly before?: number
}

export interface Page<Item> {
  readonly items: readonly SequencedItem<Item>[]
  /** The total number, regardless of the limit. */
  readonly total: number
}

/** An item with the log position that orders it. */
export interface SequencedItem<Item> {
  readonly seq: number
  readonly item: Item
}

/** A part of a list that is read by the number of its entries. */
export interface ListPart {
  readonly limit: number
  readonly offset: number
}

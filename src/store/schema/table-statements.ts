/** The types of columns that engines name differently. Times, counts and truth values (0 or 1) are `bigint`, JSON is text. */
export interface ColumnTypes {
  /** Text, ordered by its bytes whatever the database's locale. */
  readonly text: string
  readonly bytes: string
}

export type TableStatements = (types: ColumnTypes) => readonly string[]

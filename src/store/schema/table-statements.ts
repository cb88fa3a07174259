/** Column types that differ between engines. Times, counts and booleans (0 or 1) are `bigint`, JSON is text. */
export interface ColumnTypes {
  /** Text in byte order, whatever the database's locale. */
  readonly text: string
  readonly bytes: string
}

export type TableStatements = (types: ColumnTypes) => readonly string[]

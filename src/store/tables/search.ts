import { type RawBuilder, sql } from 'kysely'

/** Texts as they are searched: letters of any script alike, however they are written. */
export function searchText(...texts: readonly (string | null)[]): string {
  return texts
    .filter((text) => text !== null)
    .join('\n')
    .normalize('NFKC')
    .toLowerCase()
}

/** Whether the column `search` of the table that is asked holds a text. */
export function containsText(text: string): RawBuilder<boolean> {
  const pattern = `%${searchText(text).replaceAll(/[\\%_]/g, (special) => `\\${special}`)}%`
  return sql<boolean>`search like ${pattern} escape '\\'`
}

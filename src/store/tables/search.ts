import { type RawBuilder, sql } from 'kysely'

/** Normalizes texts for the search: case and letter forms of any script. */
export function searchText(...texts: readonly (string | null)[]): string {
  return texts
    .filter((text) => text !== null)
    .join('\n')
    .normalize('NFKC')
    .toLowerCase()
}

/** Whether the table's column `search` contains a text. */
export function containsText(text: string): RawBuilder<boolean> {
  const pattern = `%${searchText(text).replaceAll(/[\\%_]/g, (special) => `\\${special}`)}%`
  return sql<boolean>`search like ${pattern} escape '\\'`
}

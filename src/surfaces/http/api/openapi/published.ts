/** A schema without what only our own code reads: the words that agents use for a choice. */
export function published(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(published)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => key !== '$schema' && !(key === 'aliases' && isWords(value)))
      .map(([key, value]) => [key, published(value)]),
  )
}

/** A field may be called `aliases`, too; its value is a schema, not words for choices. */
function isWords(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((word) => typeof word === 'string')
  )
}

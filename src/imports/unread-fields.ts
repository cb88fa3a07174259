import type { FieldReader } from './field-reader.ts'

/** One sentence for each field of another program that is not kept, with how often it stood there. */
export function unreadFields(readers: readonly FieldReader[]): readonly string[] {
  const found = Map.groupBy(
    readers.flatMap((fields) => fields.unread()),
    ({ name }) => name,
  )
  return [...found].map(([name, all]) => {
    const first = all[0]?.place ?? ''
    const more = all.length === 1 ? '' : ` and ${all.length - 1} more`
    return `${first}${more}: left out: the field "${name}", which Waymark does not keep.`
  })
}

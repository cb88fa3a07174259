/**
 * Keys for ids that another program gave: the first of a kind keeps its id, later ones get a number, and a notice. Upper
 * and lower case count as one.
 */
export function distinctIds(entities: readonly { readonly id: string; readonly place: string }[]): {
  readonly keys: readonly string[]
  readonly notices: readonly string[]
} {
  const taken = new Set(entities.map(({ id }) => id.toLowerCase()))
  const first = new Map<string, string>()
  const notices: string[] = []
  const keys = entities.map(({ id, place }) => {
    const earlier = first.get(id.toLowerCase())
    if (earlier === undefined) {
      first.set(id.toLowerCase(), place)
      return id
    }
    let number = 2
    while (taken.has(`${id}-${number}`.toLowerCase())) number += 1
    const key = `${id}-${number}`
    taken.add(key.toLowerCase())
    notices.push(
      `${place}: the id ${id} belongs to another task already (${earlier}), so this one became ${key}.`,
    )
    return key
  })
  return { keys, notices }
}

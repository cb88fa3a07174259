/** The parts of a path that a pattern names: `/missions/:id` of `/missions/m-7` is `{ id: 'm-7' }`. */
export type Params = Readonly<Record<string, string>>

/** Null where the path is not of the pattern. A part that ends in `?` may be absent. */
export function matchPath(pattern: string, path: string): Params | null {
  const wanted = partsOf(pattern)
  const given = partsOf(path)
  if (given.length > wanted.length) return null
  const params: Record<string, string> = {}
  for (const [at, part] of wanted.entries()) {
    const value = given[at]
    if (value === undefined) {
      if (part.endsWith('?')) continue
      return null
    }
    if (part.startsWith(':')) params[part.slice(1).replace('?', '')] = decodePathPart(value)
    else if (part !== value) return null
  }
  return params
}

function partsOf(path: string): readonly string[] {
  return path.split('/').filter((part) => part !== '')
}

function decodePathPart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

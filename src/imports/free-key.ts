/** Gives keys made of names, none of them twice and none that is taken already. */
export function keyGiver(taken: Iterable<string>): (name: string) => string {
  const given = new Set(taken)
  const next = new Map<string, number>()
  return (name) => {
    const stem = slug(name)
    let key = stem
    for (let number = next.get(stem) ?? 2; given.has(key); number += 1) {
      key = `${stem}-${number}`
      next.set(stem, number)
    }
    given.add(key)
    return key
  }
}

/** Lower case, letters and digits of any script, joined by `-`; at most 60 UTF-16 units. */
function slug(name: string): string {
  const words =
    name
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const short = words
    .join('-')
    .slice(0, 60)
    .replace(/[-\ud800-\udbff]$/, '')
  return short === '' ? 'unnamed' : short
}

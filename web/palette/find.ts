import UFuzzy from '@leeoniya/ufuzzy'
import type { Item } from './items.ts'

const fuzzy = new UFuzzy({ intraMode: 1 })
const most = 40

/** The items that are meant, the best first. Without words: the first ones, as they are. */
export function findItems(items: readonly Item[], words: string): readonly Item[] {
  const needle = words.trim()
  if (needle === '') return items.slice(0, most)
  const haystack = items.map(({ text, also }) => `${text} ${also}`)
  const [found, info, order] = fuzzy.search(haystack, needle, 1)
  if (found === null) return []
  const places = info && order ? order.map((at) => info.idx[at]) : found
  const meant = places.flatMap((at) => (at === undefined ? [] : (items[at] ?? [])))
  // What is called exactly so comes first, whatever else has the same words.
  const isNamedSo = ({ text }: Item): boolean => text.toLowerCase() === needle.toLowerCase()
  return [...meant.filter(isNamedSo), ...meant.filter((item) => !isNamedSo(item))].slice(0, most)
}

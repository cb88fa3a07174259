import { excerpt } from './text.ts'

/** Default limit of an answer in characters of JSON: about 2,000 tokens. */
export const answerBudget = 5_600

/** A record with its texts shortened, and nested lists cut to their first entries. */
export function excerptFields<Cut extends object>(record: Cut): Cut {
  const cut = Object.entries(record).map(([key, value]) => [key, excerptsOf(value, 0)])
  return Object.fromEntries(cut) as Cut // the same keys, and each text and list still one
}

const maxInside = 8

function excerptsOf(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return excerpt(value, depth === 0 ? 600 : 240)
  if (Array.isArray(value)) {
    const entries: readonly unknown[] = depth === 0 ? value : value.slice(0, maxInside)
    return entries.map((entry) => excerptsOf(entry, depth + 1))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, excerptsOf(entry, depth + 1)]))
}

export interface BudgetSection {
  readonly name: string
  readonly entries: readonly unknown[]
}

/**
 * How many entries of each section fit into a budget. Small sections are kept whole, large ones share the remainder
 * equally. Each keeps at least one entry.
 */
export function fitSections(sections: readonly BudgetSection[], budget: number): ReadonlyMap<string, number> {
  const sized = sections.map(({ name, entries }) => ({ name, sizes: entries.map((entry) => sizeOf(entry)) }))
  const ascending = [...sized].sort((a, b) => sum(a.sizes) - sum(b.sizes))
  const counts = new Map<string, number>()
  let remaining = budget
  ascending.forEach(({ name, sizes }, index) => {
    const share = remaining / (ascending.length - index)
    const count = countFitting(sizes, share)
    counts.set(name, count)
    remaining -= sum(sizes.slice(0, count))
  })
  return counts
}

/** A record with its lists cut to a budget; other fields are kept whole. */
export function fitLists<Cut extends object>(record: Cut, budget: number): Cut {
  const sections = Object.entries(record).flatMap(([name, value]) =>
    Array.isArray(value) ? [{ name, entries: value as readonly unknown[] }] : [],
  )
  const otherSize = sizeOf(record) - sections.reduce((size, { entries }) => size + sizeOf(entries), 0)
  const counts = fitSections(sections, Math.max(budget - otherSize, 0))
  const cut = Object.entries(record).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.slice(0, counts.get(name)) : value,
  ])
  return Object.fromEntries(cut) as Cut // the same keys, and each list still one
}

function countFitting(sizes: readonly number[], share: number): number {
  let used = 0
  const end = sizes.findIndex((size, index) => {
    used += size
    return index > 0 && used > share
  })
  return end === -1 ? sizes.length : end
}

function sizeOf(entry: unknown): number {
  return JSON.stringify(entry).length + 1
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

import { table } from '../text/table.ts'
import { type Entry, isEntry, plainText } from './entry.ts'
import { bullets, indented } from './parts/sections.ts'
import type { Page, View } from './view.ts'

/** An answer that has no view of its own: `key: value`, lists of objects as tables. */
export const generic: View = (answer, page) =>
  Object.entries(answer)
    .map(([key, value]) => line(key, value, page))
    .filter((text) => text !== '')
    .join('\n')

function line(key: string, value: unknown, page: Page): string {
  const name = key.replace(/_/g, ' ')
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return ''
  if (Array.isArray(value)) return `${name}:\n${indented(list(value, page))}`
  if (isEntry(value)) {
    const inner = Object.entries(value).map(([innerKey, entry]) => line(innerKey, entry, page))
    return inner.length === 0 ? '' : `${name}:\n${indented(inner.filter((text) => text !== '').join('\n'))}`
  }
  return `${name}: ${plainText(value)}`
}

function list(values: readonly unknown[], page: Page): string {
  const entries = values.filter(isEntry)
  return entries.length === values.length ? tableOf(entries, page) : bullets(values.map(plain))
}

function tableOf(entries: readonly Entry[], page: Page): string {
  const keys = [...new Set(entries.flatMap((entry) => Object.keys(entry)))]
  const rows = entries.map((entry) => keys.map((key) => plain(entry[key])))
  const columns = keys.map((key) => ({ title: key.replace(/_/g, ' '), shrinks: true }))
  return table(columns, rows, { ...page, width: page.width - 4 })
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : plainText(value)
}

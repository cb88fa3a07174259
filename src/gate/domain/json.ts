import { isJsonObject } from '../../kernel/json.ts'
import { excerpt } from '../../kernel/text.ts'

/** The value at a path such as `plan.risk` or `items.0`; undefined if there is none. Ignores inherited keys. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((found, key) => {
    if (typeof found !== 'object' || found === null) return undefined
    return Object.hasOwn(found, key) ? Reflect.get(found, key) : undefined
  }, value)
}

export function isSameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => isSameJson(item, b[index]))
    )
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return Object.is(a, b)
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSameJson(a[key], b[key]))
  )
}

/** A value in a sentence. */
export function shownJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return excerpt(text, 60)
}

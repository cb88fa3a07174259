import { isJsonObject, type JsonObject } from '../domain/gate/json.ts'

// The shape was checked: what is absent is null or empty here, never wrong.

export function textAt(fields: JsonObject, key: string): string {
  return textOrNull(fields, key) ?? ''
}

export function textOrNull(fields: JsonObject, key: string): string | null {
  const value = own(fields, key)
  return typeof value === 'string' ? value : null
}

export function numberOrNull(fields: JsonObject, key: string): number | null {
  const value = own(fields, key)
  return typeof value === 'number' ? value : null
}

export function truthAt(fields: JsonObject, key: string): boolean {
  return own(fields, key) === true
}

export function listAt(fields: JsonObject, key: string): readonly unknown[] {
  const value = own(fields, key)
  return Array.isArray(value) ? value : []
}

export function textsAt(fields: JsonObject, key: string): readonly string[] {
  return listAt(fields, key).filter((item) => typeof item === 'string')
}

export function textsOrNull(fields: JsonObject, key: string): readonly string[] | null {
  return Array.isArray(own(fields, key)) ? textsAt(fields, key) : null
}

export function objectsAt(fields: JsonObject, key: string): readonly JsonObject[] {
  return listAt(fields, key).filter(isJsonObject)
}

export function objectOrNull(fields: JsonObject, key: string): JsonObject | null {
  const value = own(fields, key)
  return isJsonObject(value) ? value : null
}

export function own(fields: JsonObject, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined
}

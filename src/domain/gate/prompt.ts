import type { Dialect } from './definition.ts'
import { type JsonObject, valueAt } from './json.ts'

export interface PromptVariable {
  /** As it is written, with its braces. */
  readonly written: string
  /** `context`, `request`. */
  readonly path: readonly string[]
}

// The original wrote one pair of braces.
const forms = {
  1: /\{\{\s*([\w-]+(?:\.[\w-]+)*)\s*\}\}/g,
  original: /\{\{?\s*(context(?:\.[\w-]+)+)\s*\}\}?/g,
} as const satisfies Record<Dialect, RegExp>

/** A prompt with the values of its variables in it. What is not set stays as it is written, so that it is noticed. */
export function interpolated(prompt: string, dialect: Dialect, context: JsonObject): string {
  return prompt.replace(forms[dialect], (written: string, path: string) => {
    const value = valueAt({ context }, path.split('.'))
    if (value === undefined || value === null) return written
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
}

export function promptVariables(prompt: string, dialect: Dialect): readonly PromptVariable[] {
  return [...prompt.matchAll(forms[dialect])].map(([written, path = '']) => ({
    written,
    path: path.split('.'),
  }))
}

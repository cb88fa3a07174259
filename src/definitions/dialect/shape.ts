/** What may stand at a place of a process file. The one description that the reader and the published schema share. */
export type Shape =
  | ScalarShape
  | { readonly kind: 'anything' }
  /** A JSON object of any keys, such as a schema or a context. */
  | { readonly kind: 'json' }
  | { readonly kind: 'list'; readonly of: Shape; readonly least?: number }
  | { readonly kind: 'map'; readonly of: Shape }
  | ObjectShape
  /** One of the words, or one or several of the values. */
  | { readonly kind: 'choices'; readonly words: readonly string[]; readonly values: readonly string[] }
  /** Objects that the value of a key tells apart. */
  | { readonly kind: 'variants'; readonly by: string; readonly of: Readonly<Record<string, Shape>> }
  /** A name of a guard, or all, any or not of such. */
  | { readonly kind: 'guards' }

export type ScalarShape =
  | { readonly kind: 'text'; readonly pattern?: string }
  | { readonly kind: 'integer'; readonly least: number }
  | { readonly kind: 'number' }
  | { readonly kind: 'truth' }
  | { readonly kind: 'choice'; readonly values: readonly (string | number)[] }

export interface ObjectShape {
  readonly kind: 'object'
  readonly keys: Readonly<Record<string, Field>>
}

export interface Field {
  readonly shape: Shape
  readonly required: boolean
  readonly description?: string
  /** A key of the original's that decides nothing: read in its dialect only, with this note. */
  readonly inert?: string
}

export const text: Shape = { kind: 'text' }
export const truth: Shape = { kind: 'truth' }
export const json: Shape = { kind: 'json' }
export const texts: Shape = { kind: 'list', of: text }

export function required(shape: Shape, description?: string): Field {
  return { shape, required: true, ...(description !== undefined && { description }) }
}

export function optional(shape: Shape, description?: string): Field {
  return { shape, required: false, ...(description !== undefined && { description }) }
}

export function inert(shape: Shape, note: string): Field {
  return { shape, required: false, inert: note }
}

export function object(keys: Readonly<Record<string, Field>>): ObjectShape {
  return { kind: 'object', keys }
}

import { isPatch, pathsOfPatch } from '../../../kernel/apply-patch-format.ts'
import type { PayloadEdit, Replacement } from '../queued-event.ts'

/** A file that a call of an edit tool names, with the edit. */
export interface NamedEdit {
  readonly path: string
  readonly does: PayloadEdit | null
}

export type EditPayload = Readonly<Record<string, unknown>>

const pathFields = ['file_path', 'filePath', 'notebook_path', 'path', 'target_file']
const contentFields = ['content', 'contents', 'file_text']
const fromFields = ['old_string', 'oldString', 'old_str']
const toFields = ['new_string', 'newString', 'new_str']
const allFields = ['replace_all', 'replaceAll']
const patchFields = ['patch', 'patchText', 'input', 'command']
const most = 200

/** The files that a call changes, by the fields that clients use. */
export function namedEdits(input: unknown): readonly NamedEdit[] {
  const fields = objectOf(input)
  const patch = patchIn(typeof input === 'string' ? { patch: input } : fields)
  if (patch !== null) {
    return pathsOfPatch(patch)
      .slice(0, most)
      .map((path) => ({ path, does: { kind: 'patch', patch } }))
  }
  const own = textIn(fields, pathFields)
  const several = [fields['edits'], fields['replacements']].find((list) => Array.isArray(list))
  const strings = listOf(several).map(objectOf)
  // One call for several files names the file in each of its parts.
  const paths = new Set(strings.flatMap((part) => textIn(part, pathFields) ?? []))
  if (own === null && paths.size > 0) {
    return [...paths].slice(0, most).map((path) => ({
      path,
      does: replacementsOf(strings.filter((part) => textIn(part, pathFields) === path)),
    }))
  }
  if (own !== null) return [{ path: own, does: payloadEditOf(fields, strings) }]
  return listOf(fields['files'])
    .flatMap((file) => (typeof file === 'string' ? file : (textIn(objectOf(file), pathFields) ?? [])))
    .slice(0, most)
    .map((path) => ({ path, does: null }))
}

function payloadEditOf(fields: EditPayload, strings: readonly EditPayload[]): PayloadEdit | null {
  if (strings.length > 0) return replacementsOf(strings)
  if (textIn(fields, fromFields) !== null) return replacementsOf([fields])
  const content = contentFields.map((field) => fields[field]).find((value) => typeof value === 'string')
  return typeof content === 'string' ? { kind: 'content', content } : null
}

function replacementsOf(parts: readonly EditPayload[]): PayloadEdit | null {
  const strings: Replacement[] = []
  for (const part of parts) {
    const from = firstValue(part, fromFields)
    const to = firstValue(part, toFields)
    if (typeof from !== 'string' || typeof to !== 'string') return null
    const all = allFields.some((field) => part[field] === true) || Number(part['expected_replacements']) > 1
    strings.push({ from, to, all })
  }
  return { kind: 'strings', strings }
}

/** A patch in the form of `apply_patch`, wherever a client puts it. */
function patchIn(fields: EditPayload): string | null {
  for (const field of patchFields) {
    const value = fields[field]
    const text = Array.isArray(value) ? value.find(isPatch) : value
    if (isPatch(text)) return text.slice(text.indexOf('*** Begin Patch'))
  }
  return null
}

function textIn(fields: EditPayload, names: readonly string[]): string | null {
  const value = firstValue(fields, names)
  return typeof value === 'string' && value !== '' ? value : null
}

function firstValue(fields: EditPayload, names: readonly string[]): unknown {
  return names.map((name) => fields[name]).find((value) => value !== undefined && value !== null)
}

function objectOf(value: unknown): EditPayload {
  return hasFields(value) ? value : {}
}

export function hasFields(value: unknown): value is EditPayload {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

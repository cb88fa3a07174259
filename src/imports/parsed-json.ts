import { deepestNesting, outlineOf } from '../domain/json-outline.ts'

export type ParsedJson =
  | { readonly readable: true; readonly value: unknown }
  | { readonly readable: false; readonly place: string; readonly problem: string }

/** Parses JSON; where it is broken, names the line if the engine tells, else the file. */
export function parsedJson(text: string): ParsedJson {
  if (outlineOf(text).tooDeep) {
    const problem = `this is nested too deep: more than ${deepestNesting} brackets stand within each other.`
    return { readable: false, place: 'file', problem }
  }
  try {
    return { readable: true, value: JSON.parse(text.replace(/^\ufeff/, '')) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const position = /at position (\d+)/.exec(message)?.[1]
    const place =
      position === undefined ? 'file' : `line ${text.slice(0, Number(position)).split('\n').length}`
    return { readable: false, place, problem: `this is not JSON: ${message.replace(/\s+/g, ' ')}.` }
  }
}

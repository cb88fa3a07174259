import type { Dialect, ProcessDefinition } from '../domain/gate/definition.ts'
import { isJsonObject, valueAt } from '../domain/gate/json.ts'
import { finding } from '../domain/gate/lint/finding.ts'
import { lint } from '../domain/gate/lint/lint.ts'
import type { PlacedFinding } from '../ports/process-files.ts'
import { checkShape } from './check-shape.ts'
import { definitionFrom } from './definition-from.ts'
import { processShape } from './dialect/process-shape.ts'
import { readYaml } from './yaml-text.ts'

export interface ReadDefinition {
  /** Null when its shape is wrong. */
  readonly definition: ProcessDefinition | null
  readonly findings: readonly PlacedFinding[]
}

/** Reads a definition, and says everything that is wrong with it and where. Reads all of it or nothing. */
export function readDefinition(text: string): ReadDefinition {
  try {
    return read(text)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    // The reader of YAML recurses, and a few kilobytes of brackets exhaust any stack.
    const message = 'The file is nested too deeply to be read.'
    return {
      definition: null,
      findings: [{ ...finding('error', 'yaml', { message, path: [] }), place: null }],
    }
  }
}

function read(text: string): ReadDefinition {
  const result = readYaml(text)
  if (!result.readable) return { definition: null, findings: result.findings }
  const { yaml } = result
  const dialect: Dialect = valueAt(yaml.data, ['process', 'dialect']) === undefined ? 'original' : 1
  const found = checkShape(yaml, processShape, dialect)
  if (found.some(({ severity }) => severity === 'error') || !isJsonObject(yaml.data)) {
    return { definition: null, findings: inOrder(found) }
  }
  const definition = definitionFrom(yaml.data, dialect)
  const judged = lint(definition).map((each) => ({ ...each, place: yaml.placeAt(each.path) }))
  return { definition, findings: inOrder([...found, ...judged]) }
}

function inOrder(findings: readonly PlacedFinding[]): readonly PlacedFinding[] {
  return findings.toSorted(
    (a, b) => (a.place?.line ?? 0) - (b.place?.line ?? 0) || (a.place?.column ?? 0) - (b.place?.column ?? 0),
  )
}

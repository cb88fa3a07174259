import type { Dialect, ProcessDefinition } from '../domain/gate/definition.ts'
import { isJsonObject, type JsonObject, valueAt } from '../domain/gate/json.ts'
import { type Finding, finding } from '../domain/gate/lint/finding.ts'
import { lint } from '../domain/gate/lint/lint.ts'
import { type ReferenceKind, referencesTo } from '../domain/gate/lint/names.ts'
import { outcomes } from '../domain/gate/lint/ways.ts'
import type { PlacedFinding } from '../ports/project-files.ts'
import { checkShape } from './check-shape.ts'
import { definitionFrom, objectsAt, own, textAt } from './definition-from.ts'
import { processShape } from './dialect.ts'
import { readYaml, type YamlText } from './yaml-text.ts'

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
    return { definition: null, findings: inOrder([...found, ...unknownNames(yaml, found, dialect)]) }
  }
  const definition = definitionFrom(yaml.data, dialect)
  const judged = [...lint(definition), ...outcomes(definition, statesWithOutcome(yaml.data))].map((each) => ({
    ...each,
    place: yaml.placeAt(each.path),
  }))
  return { definition, findings: inOrder([...found, ...judged]) }
}

/**
 * The wrong references of a file whose shape is wrong elsewhere, so that both can be put right at once. A section whose
 * own names are in doubt proves nothing about the names that others use.
 */
function unknownNames(
  yaml: YamlText,
  found: readonly PlacedFinding[],
  dialect: Dialect,
): readonly PlacedFinding[] {
  const { data } = yaml
  const errors = found.filter(({ severity }) => severity === 'error').map(({ path }) => path)
  if (!isJsonObject(data) || !isList(data['transitions'])) return []
  // A key of the file that is not known may be the misspelt name of any section.
  const misspelt = errors.some((path) => path.length === 1 && !Object.hasOwn(sections, path[0] ?? ''))
  const kinds = Object.entries(sections).flatMap(([section, kind]) => {
    const names = data[section]
    if (names === undefined) return misspelt ? [] : [kind]
    const known = section === 'guards' ? isJsonObject(names) : isList(names) && names.every(isNamed)
    return known ? [kind] : []
  })
  const guards = data['guards']
  const sound = { ...data, guards: isJsonObject(guards) ? soundOnly(guards, errors) : {} }
  return referencesTo(definitionFrom(sound, dialect), kinds)
    .filter(({ path }) => !errors.some((wrong) => wrong.join('\n') === path.join('\n')))
    .map((each) => ({ ...each, place: yaml.placeAt(each.path) }))
}

const sections = {
  states: 'state',
  events: 'event',
  guards: 'guard',
  roles: 'role',
  artifacts: 'artifact',
} as const satisfies Readonly<Record<string, ReferenceKind>>

function isList(value: unknown): value is readonly JsonObject[] {
  return Array.isArray(value) && value.every(isJsonObject)
}

function isNamed(entry: JsonObject): boolean {
  return [entry['name'], entry['type']].some((name) => typeof name === 'string' && name !== '')
}

/** A guard of a wrong shape keeps its name, and asks for nothing. */
function soundOnly(guards: JsonObject, errors: readonly Finding['path'][]): JsonObject {
  return Object.fromEntries(
    Object.entries(guards).map(([name, guard]) => {
      const isWrong = errors.some((path) => path[0] === 'guards' && path[1] === name)
      return [name, isWrong ? { type: 'blockers', condition: 'none' } : guard]
    }),
  )
}

function statesWithOutcome(file: JsonObject): ReadonlySet<string> {
  const stated = objectsAt(file, 'states').filter((state) => own(state, 'outcome') !== undefined)
  return new Set(stated.map((state) => textAt(state, 'name')))
}

function inOrder(findings: readonly PlacedFinding[]): readonly PlacedFinding[] {
  return findings.toSorted(
    (a, b) => (a.place?.line ?? 0) - (b.place?.line ?? 0) || (a.place?.column ?? 0) - (b.place?.column ?? 0),
  )
}

import type { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../kernel/json.ts'
import { didYouMean } from '../../kernel/nearest-word.ts'
import type { FileLocation, LocatedFinding, LocatedPattern } from '../../project/ports/project-files.ts'
import type { Dialect, ProcessDefinition, TransitionDefinition } from '../domain/definition.ts'
import { valueAt } from '../domain/json.ts'
import { type DefinitionPath, finding } from '../domain/lint/finding.ts'
import { lint } from '../domain/lint/lint.ts'
import { type ReferenceKind, referencesTo } from '../domain/lint/names.ts'
import { patternsIn } from '../domain/lint/patterns.ts'
import { outcomeFindings } from '../domain/lint/reachability.ts'
import { type DialectSchemas, inertKeys, misspelledField, schemasOf } from './dialect.ts'
import { readYaml, type YamlText } from './yaml-text.ts'

export interface ReadDefinition {
  /** Null when its shape is wrong. */
  readonly definition: ProcessDefinition | null
  readonly findings: readonly LocatedFinding[]
  readonly patterns: readonly LocatedPattern[]
}

/** Reads a definition, and lists all its errors with their places. */
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
      patterns: [],
    }
  }
}

function read(text: string): ReadDefinition {
  const result = readYaml(text)
  if (!result.readable) return { definition: null, findings: result.findings, patterns: [] }
  const { yaml } = result
  const dialect: Dialect = valueAt(yaml.data, ['process', 'dialect']) === undefined ? 'original' : 1
  const schemas = schemasOf(dialect)
  const parsed = schemas.file.safeParse(yaml.data)
  const notes = dialect === 'original' ? inertNotes(yaml) : []
  if (!parsed.success) {
    const wrong = parsed.error.issues.flatMap((issue) => shapeFindings(yaml, issue, []))
    return {
      definition: null,
      findings: sortFindings([...notes, ...wrong, ...unknownNames(yaml, dialect, wrong)]),
      patterns: [],
    }
  }
  const definition = parsed.data
  const judged = [...lint(definition), ...outcomeFindings(definition, statesWithOutcome(yaml.data))].map(
    (each) => ({
      ...each,
      place: yaml.placeAt(each.path),
    }),
  )
  const patterns = patternsIn(definition).map((each) => ({ ...each, place: yaml.placeAt(each.path) }))
  return { definition, findings: sortFindings([...notes, ...judged]), patterns }
}

/** How many unknown keys of an object are reported one by one. */
const maxUnknownKeys = 20

/** The findings of the schema with their places: unknown keys, missing keys and wrong values. */
function shapeFindings(
  yaml: YamlText,
  issue: z.core.$ZodIssue,
  above: DefinitionPath,
): readonly LocatedFinding[] {
  const path = [...above, ...issue.path] as DefinitionPath // YAML has no symbols
  const problem = (rule: string, message: string, location: DefinitionPath, place: FileLocation | null) => ({
    ...finding('error', rule, { message, path: location }),
    place,
  })
  if (issue.code === 'unrecognized_keys') {
    const more = issue.keys.length - maxUnknownKeys
    const allowed = issue.message.split(', ')
    const findings = issue.keys.slice(0, maxUnknownKeys).map((key) => {
      const inside = [...path, key]
      return problem('unknown-key', unknownKey(path, key, allowed), inside, yaml.placeOfKey(inside))
    })
    if (more <= 0) return findings
    const message = `${definitionPathText(path)} has ${more} more keys that it cannot have.`
    const next = [...path, issue.keys[maxUnknownKeys] ?? '']
    return [...findings, problem('unknown-key', message, path, yaml.placeOfKey(next))]
  }
  const inside = issue.code === 'invalid_union' ? issue.errors.find(isMatchingShape) : undefined
  if (inside) return inside.flatMap((each) => shapeFindings(yaml, each, path))
  const key = String(path.at(-1))
  const owner = path.slice(0, -1)
  const fields = dataAt(yaml.data, owner)
  if (!isJsonObject(fields) || fields[key] !== undefined) {
    return [problem('odd-value', `${definitionPathText(path)} ${issue.message}`, path, yaml.placeAt(path))]
  }
  if (issue.code !== 'invalid_union') {
    return [
      problem('missing-key', `${definitionPathText(owner)} has no "${key}".`, owner, yaml.placeAt(owner)),
    ]
  }
  const misspelled = misspelledField(key, fields)
  const place = misspelled === undefined ? yaml.placeAt(owner) : yaml.placeOfKey([...owner, misspelled])
  return [problem('missing-key', `${definitionPathText(owner)} ${issue.message}`, owner, place)]
}

/** Whether a variant of a union matches at the top, so that its errors are about the inside. */
function isMatchingShape(issues: readonly z.core.$ZodIssue[]): boolean {
  return issues.some(({ code, path }) => path.length > 0 || code === 'unrecognized_keys' || code === 'custom')
}

function unknownKey(path: DefinitionPath, key: string, allowed: readonly string[]): string {
  const inert = inertKeys[String(path[0] ?? 'file')]?.[key]
  const advice = inert === undefined ? didYouMean(key, allowed) : ` In dialect 1 ${inert}.`
  return `${definitionPathText(path)} has no key "${key}".${advice || ` It may have ${allowed.join(', ')}.`}`
}

/** A note for each key of the original dialect without effect. */
function inertNotes(yaml: YamlText): readonly LocatedFinding[] {
  return Object.entries(inertKeys).flatMap(([section, notes]) => {
    const owners: readonly DefinitionPath[] =
      section === 'file' ? [[]] : entriesOf(yaml.data, section).map((_, index) => [section, index])
    return owners.flatMap((owner) =>
      Object.entries(notes).flatMap(([key, note]) => {
        const path = [...owner, key]
        if (dataAt(yaml.data, path) === undefined) return []
        const message = `"${key}" decides nothing: ${note}.`
        return [{ ...finding('note', 'inert-key', { message, path }), place: yaml.placeOfKey(path) }]
      }),
    )
  })
}

/**
 * The unknown references of a file with a wrong shape, so that both can be fixed at once. References to a section whose
 * names cannot be read are not checked.
 */
function unknownNames(
  yaml: YamlText,
  dialect: Dialect,
  shapeFindings2: readonly LocatedFinding[],
): readonly LocatedFinding[] {
  const { data } = yaml
  if (!isJsonObject(data) || !isList(data['transitions'])) return []
  // An unknown key of the file may be the misspelled name of any section.
  const misspelt = shapeFindings2.some(
    ({ path }) => path.length === 1 && !Object.hasOwn(sections, path[0] ?? ''),
  )
  const kinds = Object.entries(sections).flatMap(([section, kind]) => {
    const names = data[section]
    if (names === undefined) return misspelt ? [] : [kind]
    const isReadable = section === 'guards' ? isJsonObject(names) : isList(names) && names.every(isNamed)
    return isReadable ? [kind] : []
  })
  return referencesTo(readableDefinition(data, dialect, schemasOf(dialect)), kinds).map((each) => ({
    ...each,
    place: yaml.placeAt(each.path),
  }))
}

const sections = {
  states: 'state',
  events: 'event',
  guards: 'guard',
  roles: 'role',
  artifacts: 'artifact',
} as const satisfies Readonly<Record<string, ReferenceKind>>

/** The readable parts of a file; an entry with a wrong shape keeps only its name. */
function readableDefinition(data: JsonObject, dialect: Dialect, schemas: DialectSchemas): ProcessDefinition {
  const entries = <Entry>(
    section: string,
    schema: z.ZodType<Entry>,
    bare: (name: unknown) => JsonObject,
  ): readonly Entry[] =>
    entriesOf(data, section).map((entry) => {
      const name = isJsonObject(entry) && isNamed(entry) ? (entry['name'] ?? entry['type']) : 'unnamed'
      return (
        schema.safeParse(entry).data ?? schema.safeParse(bare(name)).data ?? schema.parse(bare('unnamed'))
      )
    })
  const guards = isJsonObject(data['guards']) ? Object.entries(data['guards']) : []
  const initial = valueAt(data, ['process', 'initial_state'])
  return {
    dialect,
    id: '',
    version: '',
    name: '',
    description: null,
    initialState: typeof initial === 'string' ? initial : '',
    initialContext: {},
    contextSchema: null,
    roles: entries('roles', schemas.role, (name) => ({ name })),
    states: entries('states', schemas.state, (name) => ({ name })),
    events: entries('events', schemas.event, (name) => ({ name, allowed_roles: [] })),
    transitions: entriesOf(data, 'transitions').map(
      (entry) => schemas.transition.safeParse(entry).data ?? emptyTransition,
    ),
    guards: guards.map(([name, guard]) => ({
      name,
      ...(schemas.guard.safeParse(guard).data ?? {
        description: null,
        hint: null,
        guard: { type: 'blockers', condition: 'none' },
      }),
    })),
    artifacts: entries('artifacts', schemas.artifact, (name) => ({ type: name })),
  }
}

const emptyTransition: TransitionDefinition = {
  from: '*',
  event: '',
  to: '',
  description: null,
  guard: null,
  allowedRoles: null,
  whenBlocked: 'reject',
  assign: [],
  mergePayload: false,
  escape: false,
}

function isList(value: unknown): value is readonly JsonObject[] {
  return Array.isArray(value) && value.every(isJsonObject)
}

function isNamed(entry: JsonObject): boolean {
  return [entry['name'], entry['type']].some((name) => typeof name === 'string' && name !== '')
}

function entriesOf(data: unknown, section: string): readonly unknown[] {
  const entries = valueAt(data, [section])
  return Array.isArray(entries) ? entries : []
}

function dataAt(data: unknown, path: DefinitionPath): unknown {
  return valueAt(data, path.map(String))
}

function statesWithOutcome(data: unknown): ReadonlySet<string> {
  const states = entriesOf(data, 'states').filter(isJsonObject)
  return new Set(states.filter(({ outcome }) => outcome !== undefined).map(({ name }) => String(name)))
}

/** `transitions[2].guard`. */
function definitionPathText(path: DefinitionPath): string {
  if (path.length === 0) return 'The file'
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${part}`))
    .join('')
}

function sortFindings(findings: readonly LocatedFinding[]): readonly LocatedFinding[] {
  return findings.toSorted(
    (a, b) => (a.place?.line ?? 0) - (b.place?.line ?? 0) || (a.place?.column ?? 0) - (b.place?.column ?? 0),
  )
}

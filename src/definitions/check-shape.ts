import { isMap, isScalar, isSeq, type Scalar, type YAMLMap } from 'yaml'
import type { Dialect } from '../domain/gate/definition.ts'
import { shownJson } from '../domain/gate/json.ts'
import { type DefinitionPath, finding, type Severity } from '../domain/gate/lint/finding.ts'
import { didYouMean } from '../domain/nearest-word.ts'
import type { PlacedFinding } from '../ports/project-files.ts'
import type { Field, ObjectShape, ScalarShape, Shape } from './dialect.ts'
import type { YamlText } from './yaml-text.ts'

/** A node, the shape that it must have, and where it is. */
interface Spot {
  readonly node: unknown
  readonly shape: Shape
  readonly path: DefinitionPath
}

/** How many unknown keys of one object are told each by itself. */
const mostOdd = 20

type Keys = Readonly<Record<string, Field>>

/** Everything in a file that has not the shape of its dialect: each unknown key, missing key and odd value. */
export function checkShape(yaml: YamlText, shape: Shape, dialect: Dialect): readonly PlacedFinding[] {
  const say = (
    rule: string,
    message: string,
    at: { path: DefinitionPath; node: unknown; severity?: Severity },
  ) => ({
    ...finding(at.severity ?? 'error', rule, { message, path: at.path }),
    place: yaml.placeOf(at.node),
  })

  const check = (spot: Spot): readonly PlacedFinding[] => {
    const { node, shape, path } = spot
    switch (shape.kind) {
      case 'anything':
        return []
      case 'object':
        return isMap(node) ? checkObject(node, shape, path) : expected('an object', spot)
      case 'map':
        return isMap(node)
          ? pairs(node).flatMap(({ key, value }) =>
              check({ node: value, shape: shape.of, path: [...path, key] }),
            )
          : expected('an object', spot)
      case 'json':
        return isMap(node) ? [] : expected('an object', spot)
      case 'list': {
        if (!isSeq(node)) return expected('a list', spot)
        if (node.items.length < (shape.least ?? 0)) return expected('a list with an entry', spot)
        return node.items.flatMap((item, at) => check({ node: item, shape: shape.of, path: [...path, at] }))
      }
      case 'choices': {
        if (!isSeq(node)) {
          return check({ node, shape: { kind: 'choice', values: [...shape.words, ...shape.values] }, path })
        }
        const one: Shape = { kind: 'choice', values: shape.values }
        return node.items.flatMap((item, at) => check({ node: item, shape: one, path: [...path, at] }))
      }
      case 'variants':
        return checkVariant(spot, shape)
      case 'guards':
        return checkGuards(spot)
      case 'text':
      case 'integer':
      case 'number':
      case 'truth':
      case 'choice':
        return checkScalar(spot, shape)
    }
  }

  const checkObject = (
    node: YAMLMap,
    { keys }: ObjectShape,
    path: DefinitionPath,
  ): readonly PlacedFinding[] => {
    const present = pairs(node)
    const missing = Object.entries(keys)
      .filter(([key, field]) => field.required && !present.some((pair) => pair.key === key))
      .map(([key]) => say('missing-key', `${named(path)} has no "${key}".`, { path, node }))
    const known = present.filter(({ key }) => Object.hasOwn(keys, key))
    const odd = present.filter(({ key }) => !Object.hasOwn(keys, key))
    const shown = new Set([...known, ...odd.slice(0, mostOdd)])
    const found = present.filter((pair) => shown.has(pair)).flatMap((pair) => checkPair(pair, keys, path))
    const [next] = odd.slice(mostOdd)
    if (!next) return [...missing, ...found]
    const message = `${named(path)} has ${odd.length - mostOdd} more keys that it cannot have.`
    return [...missing, ...found, say('unknown-key', message, { path, node: next.keyNode })]
  }

  const checkPair = (pair: Pair, keys: Keys, path: DefinitionPath): readonly PlacedFinding[] => {
    const { key, keyNode, value } = pair
    const field = Object.hasOwn(keys, key) ? keys[key] : undefined
    const inside = [...path, key]
    const known = Object.keys(keys).filter(
      (name) => dialect === 'original' || keys[name]?.inert === undefined,
    )
    if (!field || !known.includes(key)) {
      const inert = field?.inert === undefined ? didYouMean(key, known) : ` In dialect 1 ${field.inert}.`
      const message = `${named(path)} has no key "${key}".${inert || ` It may have ${known.join(', ')}.`}`
      return [say('unknown-key', message, { path: inside, node: keyNode })]
    }
    // An empty section is an empty list or map. An empty `guard:` is no guard, and must not pass for one left out.
    const mayBeEmpty = !field.required && ['list', 'map', 'json'].includes(field.shape.kind)
    const found = isEmpty(value) && mayBeEmpty ? [] : check({ node: value, shape: field.shape, path: inside })
    if (field.inert === undefined) return found
    const message = `"${key}" decides nothing: ${field.inert}.`
    return [...found, say('inert-key', message, { path: inside, node: keyNode, severity: 'note' })]
  }

  const checkVariant = (
    spot: Spot,
    { by, of }: Extract<Shape, { readonly kind: 'variants' }>,
  ): readonly PlacedFinding[] => {
    const { node, path } = spot
    if (!isMap(node)) return expected('an object', spot)
    const choice = pairs(node).find(({ key }) => key === by)
    const values = Object.keys(of)
    if (!choice) {
      const meant = pairs(node).find(({ key }) => didYouMean(key, [by]) !== '')
      const hint = meant ? ` Did you mean "${by}" by "${meant.key}"?` : ''
      const message = `${named(path)} has no "${by}": ${values.join(', ')}.${hint}`
      return [say('missing-key', message, { path, node: meant?.keyNode ?? node })]
    }
    const value = isScalar(choice.value) ? String(choice.value.value) : ''
    const shape = Object.hasOwn(of, value) ? of[value] : undefined
    if (shape) return check({ node, shape, path })
    const message = `${named([...path, by])} is ${shownNode(choice.value)}, not one of ${values.join(', ')}.${didYouMean(value, values)}`
    return [say('odd-value', message, { path: [...path, by], node: choice.value })]
  }

  const checkGuards = (spot: Spot): readonly PlacedFinding[] => {
    const { node, path } = spot
    if (isScalar(node)) return check({ node, shape: { kind: 'text' }, path })
    if (!isMap(node)) return expected('a name, or an object with all, any or not', spot)
    const entries = pairs(node)
    const found = entries.flatMap((pair) => {
      const branches = { all: guardList, any: guardList, not: guardField }
      return checkPair(pair, branches, path)
    })
    if (found.length > 0 || entries.length === 1) return found
    return [say('odd-value', `${named(path)} must have one of all, any, not.`, { path, node })]
  }

  const checkScalar = (spot: Spot, shape: ScalarShape): readonly PlacedFinding[] => {
    const { node } = spot
    const wanted = scalarWords(shape)
    if (!isScalar(node)) return expected(wanted, spot)
    return fits(node, shape) ? [] : expected(wanted, spot)
  }

  const expected = (wanted: string, { node, path, shape }: Spot): readonly PlacedFinding[] => {
    const choices = shape.kind === 'choice' ? shape.values.map(String) : []
    const value = isScalar(node) ? String(node.value) : ''
    const message = `${named(path)} must be ${wanted}, and is ${shownNode(node)}.${didYouMean(value, choices)}`
    return [say('odd-value', message, { path, node })]
  }

  return check({ node: yaml.root, shape, path: [] })
}

const guardField: Field = { shape: { kind: 'guards' }, required: true }
const guardList: Field = { shape: { kind: 'list', of: { kind: 'guards' }, least: 1 }, required: true }

interface Pair {
  readonly key: string
  readonly keyNode: unknown
  readonly value: unknown
}

function pairs(node: YAMLMap): readonly Pair[] {
  return node.items.map(({ key, value }) => ({
    key: isScalar(key) ? String(key.value) : String(key),
    keyNode: key,
    value,
  }))
}

function isEmpty(node: unknown): boolean {
  return node === null || (isScalar(node) && node.value === null)
}

function fits({ value }: Scalar, shape: ScalarShape): boolean {
  switch (shape.kind) {
    case 'text':
      return typeof value === 'string' && value !== '' && new RegExp(shape.pattern ?? '', 'u').test(value)
    case 'integer':
      return typeof value === 'number' && Number.isSafeInteger(value) && value >= shape.least
    case 'number':
      return typeof value === 'number' && Number.isFinite(value)
    case 'truth':
      return typeof value === 'boolean'
    case 'choice':
      return shape.values.some((allowed) => allowed === value)
  }
}

function scalarWords(shape: ScalarShape): string {
  switch (shape.kind) {
    case 'text':
      return shape.pattern === undefined ? 'a text' : `a text that fits ${shape.pattern}`
    case 'integer':
      return `a whole number from ${shape.least}`
    case 'number':
      return 'a number'
    case 'truth':
      return 'true or false'
    case 'choice':
      return shape.values.length === 1 ? String(shape.values[0]) : `one of ${shape.values.join(', ')}`
  }
}

/** `transitions[2].guard`. */
function named(path: DefinitionPath): string {
  if (path.length === 0) return 'The file'
  return path
    .map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${part}`))
    .join('')
}

function shownNode(node: unknown): string {
  if (isScalar(node)) return shownJson(node.value)
  if (isMap(node)) return 'an object'
  if (isSeq(node)) return 'a list'
  return 'nothing'
}

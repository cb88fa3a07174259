import { type Document, isAlias, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml'
import type { FileLocation, LocatedFinding } from '../../project/ports/project-files.ts'
import { type DefinitionPath, finding } from '../domain/lint/finding.ts'

/** Largest file of a process that is read, in characters: of a hostile one, a server reads this much in 0.2 seconds. */
const largestFile = 50_000

export interface YamlText {
  /** The file as plain data. */
  readonly data: unknown
  /** The location of a part of a definition; of the nearest part around it if it is absent. */
  placeAt(path: DefinitionPath): FileLocation | null
  /** The location of the last key of a path. */
  placeOfKey(path: DefinitionPath): FileLocation | null
}

type YamlResult =
  | { readonly readable: true; readonly yaml: YamlText }
  | { readonly readable: false; readonly findings: readonly LocatedFinding[] }

/** Reads YAML as data only: one document, no aliases, no custom tags, no duplicate keys. */
export function readYaml(text: string): YamlResult {
  if (text.length > largestFile) {
    return yamlFailure(`The file has ${text.length} characters; at most ${largestFile} are read.`, null)
  }
  const lineCounter = new LineCounter()
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    version: '1.2',
    uniqueKeys: false,
  })
  const locationOf = (offset: number): FileLocation => {
    const { line, col } = lineCounter.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const problems = [...document.errors, ...document.warnings]
  if (problems.length > 0) {
    return {
      readable: false,
      findings: problems
        .slice(0, 20)
        .map(({ message, pos }) => yamlFinding(sentence(message), locationOf(pos[0]))),
    }
  }
  const alias = firstAlias(document)
  if (alias !== null) {
    return yamlFailure(
      'Anchors and aliases (&name, *name) are not supported: write the content out.',
      locationOf(alias),
    )
  }
  const twice = duplicateKeyOffset(document)
  if (twice !== null) return yamlFailure('Map keys must be unique.', locationOf(twice))
  if (document.contents === null) return yamlFailure('The file is empty.', null)
  const placeOf = (node: unknown): FileLocation | null =>
    isNode(node) && node.range ? locationOf(node.range[0]) : null
  return {
    readable: true,
    yaml: {
      data: document.toJS(),
      placeAt: (path) => placeOf(nodeAt(document, path)),
      placeOfKey: (path) => placeOf(keyAt(document, path)),
    },
  }
}

function yamlFailure(message: string, place: FileLocation | null): YamlResult {
  return { readable: false, findings: [yamlFinding(message, place)] }
}

function yamlFinding(message: string, place: FileLocation | null): LocatedFinding {
  return { ...finding('error', 'yaml', { message, path: [] }), place }
}

function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`
}

/** The offset of the first alias or anchor. A few of them can expand to a gigabyte. */
function firstAlias(document: Document.Parsed): number | null {
  let offset: number | null = null
  visit(document, (_, node) => {
    if (!isNode(node) || (!isAlias(node) && !('anchor' in node && node.anchor))) return undefined
    offset = node.range?.[0] ?? 0
    return visit.BREAK
  })
  return offset
}

/** The offset of the first key that its map has already. The library's own search compares each key with each. */
function duplicateKeyOffset(document: Document.Parsed): number | null {
  let offset: number | null = null
  visit(document, {
    Map: (_, map) => {
      const keys = new Set<unknown>()
      for (const { key } of map.items) {
        const value = isScalar(key) ? key.value : key
        if (keys.has(value)) {
          offset = isNode(key) ? (key.range?.[0] ?? 0) : 0
          return visit.BREAK
        }
        keys.add(value)
      }
      return undefined
    },
  })
  return offset
}

function nodeAt(document: Document.Parsed, path: DefinitionPath): unknown {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
    if (isNode(node)) return node
  }
  return null
}

function keyAt(document: Document.Parsed, path: DefinitionPath): unknown {
  const map = nodeAt(document, path.slice(0, -1))
  if (!isMap(map)) return map
  return map.items.find(({ key }) => String(isScalar(key) ? key.value : key) === path.at(-1))?.key ?? map
}

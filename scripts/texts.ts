// node scripts/run.mjs scripts/texts.ts [feature…]: the sentences that people and agents read, with file and line.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'rolldown/utils'

interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly [key: string]: unknown
}

interface Sentence {
  readonly line: number
  readonly text: string
}

const root = join(import.meta.dirname, '..')

/** Fields whose value is read, even if it is short. */
const readFields = new Set(['title', 'description', 'about', 'hint', 'says'])

/** Parts of a file that nobody reads: SQL, types, names of modules, and errors that only a defect causes. */
function isUnread({ type, callee }: SyntaxNode): boolean {
  if (type === 'NewExpression') return isNode(callee) && callee['name'] === 'Error'
  return ['TaggedTemplateExpression', 'TSLiteralType', 'ImportDeclaration', 'ImportExpression'].includes(type)
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

/** The text of a literal, with the source of what is inserted into it. */
function textOfNode(node: SyntaxNode, source: string): string | null {
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : null
  if (node.type === 'JSXText') return String(node['value']).replace(/\s+/g, ' ').trim()
  if (node.type !== 'TemplateLiteral') return null
  return source.slice(node.start + 1, Number(node['end']) - 1)
}

/** Whether a text is for reading: three words or more, most of them letters. */
function isSentence(text: string): boolean {
  const words = text.split(/\s+/).filter((word) => /^[\p{L}"'“(`-]*\p{L}/u.test(word))
  const letters = text.replace(/[^\p{L}\s]/gu, '').length
  return words.length >= 3 && letters > text.length / 2
}

function sentencesIn(source: string, file: string): readonly Sentence[] {
  const { program } = parseSync(file, source)
  const found: Sentence[] = []
  const visit = (node: SyntaxNode, field: string): void => {
    if (isUnread(node)) return
    const text = textOfNode(node, source)
    if (text !== null && (isSentence(text) || (readFields.has(field) && text.includes(' ')))) {
      const line = source.slice(0, node.start).split('\n').length
      found.push({ line, text: text.replace(/\s*\n\s*/g, ' ') })
      return
    }
    const key = node['key']
    const name = node.type === 'Property' && isNode(key) ? String(key['name']) : ''
    for (const [child, value] of Object.entries(node)) {
      if (child === 'key' || child === 'source') continue
      for (const part of Array.isArray(value) ? value : [value]) if (isNode(part)) visit(part, name)
    }
  }
  visit(program as unknown as SyntaxNode, '')
  return found
}

function filesOf(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/^(?:tables|schema)\/|\.test\.ts$|\.d\.ts$/.test(name))
    .map((name) => join(folder, name))
    .sort()
}

const features = readdirSync(join(root, 'src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
const all = [...features, 'web']
const named = process.argv.slice(2)
const unknown = named.filter((name) => !all.includes(name))
if (unknown.length > 0) {
  console.error(`There is no feature ${unknown.join(', ')}. There are: ${all.join(', ')}.`)
  process.exitCode = 1
}
for (const feature of named.length === 0 ? all : named.filter((name) => all.includes(name))) {
  const lines = filesOf(feature === 'web' ? 'web' : `src/${feature}`).flatMap((file) =>
    sentencesIn(readFileSync(join(root, file), 'utf8'), file).map(
      ({ line, text }) => `${file}:${line}  ${text}`,
    ),
  )
  console.log(`\n## ${feature}: ${lines.length} texts\n\n${lines.join('\n')}`)
}

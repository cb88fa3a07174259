import { plainReport } from './plain-text.ts'

/** A word, a path, or a mark of an agent's report. */
export type ReportToken =
  | { readonly kind: 'word'; readonly text: string }
  /** A file as it is named: with `/` between folders, without `./`, line numbers and quotes. */
  | { readonly kind: 'path'; readonly path: string }
  /** Other quoted text: a name, a command, a pattern. */
  | { readonly kind: 'code' }
  | { readonly kind: 'mark'; readonly text: string }

/** A line of a report in Markdown: wrapped lines are joined, fenced code and quotations are left out. */
export interface ReportLine {
  readonly kind: 'heading' | 'item' | 'text'
  /** How far a list item is indented. */
  readonly indent: number
  readonly tokens: readonly ReportToken[]
}

/** A longer report is read up to here. */
const maxLength = 100_000
/** And a line up to here: reading a sentence takes time by the square of its length. */
const maxTokens = 1_000

export function readReport(text: string): readonly ReportLine[] {
  const lines: { kind: ReportLine['kind']; indent: number; text: string }[] = []
  let fence: string | null = null
  let isOpen = false
  for (const line of plainReport(text.slice(0, maxLength)).split(/\r?\n/)) {
    const [, mark] = /^\s*(```|~~~)/.exec(line) ?? []
    if (mark !== undefined && (fence === null || fence === mark)) {
      fence = fence === null ? mark : null
      isOpen = false
      continue
    }
    if (fence !== null) continue
    const bare = line.trim()
    const [, heading] = /^#{1,6}\s+(.*)$/.exec(bare) ?? /^\*\*([^*]+)\*\*:?$/.exec(bare) ?? []
    const [, indent = '', item] =
      /^(\s*)(?:[-*+•]|\d{1,3}[.)]|\p{Extended_Pictographic}\uFE0F?|[✓✔☑])\s+(.*)$/u.exec(line) ?? []
    const row = /^\|(.*)\|$/.exec(bare)?.[1]
    if (bare === '' || /^(?:>|[-=_*\s]+$)/.test(bare)) isOpen = false
    // A box that is not ticked is work to do.
    else if (item?.startsWith('[ ]')) isOpen = false
    else if (heading !== undefined) {
      lines.push({ kind: 'heading', indent: 0, text: heading })
      isOpen = false
    } else if (row !== undefined) {
      lines.push({ kind: 'item', indent: 0, text: rowText(row) })
      isOpen = false
    } else if (item !== undefined) {
      lines.push({ kind: 'item', indent: indent.length, text: item.replace(/^\[[ xX]\]\s+/, '') })
      isOpen = true
    } else {
      const last = lines.at(-1)
      if (isOpen && last !== undefined && last.kind !== 'heading') last.text += ` ${bare}`
      else lines.push({ kind: 'text', indent: 0, text: bare })
      isOpen = true
    }
  }
  return lines.map((line) => ({ kind: line.kind, indent: line.indent, tokens: tokensOf(line.text) }))
}

/** A row of a table reads as its first cell, a colon, and the others. */
function rowText(row: string): string {
  const [first = '', ...others] = row.split('|').map((cell) => cell.trim())
  return `${first}: ${others.join(' – ')}`
}

const chunks = /`[^`]+`|https?:\/\/\S+|[^\s`,;()<>|"“”]+|[,;()]/gu

function tokensOf(text: string): readonly ReportToken[] {
  const tokens: ReportToken[] = []
  for (const [chunk] of withoutLinks(withQuotedNames(text)).matchAll(chunks)) {
    tokens.push(...tokensOfChunk(chunk))
    if (tokens.length >= maxTokens) break
  }
  return tokens
}

/** A name with spaces reads the same in quotes as in backticks. */
function withQuotedNames(text: string): string {
  return text.replace(/["“]([^"“”`]+)["”]/g, (quoted, name: string) =>
    isSpacedName(name) ? `\`${name}\`` : quoted,
  )
}

/** A link reads as the path that it names: in its text or, for a relative one, in its target. */
function withoutLinks(text: string): string {
  return text.replace(/!?\[([^[\]]*)\]\(([^()\s]*)\)/g, (_, label: string, target: string) => {
    const named = label.replaceAll('`', '')
    const isLocal = !/^(?:\w+:|\/|#|\.\.)/.test(target)
    if (isLocal && target.includes('/') && pathIn(target) !== null) return `\`${target}\``
    return pathIn(named) === null ? label : `\`${named}\``
  })
}

/** Longer than any path that is read, and short enough for patterns that look back from its end. */
const maxChunk = 1_000

function tokensOfChunk(chunk: string): readonly ReportToken[] {
  if (chunk.length > maxChunk) return [{ kind: 'code' }]
  if (chunk.startsWith('`')) {
    const text = chunk.slice(1, -1).trim()
    const path = isSpacedName(text) ? text : pathIn(text)
    return [path === null ? { kind: 'code' } : { kind: 'path', path }]
  }
  if (/^https?:/.test(chunk)) return [{ kind: 'code' }]
  if (/^[,;()]$/.test(chunk)) return [{ kind: 'mark', text: chunk }]
  if (/^(?:-|–|—|--)$/.test(chunk)) return [{ kind: 'mark', text: '–' }]
  if (/^(?:→|->|=>|➜)$/u.test(chunk)) return [{ kind: 'mark', text: '→' }]
  if (/^(?:&|\+)$/.test(chunk)) return [{ kind: 'word', text: 'and' }]
  const text = chunk.replace(/^(?:[*~'‘]|\p{Extended_Pictographic}|\uFE0F)+/u, '')
  const [, end = ''] = /([*_~'’.:!?…]*)$/u.exec(text) ?? []
  const bare = text.slice(0, text.length - end.length)
  const marks: readonly ReportToken[] = /[.!?…]/u.test(end)
    ? [{ kind: 'mark', text: '.' }]
    : end.includes(':')
      ? [{ kind: 'mark', text: ':' }]
      : []
  if (bare === '') return marks
  const path = pathIn(bare)
  if (path !== null) return [{ kind: 'path', path }, ...marks]
  const [, before = '', after = ''] = /^([^–—]+)[–—](.+)$/u.exec(bare) ?? []
  if (after !== '') {
    return [...tokensOfChunk(before), { kind: 'mark', text: '–' }, ...tokensOfChunk(after), ...marks]
  }
  if (/[/\\*{}[\]=$]/.test(bare)) return [{ kind: 'code' }, ...marks]
  return [{ kind: 'word', text: bare.toLowerCase().replaceAll('’', "'") }, ...marks]
}

const withFolder = /^(?:[\p{L}\p{M}\p{N}_@.+[\]()$~-]+\/)+[\p{L}\p{M}\p{N}_@+[\]()$~.-]*\.[a-z]\w{0,9}$/iu
/** In capitals, so that "the readme" is a word. The file may have an extension: `README.md`. */
const document = /(?:^|\/)(?:CHANGELOG|CONTRIBUTING|COPYING|README)$/
const withoutExtension =
  /(?:^|\/)(?:\w*Dockerfile|\w*Makefile|Jenkinsfile|Procfile|Gemfile|Rakefile|Justfile|CODEOWNERS|LICENSE|\.[a-z][\w.-]*(?:ignore|rc|env|attributes|editorconfig|version))$/iu

/** The path that a text is, from the project's folder or cut at its start; null for anything else. */
function pathIn(text: string): string | null {
  const plain = text
    .replace(/^['"]|['"]$/g, '')
    .replaceAll('\\', '/')
    .replace(/^(?:\.|\.{3}|…)\//u, '')
    .replace(/(?:::.*|:\d[\d:,–-]*|#L?\d.*)$/u, '')
  if (plain.length > 500 || /[\s*?{}<>|:"]/.test(plain)) return null
  if (/^(?:\/|~|\.\.\/)|(?:^|\/)\.\.(?:\/|$)|\/\//.test(plain)) return null
  if (withFolder.test(plain)) return plain
  if (withoutExtension.test(plain) || document.test(plain)) return plain
  return !plain.includes('/') && hasFileExtension(plain) ? plain : null
}

const commands =
  /^(?:bash|bun|cargo|cat|cd|cp|curl|deno|docker|dotnet|eslint|gh|git|go|import|java|jest|just|ls|make|mv|node|npm|npx|php|pip|pnpm|prettier|pytest|python3?|require|rm|ruby|run|see|sh|source|tsx?|uv|vitest|yarn|zsh)$/i

/** `my notes/a file.md`; not a command, an import, or a sentence that names files. */
function isSpacedName(text: string): boolean {
  const words = text.split(' ')
  const [first = ''] = words
  return (
    words.length > 1 &&
    words.length <= 6 &&
    !commands.test(first) &&
    words.every((word) => /^[\p{L}\p{M}\p{N}_/.+@()][\p{L}\p{M}\p{N}_/.+@()-]*$/u.test(word)) &&
    words.slice(0, -1).every((word) => pathIn(word) === null) &&
    pathIn(words.join('_')) !== null &&
    extensions.has(extensionOf(text))
  )
}

/** A file that a name without an extension may be: `README.md` of `README`. */
export function documentNames(path: string): readonly string[] {
  return document.test(path) ? ['', '.md', '.rst', '.txt', '.adoc'].map((end) => path + end) : [path]
}

export function isDocument(path: string): boolean {
  return document.test(path)
}

/** `docs/readme` of `docs/README.md`: how a report may name a document. */
export function documentOf(path: string): string {
  const name = path.replace(/\.[^/]*$/, '')
  return document.test(name.toUpperCase()) ? name : path
}

const extensions = new Set(
  (
    'ts tsx mts cts js jsx mjs cjs json jsonc json5 css scss sass less html htm vue svelte astro mdx md rst txt adoc ' +
    'py pyi ipynb toml cfg ini go mod sum rs java kt kts gradle groovy scala rb erb rake gemspec php phtml twig cs ' +
    'csproj fs vb sln c h cc cpp cxx hpp hh m mm swift dart ex exs erl hs ml lua pl pm r jl sh bash zsh fish ps1 bat ' +
    'yml yaml xml sql graphql gql proto prisma tf tfvars hcl nix dockerfile env lock csv tsv svg png snap conf ' +
    'properties tmpl hbs ejs pug liquid rego bicep cue zig nim sol vy cmake mk po pot plist xib storyboard'
  ).split(' '),
)

export function hasFileExtension(path: string): boolean {
  return extensions.has(extensionOf(path)) || withoutExtension.test(path) || document.test(path)
}

function extensionOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1).toLowerCase()
}

import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import cpp from 'highlight.js/lib/languages/cpp'
import csharp from 'highlight.js/lib/languages/csharp'
import css from 'highlight.js/lib/languages/css'
import dart from 'highlight.js/lib/languages/dart'
import dockerfile from 'highlight.js/lib/languages/dockerfile'
import elixir from 'highlight.js/lib/languages/elixir'
import go from 'highlight.js/lib/languages/go'
import haskell from 'highlight.js/lib/languages/haskell'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import kotlin from 'highlight.js/lib/languages/kotlin'
import lua from 'highlight.js/lib/languages/lua'
import makefile from 'highlight.js/lib/languages/makefile'
import markdown from 'highlight.js/lib/languages/markdown'
import perl from 'highlight.js/lib/languages/perl'
import php from 'highlight.js/lib/languages/php'
import python from 'highlight.js/lib/languages/python'
import r from 'highlight.js/lib/languages/r'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import scala from 'highlight.js/lib/languages/scala'
import scss from 'highlight.js/lib/languages/scss'
import sql from 'highlight.js/lib/languages/sql'
import swift from 'highlight.js/lib/languages/swift'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import type { ColorRange } from '../../geometry/line-parts.ts'

const languages = {
  bash,
  c,
  cpp,
  csharp,
  css,
  dart,
  dockerfile,
  elixir,
  go,
  haskell,
  ini,
  java,
  javascript,
  json,
  kotlin,
  lua,
  makefile,
  markdown,
  perl,
  php,
  python,
  r,
  ruby,
  rust,
  scala,
  scss,
  sql,
  swift,
  typescript,
  xml,
  yaml,
}

type Language = keyof typeof languages

const endings: Readonly<Record<string, Language>> = {
  bash: 'bash',
  sh: 'bash',
  zsh: 'bash',
  c: 'c',
  h: 'c',
  cc: 'cpp',
  cpp: 'cpp',
  cxx: 'cpp',
  hh: 'cpp',
  hpp: 'cpp',
  cs: 'csharp',
  css: 'css',
  dart: 'dart',
  dockerfile: 'dockerfile',
  ex: 'elixir',
  exs: 'elixir',
  go: 'go',
  hs: 'haskell',
  cfg: 'ini',
  conf: 'ini',
  ini: 'ini',
  toml: 'ini',
  java: 'java',
  cjs: 'javascript',
  js: 'javascript',
  jsx: 'javascript',
  mjs: 'javascript',
  json: 'json',
  jsonc: 'json',
  kt: 'kotlin',
  kts: 'kotlin',
  lua: 'lua',
  makefile: 'makefile',
  mk: 'makefile',
  markdown: 'markdown',
  md: 'markdown',
  mdx: 'markdown',
  pl: 'perl',
  pm: 'perl',
  php: 'php',
  py: 'python',
  pyi: 'python',
  r: 'r',
  rb: 'ruby',
  rake: 'ruby',
  gemfile: 'ruby',
  rs: 'rust',
  scala: 'scala',
  less: 'scss',
  scss: 'scss',
  sql: 'sql',
  swift: 'swift',
  cts: 'typescript',
  mts: 'typescript',
  ts: 'typescript',
  tsx: 'typescript',
  astro: 'xml',
  htm: 'xml',
  html: 'xml',
  svelte: 'xml',
  svg: 'xml',
  vue: 'xml',
  xml: 'xml',
  yaml: 'yaml',
  yml: 'yaml',
}

for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language)

/** The colours that are told apart, by what the highlighter calls them. */
const colours: Readonly<Record<string, string>> = {
  attr: 'name',
  attribute: 'name',
  built_in: 'type',
  bullet: 'keyword',
  char: 'string',
  code: 'string',
  comment: 'comment',
  doctag: 'comment',
  keyword: 'keyword',
  link: 'string',
  literal: 'number',
  meta: 'keyword',
  name: 'keyword',
  number: 'number',
  property: 'name',
  quote: 'comment',
  regexp: 'string',
  section: 'title',
  selector: 'keyword',
  'selector-attr': 'name',
  'selector-class': 'name',
  'selector-id': 'name',
  'selector-tag': 'keyword',
  string: 'string',
  symbol: 'number',
  'template-variable': 'name',
  title: 'title',
  type: 'type',
  variable: 'name',
}

/** Keeps what the highlighter finds as ranges: no markup is made. */
class Ranges {
  readonly found: ColorRange[] = []
  readonly scopes: string[] = []
  at = 0

  addText(text: string): void {
    const scope = this.scopes.findLast((name) => tokenColor(name) !== null)
    const colour = scope === undefined ? null : tokenColor(scope)
    if (colour !== null) this.found.push({ from: this.at, to: this.at + text.length, colour })
    this.at += text.length
  }
  startScope(name: string): void {
    this.scopes.push(name)
  }
  endScope(): void {
    this.scopes.pop()
  }
  openNode(name: string): void {
    this.scopes.push(name)
  }
  closeNode(): void {
    this.scopes.pop()
  }
  __addSublanguage(emitter: Ranges): void {
    for (const { from, to, colour } of emitter.found)
      this.found.push({ from: from + this.at, to: to + this.at, colour })
    this.at += emitter.at
  }
  finalize(): void {
    this.scopes.length = 0
  }
  toHTML(): string {
    return ''
  }
}

function tokenColor(scope: string): string | null {
  return colours[scope] ?? colours[scope.split('.')[0] ?? ''] ?? null
}

hljs.configure({ __emitter: Ranges })

/** The language of a path; null where it has none that is known. */
export function languageOf(path: string): Language | null {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const ending = name.slice(name.lastIndexOf('.') + 1)
  return (Object.hasOwn(endings, ending) && endings[ending]) || null
}

/** Longer texts, and texts with longer lines, stay as they are. */
const maxTextLength = 200_000
const maxLineLength = 2_000

/** The colours within each line of a text. Null where it has none. */
export function tokenColors(
  lines: readonly string[],
  language: Language,
): readonly (readonly ColorRange[])[] | null {
  const text = lines.join('\n')
  if (text.length > maxTextLength || lines.some(({ length }) => length > maxLineLength)) return null
  const { _emitter } = hljs.highlight(text, { language, ignoreIllegals: true })
  if (!(_emitter instanceof Ranges)) return null
  return groupByLine(_emitter.found, lines)
}

function groupByLine(
  found: readonly ColorRange[],
  lines: readonly string[],
): readonly (readonly ColorRange[])[] {
  const perLine: ColorRange[][] = lines.map(() => [])
  const starts: number[] = []
  let start = 0
  for (const { length } of lines) {
    starts.push(start)
    start += length + 1
  }
  let line = 0
  for (const { from, to, colour } of found) {
    while (line + 1 < starts.length && (starts[line + 1] ?? 0) <= from) line += 1
    for (let at = line; at < lines.length && (starts[at] ?? 0) < to; at += 1) {
      const [first, length] = [starts[at] ?? 0, lines[at]?.length ?? 0]
      const range = { from: Math.max(0, from - first), to: Math.min(length, to - first), colour }
      if (range.to > range.from) perLine[at]?.push(range)
    }
  }
  return perLine
}

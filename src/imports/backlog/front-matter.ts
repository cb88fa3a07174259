import { LineCounter, parseDocument } from 'yaml'

export interface FrontMatter {
  /** Every scalar is a text: `milestone: 1.0` and `id: 007` stay what was written. */
  readonly fields: unknown
  readonly body: string
}

export type FrontMatterResult =
  | { readonly readable: true; readonly value: FrontMatter }
  | { readonly readable: false; readonly problem: string }

/** Splits a Markdown file into the YAML between its first `---` lines and the rest. */
export function frontMatter(text: string): FrontMatterResult {
  const [, yaml, body = ''] =
    /^\ufeff?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n([\s\S]*))?$/m.exec(text) ?? []
  if (yaml === undefined)
    return { readable: false, problem: 'it has no front matter between two lines of ---' }
  const lineCounter = new LineCounter()
  const document = parseDocument(quotedNames(yaml), { lineCounter, prettyErrors: false, schema: 'failsafe' })
  const [error] = document.errors
  if (error) {
    const { line } = lineCounter.linePos(error.pos[0])
    return { readable: false, problem: `its front matter is not YAML: line ${line + 1}: ${error.message}` }
  }
  return { readable: true, value: { fields: document.toJS({ maxAliasCount: 100 }), body } }
}

/** `assignee: @ann` and `- @ann`, which Backlog.md writes and YAML forbids. */
function quotedNames(yaml: string): string {
  return yaml
    .split('\n')
    .map((line) =>
      /^\s*(?:(?:assignee|reporter):|- +@)/.test(line)
        ? line.replace(/(^|[\s[,])(@[^\s,\]"']+)/g, '$1"$2"')
        : line,
    )
    .join('\n')
}

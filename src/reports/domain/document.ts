/** A report before formatting: sections of entries. Texts of agents and people are never markup: they mention and link nothing. */

/** Plain text; `code` for paths, commands and ids; `strong` for the start of an entry. */
export type TextPart = string | { readonly code: string } | { readonly strong: string }

export interface ReportEntry {
  /** The data of the entry for programs. */
  readonly data: Readonly<Record<string, unknown>>
  readonly line: readonly TextPart[]
  readonly under: readonly (readonly TextPart[])[]
}

export interface ReportSection {
  /** Its key in JSON. */
  readonly key: string
  readonly title: string
  /** A sentence about the entries. */
  readonly about: string
  readonly entries: readonly ReportEntry[]
}

export interface ReportDocument {
  readonly title: string
  readonly data: Readonly<Record<string, unknown>>
  readonly lines: readonly (readonly TextPart[])[]
  readonly sections: readonly ReportSection[]
}

export const reportFormats = ['markdown', 'html', 'json'] as const
export type ReportFormat = (typeof reportFormats)[number]

/** A section that was cut. */
export interface TruncatedSection {
  readonly section: string
  readonly shown: number
  readonly total: number
}

export interface RenderedReport {
  readonly text: string
  readonly cut: readonly TruncatedSection[]
}

/** The size limit, and the command for the whole report. */
export interface SizeBudget {
  /** In characters. */
  readonly most: number
  readonly whole: string
}

/** Deterministic. Entries that do not fit are left out at the end of their section, with a note. */
export function writeReport(report: ReportDocument, format: ReportFormat, room: SizeBudget): RenderedReport {
  const writer = writers[format]
  const sections = report.sections.map((section) => ({
    section,
    written: section.entries.map((entry) => writer.entry(entry)),
  }))
  let maxLength = room.most
  for (;;) {
    const frame = writer.whole(report, [], room.whole).length
    const headings = sections.map(
      ({ section }) => writer.section(section, [], { shown: 0, room }).length + writer.between,
    )
    const remaining = maxLength - frame - headings.reduce((sum, length) => sum + length, 0)
    const counts = fitLengths(
      sections.map(({ written }) => written.map(({ length }) => length + writer.between)),
      remaining,
    )
    const cut = sections.flatMap(({ section, written }, at) => {
      const shownCount = counts[at] ?? 0
      return shownCount < written.length
        ? [{ section: section.key, shown: shownCount, total: written.length }]
        : []
    })
    const parts = sections.map(({ section, written }, at) => {
      const shownCount = counts[at] ?? 0
      return writer.section(section, written.slice(0, shownCount), { shown: shownCount, room })
    })
    const text = writer.whole(addCuts(report, cut, room), parts, room.whole)
    if (text.length <= room.most || counts.every((count) => count === 0)) return { text, cut }
    maxLength -= text.length - room.most
  }
}

function addCuts(
  report: ReportDocument,
  cut: readonly TruncatedSection[],
  { whole }: SizeBudget,
): ReportDocument {
  return { ...report, data: { ...report.data, cut, ...(cut.length > 0 && { whole }) } }
}

/** The number of entries of each list that fit: short lists whole, long ones in equal shares. */
function fitLengths(lists: readonly (readonly number[])[], room: number): readonly number[] {
  const neededLengths = lists.map((lengths) => lengths.reduce((sum, length) => sum + length, 0))
  const shares = new Map<number, number>()
  let remaining = Math.max(0, room)
  const order = neededLengths
    .map((need, at) => ({ need, at }))
    .toSorted((a, b) => a.need - b.need || a.at - b.at)
  for (const [done, { need, at }] of order.entries()) {
    const share = Math.min(need, Math.floor(remaining / (order.length - done)))
    shares.set(at, share)
    remaining -= share
  }
  return lists.map((lengths, at) => {
    let used = 0
    const share = shares.get(at) ?? 0
    const over = lengths.findIndex((length) => {
      used += length
      return used > share
    })
    return over === -1 ? lengths.length : over
  })
}

interface ReportWriter {
  readonly between: number
  entry(entry: ReportEntry): string
  section(
    section: ReportSection,
    entries: readonly string[],
    how: { readonly shown: number; readonly room: SizeBudget },
  ): string
  whole(report: ReportDocument, sections: readonly string[], whole: string): string
}

const markdown: ReportWriter = {
  between: 1,
  entry: ({ line, under }) =>
    [`- ${markdownLine(line)}`, ...under.map((parts) => `  - ${markdownLine(parts)}`)].join('\n'),
  section: ({ title, about, entries: all }, entries, { shown, room }) => {
    const omitted =
      shown < all.length
        ? [`- … ${omissionText(all.length - shown, all.length)} ${codeSpan(room.whole)} writes all of them.`]
        : []
    return [`## ${title}`, '', ...(about === '' ? [] : [`_${about}_`, '']), ...entries, ...omitted].join('\n')
  },
  whole: ({ title, lines }, sections) =>
    [`# ${markdownText(title)}`, ...lines.map((parts) => markdownLine(parts)), ...sections].join('\n\n'),
}

const html: ReportWriter = {
  between: 1,
  entry: ({ line, under }) => {
    const below = under.map((parts) => `<li>${htmlLine(parts)}</li>`).join('')
    return `<li>${htmlLine(line)}${below === '' ? '' : `<ul>${below}</ul>`}</li>`
  },
  section: ({ title, about, entries: all }, entries, { shown, room }) => {
    const omitted =
      shown < all.length
        ? [
            `<li class="cut">… ${omissionText(all.length - shown, all.length)} <code>${htmlText(room.whole)}</code> writes all of them.</li>`,
          ]
        : []
    const sentence = about === '' ? [] : [`<p class="about">${about}</p>`]
    return [
      `<section><h2>${title}</h2>`,
      ...sentence,
      '<ul>',
      ...entries,
      ...omitted,
      '</ul></section>',
    ].join('\n')
  },
  whole: ({ title, lines }, sections) =>
    [
      '<!doctype html>',
      '<html lang="en"><head><meta charset="utf-8">',
      `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
      '<meta name="viewport" content="width=device-width, initial-scale=1">',
      `<title>${htmlText(title)}</title>`,
      `<style>${css}</style></head><body>`,
      `<h1>${htmlText(title)}</h1>`,
      ...lines.map((parts) => `<p>${htmlLine(parts)}</p>`),
      ...sections,
      '</body></html>',
    ].join('\n'),
}

const css =
  ':root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}code{font-size:.9em}.about,.cut{opacity:.7}li{margin:.2rem 0}'

const json: ReportWriter = {
  between: 1,
  entry: ({ data }) => JSON.stringify(data),
  section: ({ key }, entries) => `${JSON.stringify(key)}:[${entries.join(',')}]`,
  whole: ({ data }, sections) => `{${[JSON.stringify(data).slice(1, -1), ...sections].join(',')}}`,
}

const writers = { markdown, html, json } as const satisfies Record<ReportFormat, ReportWriter>

function omissionText(omitted: number, total: number): string {
  return `${omitted} of ${total} ${omitted === 1 ? 'is' : 'are'} left out here:`
}

// Control characters, direction marks, and zero-width characters that could hide other text.
const steering = /[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(steering, '').trim().toWellFormed()
}

function markdownLine(parts: readonly TextPart[]): string {
  return parts
    .map((part, at) => {
      if (typeof part === 'string') return markdownText(part, { keepsEnds: true, leads: at === 0 })
      return 'code' in part ? codeSpan(part.code) : `**${markdownText(part.strong)}**`
    })
    .join('')
}

// Signs that start references: @name, #12, !12, %1, ^a, &1, ~label, $1, GH-12, an address. Code never does.
const reference = /[@#!%^~$&][\w"{]|\bGH-\d|:\/\/|\bwww\./i

/** Escapes text for Markdown, so that it has no markup, references or mentions on GitHub or GitLab. */
export function markdownText(
  text: string,
  { keepsEnds = false, leads = true }: { readonly keepsEnds?: boolean; readonly leads?: boolean } = {},
): string {
  const line = oneLine(text)
  if (line === '') return keepsEnds && text !== '' ? ' ' : ''
  const safe = line
    .split(/([ |])/)
    .map((word) => (reference.test(word) ? codeSpan(word) : escapeMarkdown(word)))
    .join('')
    // Starts of a list, a rule or a quick action.
    .replace(leads ? /^(\d*)([-+=/.)])/ : /(?!)/, '$1\\$2')
  if (!keepsEnds) return safe
  return `${/^\s/.test(text) ? ' ' : ''}${safe}${/\s$/.test(text) ? ' ' : ''}`
}

function escapeMarkdown(word: string): string {
  return word
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/[\\`*_[\]|~$#!@%^]/g, '\\$&')
}

/** Fenced with more backticks than it contains, so that nothing ends the fence early. */
function codeSpan(text: string): string {
  const line = oneLine(text)
  if (line === '') return ''
  const longestRun = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longestRun + 1)
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : ''
  return `${fence}${pad}${line}${pad}${fence}`
}

function htmlLine(parts: readonly TextPart[]): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return htmlText(part)
      return 'code' in part
        ? `<code>${htmlText(part.code)}</code>`
        : `<strong>${htmlText(part.strong)}</strong>`
    })
    .join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function htmlText(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(steering, '')
    .toWellFormed()
    .replace(/[&<>"']/g, (sign) => entities[sign] ?? sign)
}

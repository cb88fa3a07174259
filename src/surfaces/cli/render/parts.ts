import type { TextStyle } from '../terminal.ts'
import type { RenderContext } from './view.ts'

/** Joins non-empty blocks of text with empty lines. */
export function blocks(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n')
}

/** A heading with its content; empty without content. */
export function section(title: string, content: string, { ink }: RenderContext): string {
  return content === '' ? '' : `${ink('bold', title)}\n${content}`
}

export function indentText(text: string, by = 2): string {
  return text === '' ? '' : text.replace(/^(?=.)/gm, ' '.repeat(by))
}

export function bullets(texts: readonly string[]): string {
  return texts.map((text) => `- ${text.replace(/\n/g, '\n  ')}`).join('\n')
}

/** Names and values in columns, without empty values. */
export function pairs(rows: readonly (readonly [string, string])[], { ink }: RenderContext): string {
  const filled = rows.filter(([, value]) => value !== '')
  const widest = Math.max(0, ...filled.map(([name]) => name.length))
  return filled
    .map(
      ([name, value]) =>
        `${ink('dim', name.padEnd(widest))}  ${value.replace(/\n/g, `\n${' '.repeat(widest + 2)}`)}`,
    )
    .join('\n')
}

export function warnings(texts: readonly string[], { ink }: RenderContext): string {
  return texts.map((text) => `${ink('yellow', '!')} ${text}`).join('\n')
}

/** A note that a list is cut. */
export function cutNote(count: number, total: number, hint: string): string {
  return count >= total ? '' : `${count} of ${total} are shown; ${hint}`
}

const styles: Readonly<Record<string, TextStyle>> = {
  success: 'green',
  completed: 'green',
  succeeded: 'green',
  active: 'cyan',
  cancelled: 'yellow',
  timed_out: 'red',
  partial_success: 'yellow',
  partial: 'yellow',
  in_progress: 'cyan',
  open: 'cyan',
  blocked: 'red',
  failed: 'red',
  abandoned: 'red',
  dropped: 'dim',
}

/** A status in words: `IN_PROGRESS` is `in progress`. */
export function statusWord(status: string, { ink }: RenderContext): string {
  const plain = status.toLowerCase()
  const words = printedStatuses[plain] ?? plain.replace(/_/g, ' ')
  const style = styles[plain]
  return style === undefined ? words : ink(style, words)
}

/** One word for one status, whatever field it comes from. */
const printedStatuses: Readonly<Record<string, string>> = {
  success: 'done',
  completed: 'done',
  partial_success: 'partly done',
  partial: 'partly done',
  cancelled: 'canceled',
  // A mission with an open question or review, where no agent works.
  blocked: 'needs you',
}

import type { TextStyle } from '../terminal.ts'
import type { RenderContext } from './view.ts'

/** Blocks of text with an empty line between them; the empty ones are left out. */
export function blocks(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n')
}

/** A heading over its content; nothing where there is no content. */
export function section(title: string, content: string, { ink }: RenderContext): string {
  return content === '' ? '' : `${ink('bold', title)}\n${content}`
}

export function indentText(text: string, by = 2): string {
  return text === '' ? '' : text.replace(/^(?=.)/gm, ' '.repeat(by))
}

export function bullets(texts: readonly string[]): string {
  return texts.map((text) => `- ${text.replace(/\n/g, '\n  ')}`).join('\n')
}

/** Facts in a column: what is empty is left out. */
export function pairs(rows: readonly (readonly [string, string])[], { ink }: RenderContext): string {
  const shown = rows.filter(([, value]) => value !== '')
  const widest = Math.max(0, ...shown.map(([name]) => name.length))
  return shown
    .map(
      ([name, value]) =>
        `${ink('dim', name.padEnd(widest))}  ${value.replace(/\n/g, `\n${' '.repeat(widest + 2)}`)}`,
    )
    .join('\n')
}

export function warnings(texts: readonly string[], { ink }: RenderContext): string {
  return texts.map((text) => `${ink('yellow', '!')} ${text}`).join('\n')
}

/** How much of a list is not shown. */
export function cutNote(shown: number, total: number, way: string): string {
  return shown >= total ? '' : `${shown} of ${total} are shown; ${way}`
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

/** A status as words: `IN_PROGRESS` is `in progress`. */
export function statusWord(status: string, { ink }: RenderContext): string {
  const plain = status.toLowerCase()
  const words = plain.replace(/_/g, ' ')
  const style = styles[plain]
  return style === undefined ? words : ink(style, words)
}

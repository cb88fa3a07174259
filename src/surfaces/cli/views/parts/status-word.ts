import type { Style } from '../../terminal.ts'
import type { Page } from '../view.ts'

const styles: Readonly<Record<string, Style>> = {
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
export function statusWord(status: string, { ink }: Page): string {
  const plain = status.toLowerCase()
  const words = plain.replace(/_/g, ' ')
  const style = styles[plain]
  return style === undefined ? words : ink(style, words)
}

import { structuredPatch } from 'diff'
import { excerpt } from '../../kernel/text.ts'
import type { PlannedFile } from './plan-setup.ts'

/** A line of a preview. */
export interface PreviewLine {
  readonly kind: 'file' | 'place' | 'added' | 'removed' | 'same'
  readonly text: string
}

/** The maximum length of a line of the user's that stays. */
const widest = 200
/** The maximum of lines for a file that is wholly ours. */
const maxShown = 24

/**
 * Shows the changes with little context: other entries of a user's file may be private. What is written is never cut.
 * Cuts long files of ours unless `isWhole`.
 */
export function differences(
  files: readonly PlannedFile[],
  { isWhole }: { readonly isWhole: boolean },
): readonly PreviewLine[] {
  return files.filter(({ before, text }) => before !== text).flatMap((file) => differenceOf(file, isWhole))
}

function differenceOf({ file, before, text }: PlannedFile, isWhole: boolean): readonly PreviewLine[] {
  const isOurs = before === null || text === null
  const most = isWhole ? Number.POSITIVE_INFINITY : maxShown
  const happens = before === null ? ' (new)' : text === null ? ' (removed)' : ''
  const { hunks } = structuredPatch('', '', before ?? '', text ?? '', '', '', { context: 1 })
  const lines = hunks.flatMap((hunk) => [
    { kind: 'place' as const, text: `@@ line ${Math.max(1, hunk.newStart)} @@` },
    ...hunk.lines.map((raw) => {
      const line = raw.replace(/\r$/, '')
      const kind = kinds[line[0] ?? ''] ?? ('same' as const)
      return { kind, text: kind === 'same' ? excerpt(line, widest) : line }
    }),
  ])
  const more = lines.length - most
  const visibleLines = isOurs && more > 1 ? lines.slice(0, most) : lines
  const rest =
    visibleLines === lines
      ? []
      : [{ kind: 'place' as const, text: `… ${more} more lines: --dry-run shows all of them` }]
  return [{ kind: 'file', text: `${file}${happens}` }, ...visibleLines, ...rest]
}

const kinds: Readonly<Record<string, PreviewLine['kind']>> = { '+': 'added', '-': 'removed' }

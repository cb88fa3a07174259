import { useMemo } from 'preact/hooks'
import { formatCount } from '../../../src/kernel/text.ts'
import { plainParts, plainText } from '../../geometry/line-parts.ts'
import { useQuery } from '../../live/query.ts'
import { parseDiff } from '../../parts/parse-diff.ts'
import { href } from '../../router/location.ts'
import '../../parts/diff.css'

const maxLines = 8
const maxLineLength = 200

export interface FirstHunkWork {
  readonly task: string
  /** Only this attempt; null for the whole task. */
  readonly attempt: string | null
  /** Only a file of these; null for any. */
  readonly paths: readonly string[] | null
  /** How many files the item is about; the diff may also have files of others. */
  readonly total: number
}

/** The first lines that a task or an attempt changed, and the way to the rest. */
export function FirstHunk({ task, attempt, paths, total }: FirstHunkWork) {
  const { answer } = useQuery('diff', { id: attempt ?? task }, { once: true })
  const text = answer.value?.diff
  const files = useMemo(() => (text === undefined ? [] : parseDiff(text)), [text])
  const file = files.find(({ path, hunks }) => hunks.length > 0 && (paths?.includes(path) ?? true))
  const hunk = file?.hunks[0]
  if (!file || !hunk) return null
  const begins = hunk.lines.findIndex(({ kind }) => kind === 'added' || kind === 'deleted')
  const lines = hunk.lines.slice(Math.max(0, begins - 1), Math.max(0, begins - 1) + maxLines)
  return (
    <figure class="first-hunk" dir="ltr">
      <figcaption>
        <a class="mono" href={href(linkOf({ task, attempt }, file.path))}>
          {plainText(file.path)}
        </a>
        {total > 1 ? <span class="muted">and {formatCount(total - 1, 'more file')}</span> : null}
      </figcaption>
      <div class="diff">
        {lines.map((line, at) => (
          <div class="diff-line" data-kind={line.kind} key={at}>
            <span class="diff-sign">{signs[line.kind]}</span>
            <span class="diff-text">
              {plainParts(line.text.slice(0, maxLineLength)).map((part) => part.text)}
              {line.text.length > maxLineLength ? '…' : ''}
            </span>
          </div>
        ))}
      </div>
    </figure>
  )
}

function linkOf({ task, attempt }: Pick<FirstHunkWork, 'task' | 'attempt'>, path: string): string {
  return attempt === null
    ? `/review/task/${task}?file=${encodeURIComponent(path)}`
    : `/tasks/${task}/diff?attempt=${attempt}`
}

const signs = { same: ' ', added: '+', deleted: '−', note: ' ' } as const

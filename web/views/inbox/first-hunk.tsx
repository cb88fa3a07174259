import { useMemo } from 'preact/hooks'
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
}

/** The first lines that a task or an attempt changed, and the way to the rest. */
export function FirstHunk({ task, attempt }: FirstHunkWork) {
  const { answer } = useQuery('diff', { id: attempt ?? task }, { once: true })
  const text = answer.value?.diff
  const files = useMemo(() => (text === undefined ? [] : parseDiff(text)), [text])
  const file = files.find(({ hunks }) => hunks.length > 0)
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
        {files.length > 1 ? (
          <span class="muted">
            and {files.length - 1} more {files.length === 2 ? 'file' : 'files'}
          </span>
        ) : null}
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

function linkOf({ task, attempt }: FirstHunkWork, path: string): string {
  return attempt === null
    ? `/review/task/${task}?file=${encodeURIComponent(path)}`
    : `/tasks/${task}/diff?attempt=${attempt}`
}

const signs = { same: ' ', added: '+', deleted: '−', note: ' ' } as const

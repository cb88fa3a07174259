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
  /** How many files the item is about. */
  readonly total: number
}

/** The first lines that a task or an attempt changed, and the way to the rest. */
export function FirstHunk(work: FirstHunkWork) {
  const [path] = work.paths ?? []
  return path === undefined ? <FirstMeasuredHunk {...work} /> : <FileHunk {...work} path={path} />
}

/** A shared work tree also has changes of others: a file that is certainly this work's is shown before one that is counted as its. */
function FirstMeasuredHunk(work: FirstHunkWork) {
  const { answer } = useQuery('changes', { id: work.attempt ?? work.task, limit: 20 }, { once: true })
  const changes = answer.value?.changes ?? []
  const change = changes.find(({ attribution }) => attribution === 'certain') ?? changes[0]
  return change ? <FileHunk {...work} path={change.path} /> : null
}

function FileHunk({ task, attempt, path, total }: FirstHunkWork & { readonly path: string }) {
  const { answer } = useQuery('diff', { id: attempt ?? task, path }, { once: true })
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

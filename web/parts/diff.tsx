import { useMemo } from 'preact/hooks'
import { formatCount } from '../../src/kernel/text.ts'
import { errorText } from '../api/call.ts'
import { useQuery } from '../live/query.ts'
import { Skeleton } from './empty-state.tsx'
import { linesOf } from './line-links.ts'
import { type FileDiff, parseDiff } from './parse-diff.ts'
import './diff.css'

/** The diff of one file, or of all files. It is read once, when it opens. */
export function InlineDiff({ attempt, path }: { readonly attempt: string; readonly path?: string }) {
  return (
    <QueryDiff query={useQuery('diff', { id: attempt, ...(path !== undefined && { path }) })} path={path} />
  )
}

/** The diff of a turn of a recorded session. */
export function TurnDiff({ turn, path }: { readonly turn: string; readonly path?: string }) {
  const query = useQuery('sessions_diff', { id: turn, ...(path !== undefined && { path }) })
  return <QueryDiff query={query} path={path} />
}

interface QueryDiffProps {
  readonly query: Pick<ReturnType<typeof useQuery<'diff' | 'sessions_diff'>>, 'answer' | 'failure'>
  readonly path: string | undefined
}

function QueryDiff({ query: { answer, failure }, path }: QueryDiffProps) {
  const text = answer.value?.diff
  if (failure.value !== null) return <p class="muted diff-note">{errorText(failure.value)}</p>
  if (text === undefined) return <Skeleton />
  return (
    <>
      <DiffText text={text} path={path} />
      {answer.value?.truncated ? (
        <p class="muted diff-note">
          {answer.value.left_out_total === undefined
            ? 'The rest is too long to show.'
            : `${formatCount(answer.value.left_out_total, 'file')} without lines: too long to show.`}
        </p>
      ) : null}
    </>
  )
}

/** A unified diff, by its files; of one file if its path is given. */
export function DiffText({ text, path }: { readonly text: string; readonly path?: string | undefined }) {
  const files = useMemo(() => parseDiff(text), [text])
  if (files.length === 0) return <p class="muted diff-note">No lines changed.</p>
  return (
    <>
      {files.map((file) => (
        <section key={file.path}>
          {path === undefined ? (
            <h2 class="diff-file mono">
              {file.path} <LineHistoryLink file={file} />
            </h2>
          ) : (
            <p class="diff-history">
              <LineHistoryLink file={file} />
            </p>
          )}
          <Diff file={file} />
        </section>
      ))}
    </>
  )
}

/** A link to the line history of the file. */
function LineHistoryLink({ file: { path, hunks, notes } }: { readonly file: FileDiff }) {
  if (hunks.length === 0 || notes.some((note) => note.startsWith('deleted file'))) return null
  return (
    <a class="link diff-link" href={linesOf(path)} aria-label={`Line history of ${path}`}>
      Line history
    </a>
  )
}

/** The lines of one file. */
function Diff({ file }: { readonly file: FileDiff }) {
  const { hunks, notes } = file
  return (
    <section class="diff" aria-label={`Changes of ${file.path}`}>
      {notes.length > 0 && hunks.length === 0 ? <p class="muted diff-note">{notes.join(' · ')}</p> : null}
      {hunks.map((hunk) => (
        <div
          key={hunk.header}
          class="hunk"
          style={{ containIntrinsicSize: `auto ${20 * (hunk.lines.length + 1)}px` }}
        >
          <p class="hunk-head">{hunk.header}</p>
          {hunk.lines.map((line, at) => (
            <div key={at} class="diff-line" data-kind={line.kind}>
              <span class="diff-number">{line.old ?? ''}</span>
              {line.new === null ? (
                <span class="diff-number" />
              ) : (
                <a
                  class="diff-number"
                  href={linesOf(file.path, { line: line.new, text: line.text })}
                  tabIndex={-1}
                  title="Show who wrote the line, and why"
                >
                  {line.new}
                </a>
              )}
              <span class="diff-sign">{signs[line.kind]}</span>
              <span class="diff-text">{line.text}</span>
            </div>
          ))}
        </div>
      ))}
    </section>
  )
}

const signs = { same: ' ', added: '+', deleted: '−', note: '' } as const

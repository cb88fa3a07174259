import { useMemo } from 'preact/hooks'
import { formatCount } from '../../src/kernel/text.ts'
import { errorText } from '../api/call.ts'
import { useQuery } from '../live/query.ts'
import { linesOf } from './line-links.ts'
import { type FileDiff, parseDiff } from './parse-diff.ts'
import './diff.css'

/** The lines of one file, or of all where none is named. Read when it is opened, not with every log entry. */
export function InlineDiff({ attempt, path }: { readonly attempt: string; readonly path?: string }) {
  return (
    <QueryDiff asked={useQuery('diff', { id: attempt, ...(path !== undefined && { path }) })} path={path} />
  )
}

/** The same of a turn of a captured session. */
export function TurnDiff({ turn, path }: { readonly turn: string; readonly path?: string }) {
  const asked = useQuery('sessions_diff', { id: turn, ...(path !== undefined && { path }) })
  return <QueryDiff asked={asked} path={path} />
}

interface QueryDiffProps {
  readonly asked: Pick<ReturnType<typeof useQuery<'diff' | 'sessions_diff'>>, 'answer' | 'failure'>
  readonly path: string | undefined
}

function QueryDiff({ asked: { answer, failure }, path }: QueryDiffProps) {
  const text = answer.value?.diff
  const files = useMemo(() => (text === undefined ? null : parseDiff(text)), [text])
  if (failure.value !== null) return <p class="muted diff-note">{errorText(failure.value)}</p>
  if (files === null) return <p class="muted diff-note">Reading…</p>
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
            <p class="diff-whose">
              <LineHistoryLink file={file} />
            </p>
          )}
          <Diff file={file} />
        </section>
      ))}
      {answer.value?.truncated ? (
        <p class="muted diff-note">
          {answer.value.left_out_total === undefined
            ? 'The rest is left out: it is too long to be kept or shown.'
            : `Not everything is shown: ${formatCount(answer.value.left_out_total, 'file')} without lines.`}
        </p>
      ) : null}
    </>
  )
}

/** The way from a change to who each line of the file is from, as it is now. */
function LineHistoryLink({ file: { path, notes } }: { readonly file: FileDiff }) {
  if (notes.some((note) => /^(deleted file|Binary files|Secret file|Left out|GIT binary)/.test(note)))
    return null
  return (
    <a class="link diff-link" href={linesOf(path)} aria-label={`Whose lines are in ${path}`}>
      Whose lines
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
                  title="Whose line it is, and why"
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

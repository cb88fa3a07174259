import { useEffect, useMemo, useRef } from 'preact/hooks'
import { errorText } from '../../api/call.ts'
import type { BlameData } from '../../api/entities.ts'
import { plainText } from '../../geometry/line-parts.ts'
import { lineOwnerLabel, lineWithText, makersOf, storyAtLine } from '../../geometry/line-ranges.ts'
import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { Skeleton } from '../../parts/empty-state.tsx'
import { CopyButton } from '../../parts/text.tsx'
import { crumb } from '../../router/current.ts'
import { href, navigate, query, setQuery } from '../../router/location.ts'
import { Maker } from './author.tsx'
import { FileForm } from './file-form.tsx'
import { SourceLines } from './lines.tsx'
import { Why } from './why.tsx'
import './lines.css'

/** A file with the author of each line, and the history of the selected line. */
export function View() {
  const file = query.value.get('file') ?? ''
  const rev = query.value.get('rev') ?? ''
  useEffect(() => {
    if (file !== '') crumb.value = [{ text: 'Line history', href: href('/lines') }, { text: plainText(file) }]
  }, [file])
  if (file === '') {
    return (
      <div class="page-inner">
        <h1>Line history</h1>
        <p class="lines-what">Shows who wrote each line of a file, for which task, and why.</p>
        <FileForm />
        <p class="muted lines-what">
          Changed files in reviews, tasks and missions link to their line history. In a terminal, use{' '}
          <code>waymark blame</code>.
        </p>
      </div>
    )
  }
  return <FileBlame key={`${file}\n${rev}`} file={file} rev={rev} />
}

interface BlameQueryProps {
  readonly file: string
  /** Empty for the file on disk. */
  readonly rev: string
}

/** The path from the top of the work tree, wherever the server was started. */
function pathFromTop(file: string): string {
  return /^(:\/|\/|[a-z]:[\\/])/i.test(file) ? file : `:/${file}`
}

function FileBlame({ file, rev }: BlameQueryProps) {
  const { answer, failure, refresh } = useQuery('blame', {
    file: pathFromTop(file),
    ...(rev !== '' && { rev }),
  })
  const blame = answer.value
  if (blame === null) {
    if (failure.value === null) return <Skeleton title={plainText(file)} rows={12} />
    return (
      <div class="page-inner">
        <h1>No line history for this file</h1>
        <p class="mono lines-path">{plainText(file)}</p>
        <p role="alert">{errorText(failure.value)}</p>
        <FileForm />
        <p>
          <a class="link" href={href('/review')}>
            Review all new changes
          </a>
        </p>
      </div>
    )
  }
  return <BlameView file={file} rev={rev} blame={blame} refresh={refresh} />
}

interface LinesViewProps extends BlameQueryProps {
  readonly blame: BlameData
  readonly refresh: () => void
}

function BlameView({ file, rev, blame, refresh }: LinesViewProps) {
  const { ranges, lines, text, notes } = blame
  const makers = useMemo(() => makersOf(ranges), [ranges])
  const line = useLine(blame)
  const place = line === null ? null : { path: blame.path, rev, line }
  const story = line === null ? undefined : storyAtLine(ranges, line)
  const go = (to: number | undefined) => {
    if (to !== undefined && lines > 0)
      setQuery({ line: String(Math.min(Math.max(to, 1), lines)), text: null })
  }
  const stepStory = (by: 1 | -1) => () => {
    if (line === null) return go(1)
    // Up goes to the start of the range first, as a jump between paragraphs does.
    const start = story?.start ?? 1
    go(by === 1 ? (story?.end ?? 0) + 1 : start < line ? start : storyAtLine(ranges, start - 1)?.start)
  }
  useCommands({
    next: () => go((line ?? 0) + 1),
    previous: () => go((line ?? lines + 1) - 1),
    'next change': stepStory(1),
    'previous change': stepStory(-1),
    open: () => story?.task && navigate(href(`/tasks/${story.task}`)),
    'copy id': () => void navigator.clipboard.writeText(line === null ? blame.path : `${blame.path}:${line}`),
    close: () => setQuery({ line: null, text: null }),
  })
  const gone = line === null && query.value.get('text') !== null
  return (
    <div class="lines-view" {...(place !== null && { 'data-chosen': '' })}>
      <header class="lines-head">
        <div class="lines-title">
          <h1 class="mono lines-path">
            <bdi dir="ltr">{plainText(blame.path)}</bdi>
          </h1>
          <span class="muted">
            {lines.toLocaleString('en')} {lines === 1 ? 'line' : 'lines'},{' '}
            {blame.commit === null ? 'on disk' : `at commit ${blame.commit.slice(0, 8)}`}
          </span>
          {blame.commit === null ? null : (
            <a class="link" href={href(`/lines?file=${encodeURIComponent(file)}`)}>
              Show the current version
            </a>
          )}
          <CopyButton text={blame.path} label="Copy path" />
        </div>
        {notes.map((note) => (
          <p key={note} class="lines-note">
            {note}
          </p>
        ))}
        {gone ? <p class="lines-note">That line is no longer in the file.</p> : null}
        {makers.length === 0 ? null : (
          <ul class="lines-makers" aria-label="Authors">
            {makers.slice(0, maxMakers).map(({ story: one, lines: count }) => (
              <li key={lineOwnerLabel(one).key}>
                <button
                  type="button"
                  class="maker-button"
                  title={`Go to the first line, ${one.start}`}
                  onClick={() => go(one.start)}
                >
                  <Maker story={one} /> <span class="muted">{count.toLocaleString('en')}</span>
                </button>
              </li>
            ))}
            {makers.length > maxMakers ? <li class="muted">and {makers.length - maxMakers} more</li> : null}
          </ul>
        )}
      </header>
      {lines === 0 ? (
        notes.length === 0 ? (
          <p class="lines-note lines-empty">The file is empty.</p>
        ) : null
      ) : (
        <SourceLines
          path={blame.path}
          rev={rev}
          ranges={ranges}
          total={lines}
          text={text}
          line={line}
          choose={go}
        />
      )}
      {place === null || story === undefined ? null : (
        <Why place={place} story={story} text={text?.[place.line - 1]} refresh={refresh} />
      )}
    </div>
  )
}

const maxMakers = 8

/** The selected line. An address may name it by its text: then it is found where it is now. */
function useLine({ lines, text }: BlameData): number | null {
  const number = Number(query.value.get('line') ?? 0)
  const wanted = query.value.get('text')
  const isLine = Number.isInteger(number) && number >= 1 && number <= lines
  const blame =
    wanted === null || text === undefined ? (isLine ? number : null) : lineWithText(text, wanted, number)
  // The selection follows its line when the file changes.
  const last = useRef({ text, line: blame })
  useEffect(() => {
    const before = last.current
    const chosen = before.line === null ? undefined : before.text?.[before.line - 1]
    last.current = { text, line: blame }
    if (before.text === text || text === undefined || blame === null || blame !== before.line) return
    if (chosen === undefined || chosen.trim() === '' || text[blame - 1] === chosen) return
    const now = lineWithText(text, chosen, blame)
    if (now !== null) setQuery({ line: String(now) })
  }, [text, blame])
  // Once found, the line number replaces the text.
  const was = useRef<string | null>(null)
  useEffect(() => {
    if (wanted === null || blame === null || was.current === wanted) return
    was.current = wanted
    setQuery({ line: String(blame), text: null })
  }, [wanted, blame])
  return blame
}

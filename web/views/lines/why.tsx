import { useEffect, useState } from 'preact/hooks'
import { errorText } from '../../api/call.ts'
import type { BlameData, LineWhy } from '../../api/entities.ts'
import { plainText } from '../../geometry/line-parts.ts'
import { useQuery } from '../../live/query.ts'
import { Agent } from '../../parts/agent.tsx'
import { Skeleton } from '../../parts/empty-state.tsx'
import { ClaimQuote } from '../../parts/evidence.tsx'
import { Prose, shortId } from '../../parts/text.tsx'
import { Since } from '../../parts/time.tsx'
import { href, setQuery } from '../../router/location.ts'
import { Maker } from './author.tsx'

interface LineAddress {
  readonly path: string
  /** Empty for the file on disk. */
  readonly rev: string
  readonly line: number
}

interface WhyProps {
  readonly place: LineAddress
  readonly story: BlameData['ranges'][number]
  readonly text: string | undefined
  /** Reads the file again. */
  readonly refresh: () => void
}

/** The delay before the history of a line loads: keys pass over many lines. */
const settleMs = 120

/** The history of a line. Its author shows at once; the rest loads when the selection stays. */
export function Why({ place, story, text, refresh }: WhyProps) {
  const settled = useSettled(place)
  const { line } = place
  return (
    <aside class="why" aria-label={`History of line ${line}`}>
      <header class="why-head">
        <h2>Line {line}</h2>
        <button
          type="button"
          class="button"
          data-kind="plain"
          onClick={() => setQuery({ line: null, text: null })}
        >
          Close
        </button>
      </header>
      {text === undefined || text.trim() === '' ? null : (
        <code class="why-line">{plainText(text.trim().slice(0, 300))}</code>
      )}
      <Maker story={story} />
      {settled.line === line ? (
        <LineReason key={`${settled.rev} ${line}`} place={settled} text={text} refresh={refresh} />
      ) : null}
    </aside>
  )
}

function useSettled(place: LineAddress): LineAddress {
  const [settled, setSettled] = useState(place)
  const { path, rev, line } = place
  useEffect(() => {
    const timer = setTimeout(() => setSettled({ path, rev, line }), settleMs)
    return () => clearTimeout(timer)
  }, [path, rev, line])
  return settled
}

function LineReason({ place: { path, rev, line }, text, refresh }: Omit<WhyProps, 'story'>) {
  const { answer, failure } = useQuery('why', { location: `:/${path}:${line}`, ...(rev !== '' && { rev }) })
  const why = answer.value
  if (failure.value !== null) return <p role="alert">{errorText(failure.value)}</p>
  if (why === null) return <Skeleton rows={3} />
  const isOther =
    text !== undefined && why.text !== undefined && !text.trim().startsWith(why.text.slice(0, 150))
  if (isOther) {
    return (
      <p role="alert">
        The file has changed since it was loaded.{' '}
        <button type="button" class="button" onClick={refresh}>
          Load it again
        </button>
      </p>
    )
  }
  return <LineStory why={why} path={path} />
}

function LineStory({ why, path }: { readonly why: LineWhy; readonly path: string }) {
  const { says, authors, turn, decisions, items, later, commit, notes } = why
  return (
    <div class="why-history">
      <p>{says}</p>
      {authors.map((maker) => (
        <LineMakerCard key={maker.attempt_id} maker={maker} />
      ))}
      {turn === undefined ? null : <InSession turn={turn} />}
      {why.comments.length === 0 ? null : (
        <section>
          <h3>Review comments</h3>
          {why.comments.map(({ comment_id, line, quoted, text, author, status, replies }) => (
            <div key={comment_id} class="why-decision">
              <p>
                <b>{plainText(author)}</b>{' '}
                {line === null
                  ? quoted === null
                    ? 'on the file'
                    : `on “${plainText(quoted)}”`
                  : `on line ${line}`}
                , {status}: <Prose text={text} />
              </p>
              {replies.map((reply, at) => (
                <p key={at} class="muted">
                  {plainText(reply.author)}: <Prose text={reply.text} />
                </p>
              ))}
            </div>
          ))}
        </section>
      )}
      {decisions.length === 0 ? null : (
        <section>
          <h3>Decisions</h3>
          {decisions.map(({ id, question, chosen, reasoning, options_considered }) => (
            <div key={id} class="why-decision">
              <p>
                <Prose text={question} /> <b>{chosen}</b>
              </p>
              <p class="muted">
                <Prose text={reasoning} />
              </p>
              {options_considered.some((option) => option !== chosen) ? (
                <p class="muted">
                  Instead of: {options_considered.filter((option) => option !== chosen).join(', ')}
                </p>
              ) : null}
            </div>
          ))}
        </section>
      )}
      {items.length === 0 ? null : (
        <section>
          <h3>Inbox items</h3>
          {items.map(({ id, kind, status, reason, answer, author }) => (
            <p key={id}>
              <b>
                {kind}, {status}
                {author === null ? '' : ` by ${author}`}
              </b>{' '}
              <span class="muted">
                <Prose text={answer ?? reason} />
              </span>
            </p>
          ))}
        </section>
      )}
      {later.length === 0 ? null : (
        <section>
          <h3>Later changes</h3>
          {later.map(({ what, task }, at) => (
            <p key={at}>
              {what === 'moved' ? 'Moved' : 'Reformatted'} by{' '}
              {task === null ? 'a person or an unrecorded tool' : task}
            </p>
          ))}
        </section>
      )}
      {commit === null ? null : <InCommit commit={commit} path={path} />}
      {notes.map((note) => (
        <p key={note} class="muted">
          {note}
        </p>
      ))}
    </div>
  )
}

function Model({ name }: { readonly name: string | null }) {
  if (name === null) return null
  return (
    <>
      <dt>Model</dt>
      <dd class="mono">{plainText(name)}</dd>
    </>
  )
}

function InSession({ turn }: { readonly turn: NonNullable<LineWhy['turn']> }) {
  const { session_id, agent, model, prompt } = turn
  return (
    <section class="why-maker">
      <h3>
        <Agent name={agent} />
      </h3>
      <dl>
        <dt>Session</dt>
        <dd>
          <a class="link" href={href(`/history?of=sessions&session=${session_id}`)}>
            Recorded session
          </a>{' '}
          <span class="id">{shortId(session_id)}</span>
        </dd>
        <Model name={model} />
        {prompt === null ? null : (
          <>
            <dt>Prompt</dt>
            <dd>
              <Prose text={prompt} />
            </dd>
          </>
        )}
      </dl>
    </section>
  )
}

function LineMakerCard({ maker }: { readonly maker: LineWhy['authors'][number] }) {
  const { task_id, task, goal, mission_id, mission, agent, status, started_at, summary } = maker
  const { measurement, tests, commands, commits, model } = maker
  return (
    <section class="why-maker">
      <h3>
        <Agent name={agent} />
      </h3>
      <dl>
        <dt>Task</dt>
        <dd>
          <a class="link" href={href(`/tasks/${task_id}`)}>
            {task}
          </a>{' '}
          <span class="id">{shortId(task_id)}</span>
        </dd>
        <Model name={model} />
        {goal === null || goal === task ? null : (
          <>
            <dt>Goal</dt>
            <dd>
              <Prose text={goal} />
            </dd>
          </>
        )}
        {mission_id === null ? null : (
          <>
            <dt>Mission</dt>
            <dd>
              <a class="link" href={href(`/missions/${mission_id}`)}>
                {mission ?? mission_id}
              </a>
            </dd>
          </>
        )}
        <dt>Attempt</dt>
        <dd>
          {status}, started <Since at={started_at} /> ago <span class="id">{shortId(maker.attempt_id)}</span>
        </dd>
        {measurement === null ? null : (
          <>
            <dt>Measured</dt>
            <dd>{measurement}</dd>
          </>
        )}
        {commits.length === 0 ? null : (
          <>
            <dt>Commits</dt>
            <dd>
              {commits.map(({ id, subject }) => (
                <span key={id} class="why-commit">
                  <span class="id">{id.slice(0, 8)}</span> {subject}
                </span>
              ))}
            </dd>
          </>
        )}
      </dl>
      {summary === null && tests === null && commands.length === 0 ? null : (
        <ClaimQuote author={maker.claimed_by ?? agent}>
          {summary === null ? null : <Prose text={summary} />}
          {tests === null ? null : ` Tests: ${tests}.`}
          {commands.length === 0 ? null : <span class="mono"> {commands.join(' · ')}</span>}
        </ClaimQuote>
      )}
    </section>
  )
}

function InCommit({
  commit,
  path,
}: {
  readonly commit: NonNullable<LineWhy['commit']>
  readonly path: string
}) {
  const { id, summary, author, authored_at: authoredAt } = commit
  const file = encodeURIComponent(path)
  return (
    <section>
      <h3>Commit</h3>
      <p>
        <span class="id">{id.slice(0, 8)}</span> {plainText(summary)}
      </p>
      <p class="muted">
        {plainText(author)}, <Since at={authoredAt} /> ago
      </p>
      <p class="why-links">
        <a class="link" href={href(`/lines?file=${file}&rev=${id}`)}>
          File at this commit
        </a>
        <a class="link" href={href(`/lines?file=${file}&rev=${id}%5E`)}>
          File before it
        </a>
      </p>
    </section>
  )
}

import { formatCount } from '../../../src/kernel/text.ts'
import { namesWithMore } from '../../../src/track/domain/changes.ts'
import type { SessionData, TurnData } from '../../api/entities.ts'
import { useQuery } from '../../live/query.ts'
import { Agent } from '../../parts/agent.tsx'
import { TurnDiff } from '../../parts/diff.tsx'
import { EmptyState, Pending } from '../../parts/empty-state.tsx'
import { PlusMinus } from '../../parts/evidence.tsx'
import { useDrawnRows } from '../../parts/list.tsx'
import { TerminalCommand } from '../../parts/terminal-command.tsx'
import { CopyButton, shortId } from '../../parts/text.tsx'
import { TimeOfDay } from '../../parts/time.tsx'
import { query, setQuery } from '../../router/location.ts'
import './sessions.css'
import { attributionWords } from '../../geometry/line-ranges.ts'

/** The sessions that the clients' hooks recorded, newest first; one opens to its turns. */
export function SessionList() {
  const listed = useQuery('sessions', { limit: 200 })
  const answer = listed.answer.value
  if (answer === null) return <Pending failure={listed.failure} />
  if (answer.sessions.length === 0) {
    return (
      <EmptyState title="Sessions appear here when a client's hooks record them. Turn recording on:">
        <TerminalCommand words="init --hooks" />
      </EmptyState>
    )
  }
  return <Sessions sessions={answer.sessions} />
}

function Sessions({ sessions }: { readonly sessions: readonly SessionData[] }) {
  const open = query.value.get('session')
  const at = sessions.findIndex(({ session_id }) => session_id === open)
  const { drawn, end } = useDrawnRows(sessions, at)
  return (
    <ul class="session-list" aria-label="Sessions">
      {open !== null && at === -1 ? (
        <li class="muted">No session {open}. All recorded sessions are listed here.</li>
      ) : null}
      {drawn.map((session) => (
        <SessionRow key={session.session_id} session={session} isOpen={session.session_id === open} />
      ))}
      {end}
    </ul>
  )
}

function SessionRow({ session, isOpen }: { readonly session: SessionData; readonly isOpen: boolean }) {
  const { session_id: id, client, model, status, open_turns, turns, files, lost, started_at } = session
  const toggle = () => setQuery({ session: isOpen ? null : id, turn: null })
  return (
    <li data-open={isOpen ? '' : undefined}>
      <button type="button" class="session-row" aria-expanded={isOpen} onClick={toggle}>
        <Agent name={client} />
        <span class="cut wide muted">{model ?? ''}</span>
        {lost > 0 ? <span class="session-lost">{formatCount(lost, 'event')} lost</span> : null}
        <span class="session-state muted">
          {status === 'closed' ? 'ended' : open_turns > 0 ? <b>working</b> : 'open'}
        </span>
        <span class="muted session-count">
          {formatCount(turns, 'turn')}, {formatCount(files, 'file')}
        </span>
        <PlusMinus {...session} />
        <span class="muted">
          <TimeOfDay at={started_at} />
        </span>
        <span class="id">{shortId(id)}</span>
      </button>
      {isOpen ? <Turns id={id} /> : null}
    </li>
  )
}

function Turns({ id }: { readonly id: string }) {
  const shown = useQuery('sessions_show', { id, limit: 200 })
  const answer = shown.answer.value
  if (answer === null) return <Pending failure={shown.failure} />
  const open = query.value.get('turn')
  return (
    <div class="turns">
      <p class="muted turns-note">
        Measured between snapshots. No agent claimed an outcome.{' '}
        {answer.hidden > 0
          ? `${formatCount(answer.hidden, 'turn')} changed nothing and ${answer.hidden === 1 ? 'is' : 'are'} left out.`
          : ''}
      </p>
      <ol>
        {answer.turns.map((turn) => (
          <TurnRow key={turn.turn_id} turn={turn} isOpen={turn.turn_id === open} />
        ))}
      </ol>
    </div>
  )
}

function TurnRow({ turn, isOpen }: { readonly turn: TurnData; readonly isOpen: boolean }) {
  const { turn_id: id, number, agent, model, status, measurement, started_at, tokens, error, note } = turn
  const used = [tokens?.input, tokens?.output].every((one) => typeof one === 'number')
  return (
    <li class="turn" data-status={status} data-part={turn.parent_turn_id === null ? undefined : ''}>
      <header>
        <b>Turn {number}</b>
        <span class="cut muted">
          {agent}
          {model === null ? '' : `, ${model}`}
        </span>
        <span class="muted wide">{measurementText(turn)}</span>
        {used ? (
          <span class="muted" title="As reported by the client">
            {tokens?.input} + {tokens?.output} tokens
          </span>
        ) : null}
        {measurement === null ? null : <PlusMinus {...turn} />}
        <span class="muted">
          <TimeOfDay at={started_at} />
        </span>
        <CopyButton text={id} label="Copy id" />
        {turn.changes.length === 0 ? null : (
          <button
            type="button"
            class="button"
            data-kind="plain"
            aria-expanded={isOpen}
            onClick={() => setQuery({ turn: isOpen ? null : id })}
          >
            {isOpen ? 'Hide lines' : 'Show lines'}
          </button>
        )}
      </header>
      {turn.prompt === null ? null : <p class="turn-prompt">{turn.prompt}</p>}
      {error === null ? null : <p class="turn-error">{error}</p>}
      {note === null ? null : <p class="muted">{note}</p>}
      {turn.changes.length === 0 ? null : (
        <ul class="turn-files">
          {turn.changes.map((change) => (
            <li key={change.path}>
              <span class="mono cut wide">
                {change.path}
                {change.from === undefined ? null : <span class="muted"> from {change.from}</span>}
              </span>
              {change.attribution === 'certain' ? null : (
                <span class="muted">{attributionWords[change.attribution]}</span>
              )}
              {change.with ? (
                <span class="muted">
                  with{' '}
                  {namesWithMore(
                    change.with.map(({ agent }) => agent),
                    change.with_total,
                  ).join(' and ')}
                </span>
              ) : null}
              {change.reformatted ? <span class="muted">reformatted</span> : null}
              <span class="muted">{change.change}</span>
              <PlusMinus {...change} />
            </li>
          ))}
        </ul>
      )}
      {turn.outside.length === 0 ? null : (
        <p class="muted">Changed meanwhile by no agent: {turn.outside.join(', ')}</p>
      )}
      {turn.unfound.length === 0 ? null : (
        <p class="muted">Reported by the client, but unchanged at the end: {turn.unfound.join(', ')}</p>
      )}
      {isOpen ? <TurnDiff turn={id} /> : null}
    </li>
  )
}

function measurementText({ status, measurement, baseline }: TurnData): string {
  if (status === 'open') return 'working'
  const measured = measurement === 'unknown' ? 'changes not measured' : `measured: ${measurement}`
  const late = baseline === 'at_start' ? '' : ', first snapshot late'
  return `${status === 'failed' ? 'failed, ' : ''}${measured}${late}`
}

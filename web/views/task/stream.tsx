import type { ComponentChildren } from 'preact'
import { formatCount } from '../../../src/kernel/text.ts'
import type { NoteData, TaskData } from '../../api/entities.ts'
import { useQuery } from '../../live/query.ts'
import { Agent } from '../../parts/agent.tsx'
import { durationText } from '../../parts/duration.ts'
import { type Status, StatusIcon } from '../../parts/status.tsx'
import { Prose } from '../../parts/text.tsx'
import { TimeOfDay } from '../../parts/time.tsx'

interface TaskStreamEntry {
  readonly key: string
  readonly at: string
  readonly status: Status
  readonly title: string
  readonly author?: string | null
  readonly text?: ComponentChildren
}

/** The attempts, records and notes of a task, and what people sent back, undid or restored, newest first. */
export function TaskStream({ task }: { readonly task: TaskData }) {
  const notes = useQuery('taskman_task_note_list', { id: task.id, limit: 200 }).answer.value?.notes ?? []
  const entries = [...entriesOf(task), ...notes.map(noteEntry)].sort(
    (a, b) => Date.parse(b.at) - Date.parse(a.at),
  )
  if (entries.length === 0)
    return <p class="muted stream-empty">Decisions, issues, progress and notes appear here.</p>
  return (
    <ol class="stream" aria-label="Decisions, issues, progress and notes">
      {entries.map(({ key, at, status, title, author, text }) => (
        <li key={key}>
          <StatusIcon status={status} named={false} />
          <div>
            <p class="stream-title">
              <b>{title}</b> {author ? <Agent name={author} /> : null}
            </p>
            {text ? <div class="stream-text">{text}</div> : null}
          </div>
          <span class="muted stream-time">
            <TimeOfDay at={at} />
          </span>
        </li>
      ))}
    </ol>
  )
}

function entriesOf({
  attempts,
  tree_writes,
  decisions,
  issues,
  progress,
  items,
}: TaskData): TaskStreamEntry[] {
  return [
    ...attempts.flatMap(attemptEntries),
    ...tree_writes.map(
      ({ snapshot_id: key, cause, author, files, created_at: at }): TaskStreamEntry => ({
        key,
        at,
        status: cause === 'undo' ? 'dropped' : 'done',
        title: `${cause === 'undo' ? 'Undid' : 'Restored'} ${formatCount(files, 'file')}`,
        author,
      }),
    ),
    ...decisions.map(
      ({
        id,
        created_at: createdAt,
        agent_name: agentName,
        question,
        chosen,
        reasoning,
        options_considered,
      }): TaskStreamEntry => {
        const others = options_considered.filter((option) => option !== chosen)
        return {
          key: id,
          at: createdAt,
          status: 'review',
          title: question,
          author: agentName,
          text: (
            <>
              <p>
                <b>
                  <Prose text={chosen} />
                </b>
                {others.length > 0 ? <span class="muted">, not {others.join(', ')}</span> : null}
              </p>
              <p>
                <Prose text={reasoning} />
              </p>
            </>
          ),
        }
      },
    ),
    ...issues.map(
      ({
        id,
        created_at: createdAt,
        agent_name: agentName,
        description,
        resolution,
        requires_human_review,
      }): TaskStreamEntry => ({
        key: id,
        at: createdAt,
        status:
          requires_human_review && items.some(({ issue_id }) => issue_id === id) ? 'blocked' : 'partial',
        title: requires_human_review ? 'Blocker' : 'Issue',
        author: agentName,
        text: (
          <>
            <p>
              <Prose text={description} />
            </p>
            {resolution === null ? null : (
              <p class="muted">
                <Prose text={resolution} />
              </p>
            )}
          </>
        ),
      }),
    ),
    ...progress.map(
      ({
        id,
        created_at: createdAt,
        agent_name: agentName,
        message,
        progress: percent,
      }): TaskStreamEntry => ({
        key: id,
        at: createdAt,
        status: 'active',
        title: percent === null ? 'Progress' : `Progress ${Math.round(percent)}%`,
        author: agentName,
        text: <Prose text={message} />,
      }),
    ),
  ]
}

function noteEntry({ id, created_at: createdAt, author, content }: NoteData): TaskStreamEntry {
  return {
    key: id,
    at: createdAt,
    status: 'planned',
    title: 'Note',
    author,
    text: (
      <p>
        <Prose text={content} />
      </p>
    ),
  }
}

function attemptEntries(attempt: TaskData['attempts'][number]): readonly TaskStreamEntry[] {
  const { attempt_id, number, agent_name, started_at, completed_at, status, duration_seconds, sent_back } =
    attempt
  const which = number > 1 ? ` again, attempt ${number}` : ''
  const started: TaskStreamEntry = {
    key: `${attempt_id} start`,
    at: started_at,
    status: 'ready',
    title: `Started${which}`,
    author: agent_name,
  }
  if (completed_at === null) return [started]
  const took = duration_seconds === null ? '' : ` after ${durationText(duration_seconds * 1_000)}`
  const end = ends[status] ?? { status: 'done', word: 'Completed' }
  return [
    started,
    {
      key: `${attempt_id} end`,
      at: completed_at,
      status: end.status,
      title: `${end.word}${took}`,
      author: attempt.claimed_by ?? agent_name,
    },
    ...(sent_back === undefined
      ? []
      : [
          {
            key: `${attempt_id} return`,
            at: sent_back.created_at,
            status: 'review' as const,
            title: 'Sent back',
            author: sent_back.author,
          },
        ]),
  ]
}

const ends: Readonly<Record<string, { readonly status: Status; readonly word: string }>> = {
  success: { status: 'done', word: 'Completed' },
  partial_success: { status: 'partial', word: 'Partly completed' },
  failed: { status: 'failed', word: 'Failed' },
  abandoned: { status: 'dropped', word: 'Abandoned' },
}

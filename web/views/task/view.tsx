import { useEffect } from 'preact/hooks'
import { formatCount } from '../../../src/kernel/text.ts'
import type { AttemptData, LinkedTask, TaskData, TaskLinks } from '../../api/entities.ts'
import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { Agent } from '../../parts/agent.tsx'
import { InlineDiff } from '../../parts/diff.tsx'
import { EmptyState, Pending } from '../../parts/empty-state.tsx'
import { useOwnPage } from '../../parts/entity-path.ts'
import { PlusMinus } from '../../parts/evidence.tsx'
import {
  attemptStatus,
  markStatus,
  type Status,
  StatusBadge,
  StatusIcon,
  taskStatus,
} from '../../parts/status.tsx'
import { CopyButton, Prose, shortId } from '../../parts/text.tsx'
import { TimeOfDay } from '../../parts/time.tsx'
import { crumb } from '../../router/current.ts'
import { href, navigate, query } from '../../router/location.ts'
import type { ViewProps } from '../../router/routes.ts'
import { Actions } from './actions.tsx'
import { ChangeTree, linesOfChanges } from './changes.tsx'
import { machineWords, ScopeOfChanges, SharedFiles } from './scope-result.tsx'
import { TaskStream } from './stream.tsx'
import { Undo, UndoneNote } from './undo.tsx'
import { AttemptCompletion, Promises } from './verdict.tsx'
import './task.css'

const taskSubject = { name: 'Task', list: { path: '/board', title: 'All tasks on the board' } } as const

/** One task: the measurement, the claims, and its history. */
export function View({ params }: ViewProps) {
  const id = params['id'] ?? ''
  const show = useQuery('show', { id, include: ['links'] })
  const entity = show.answer.value
  const task = entity?.kind === 'task' ? entity : null
  useOwnPage(entity, 'task')
  useEffect(() => {
    if (task) crumb.value = [...missionAbove(task), { text: task.name }]
  }, [task])
  const tab = params['tab'] === 'diff' ? 'diff' : 'overview'
  useCommands({
    'tab 1': () => navigate(href(`/tasks/${id}`)),
    'tab 2': () => navigate(href(`/tasks/${id}/diff`)),
    'open diff': () => navigate(href(`/tasks/${id}/diff`)),
    'copy id': () => void navigator.clipboard.writeText(id),
  })
  if (!task) return <Pending failure={show.failure} subject={{ ...taskSubject, id }} />
  const attempt =
    task.attempts.find(({ attempt_id }) => attempt_id === query.value.get('attempt')) ??
    task.attempts.at(-1) ??
    null
  return (
    <div class="page-inner task">
      <Head task={task} attempt={attempt} />
      <Actions task={task} refresh={show.refresh} />
      <nav class="tabs" aria-label="Parts of this task">
        <a href={href(`/tasks/${id}`)} {...(tab === 'overview' && { 'aria-current': 'page' })}>
          Overview
        </a>
        <a href={href(`/tasks/${id}/diff`)} {...(tab === 'diff' && { 'aria-current': 'page' })}>
          Diff
        </a>
      </nav>
      {tab === 'diff' ? (
        <div class="whole-diff full-width">
          {attempt ? <InlineDiff attempt={attempt.attempt_id} /> : <NoAttempt task={task} />}
        </div>
      ) : (
        <div class="task-parts">
          <TaskOverview task={task} attempt={attempt} />
          <aside>
            <TaskStream task={task} />
          </aside>
        </div>
      )}
    </div>
  )
}

function missionAbove({ mission_id, mission_name }: TaskData) {
  return mission_name === null ? [] : [{ text: mission_name, href: href(`/missions/${mission_id}`) }]
}

interface TaskParts {
  readonly task: TaskData
  readonly attempt: AttemptData | null
}

function Head({ task, attempt }: TaskParts) {
  return (
    <header class="task-head">
      <div>
        <h1 {...(task.resolution === 'dropped' && { 'data-dropped': '' })}>{task.name}</h1>
        {task.goal && task.goal !== task.name ? (
          <p class="muted">
            <Prose text={task.goal} />
          </p>
        ) : null}
        {isScopeOfAttempt(task, attempt) ? null : (
          <p class="muted task-scope">
            {attempt === null ? 'Scope' : 'Planned scope'}{' '}
            {task.areas.map((area, at) => (
              <span key={area}>
                {at > 0 ? ', ' : ''}
                <code>{area}</code>
              </span>
            ))}
          </p>
        )}
        {task.own_work_tree === null ? null : (
          <p class="muted task-tree">
            Work tree <code>{task.own_work_tree}</code>
            <CopyButton text={task.own_work_tree} />
          </p>
        )}
      </div>
      <dl class="details">
        <div>
          <dt>Status</dt>
          <dd>
            {isUndone(task) ? (
              <StatusBadge status="dropped" word="Undone" />
            ) : (
              <StatusBadge status={statusInPlan(task)} />
            )}
          </dd>
        </div>
        {task.measured === null || task.measured.files === null || task.attempts_total === 1 ? null : (
          <div>
            <dt>Changed in {task.attempts_total} attempts</dt>
            <dd>{formatCount(task.measured.files, 'file')}</dd>
          </div>
        )}
        {task.assignee ? (
          <div>
            <dt>For</dt>
            <dd>{task.assignee}</dd>
          </div>
        ) : null}
        {task.role ? (
          <div>
            <dt>Role</dt>
            <dd>{task.role}</dd>
          </div>
        ) : null}
        {attempt ? (
          <>
            <div>
              <dt>Agent</dt>
              <dd>
                <Agent name={attempt.agent_name} />
              </dd>
            </div>
            <div>
              <dt>Started</dt>
              <dd>
                <TimeOfDay at={attempt.started_at} />
              </dd>
            </div>
            <div>
              <dt>Snapshot</dt>
              <dd class="mono">{attempt.snapshot_id.slice(0, 7)}</dd>
            </div>
          </>
        ) : null}
      </dl>
    </header>
  )
}

/** Done once, and taken back. One that was reopened or dropped has another status. */
function isUndone({ undone, resolution }: TaskData): boolean {
  return undone !== null && resolution !== null && resolution !== 'dropped'
}

/** The scope of an attempt is shown with its changes. */
function isScopeOfAttempt({ areas }: TaskData, attempt: AttemptData | null): boolean {
  return areas.every((area) => attempt?.areas.includes(area))
}

/** The status as on the board: a task to do without open dependencies is ready. */
function statusInPlan(task: TaskData): Status {
  const status = taskStatus(task)
  const isFree = task.links?.depends_on.every(({ mark }) => mark === 'done' || mark === 'dropped')
  return status === 'planned' && isFree ? 'ready' : status
}

function TaskOverview({ task, attempt }: TaskParts) {
  return (
    <div class="task-main">
      <Answers task={task} />
      {attempt && (task.status === 'TO_DO' || task.status === 'FAILED') ? (
        <section class="ask-agent">
          <p>To do again. Ask an agent:</p>
          <AgentPrompt task={task} />
        </section>
      ) : null}
      <UndoneNote task={task} />
      {task.attempts.length > 1 ? <Attempts task={task} shown={attempt} /> : null}
      {attempt ? <AttemptCompletion attempt={attempt} items={task.items} /> : null}
      <Promises task={task} />
      {attempt ? <AttemptEvidence key={attempt.attempt_id} attempt={attempt} /> : <NoAttempt task={task} />}
      {attempt ? <Undo task={task} attempt={attempt} /> : null}
      {task.links ? <Links links={task.links} /> : null}
    </div>
  )
}

function NoAttempt({ task }: { readonly task: TaskData }) {
  const { claim, resolution } = task
  if (resolution !== null) {
    const how = resolution === 'dropped' ? 'Dropped' : 'Marked as done'
    return <EmptyState title={`${how} without an attempt, so no changes were measured.`} />
  }
  if (claim !== null)
    return <EmptyState title={`No attempt yet. Its changes appear here when ${claim.agent} starts it.`} />
  return (
    <EmptyState title="No attempt yet. Its changes appear here when an agent starts it. Ask one:">
      <AgentPrompt task={task} />
    </EmptyState>
  )
}

/** The sentence that lets an agent start a task. */
function AgentPrompt({ task: { id, name } }: { readonly task: TaskData }) {
  const prompt = `Start the Waymark task "${name}" (${id}) and complete it.`
  return (
    <p class="snippet">
      <code>{prompt}</code>
      <CopyButton text={prompt} />
    </p>
  )
}

function AttemptEvidence({ attempt }: { readonly attempt: AttemptData }) {
  const { status, measured_by: place } = attempt
  if (status !== 'open' || place === undefined) return <ChangesOfAttempt attempt={attempt} />
  return (
    <p class="muted">In progress on {machineWords(place)}. The changes appear when the task is completed.</p>
  )
}

function ChangesOfAttempt({ attempt }: { readonly attempt: AttemptData }) {
  const { attempt_id, status } = attempt
  // The work tree of an open attempt changes without a log entry, so any log entry reads it again.
  const changes = useQuery('changes', { id: attempt_id, limit: 1_000 }, { once: status !== 'open' })
  const answer = changes.answer.value
  if (answer === null) return <Pending failure={changes.failure} />
  const isWhole = answer.changes.length === answer.total
  return (
    <>
      <ScopeOfChanges changes={answer} attempt={attempt} />
      <h2 class="changes-head">
        Measured changes <span class="muted">{formatCount(answer.total, 'file')}</span>{' '}
        {answer.total > 0 && isWhole ? <PlusMinus {...linesOfChanges(answer.changes)} /> : null}
      </h2>
      {answer.total === 0 ? null : <ChangeTree changes={answer} attempt={attempt_id} />}
      {answer.total > answer.changes.length ? (
        <p class="muted">{answer.total - answer.changes.length} more are not listed.</p>
      ) : null}
      <SharedFiles changes={answer} />
    </>
  )
}

function Attempts({ task, shown }: { readonly task: TaskData; readonly shown: AttemptData | null }) {
  return (
    <nav class="attempts" aria-label="Attempts">
      {task.attempts.map(({ attempt_id, number, agent_name, status, verdict }) => (
        <a
          key={attempt_id}
          href={href(`/tasks/${task.id}?attempt=${attempt_id}`)}
          {...(shown?.attempt_id === attempt_id && { 'aria-current': 'true' })}
        >
          <StatusBadge
            status={attemptStatus({ status, verdict: verdict?.is ?? null })}
            word={`Attempt ${number}`}
          />{' '}
          <Agent name={agent_name} />
        </a>
      ))}
    </nav>
  )
}

/** The tasks around this one. */
function Links({ links }: { readonly links: TaskLinks }) {
  return (
    <div class="links">
      <LinkList title="Depends on" tasks={links.depends_on} />
      <LinkList title="Blocks" tasks={links.blocks} />
      <LinkList title="Part of" tasks={links.parent ? [links.parent] : []} />
      <LinkList title="Subtasks" tasks={links.subtasks} />
    </div>
  )
}

function LinkList({ title, tasks }: { readonly title: string; readonly tasks: readonly LinkedTask[] }) {
  if (tasks.length === 0) return null
  return (
    <section>
      <h2>{title}</h2>
      <ul>
        {tasks.map(({ id, title: name, mark, failed }) => (
          <li key={id}>
            <a class="linked" href={href(`/tasks/${id}`)}>
              <StatusIcon status={markStatus(mark, failed)} />
              <span class="cut" {...(mark === 'dropped' && { 'data-dropped': '' })}>
                {name}
              </span>
              <span class="id">{shortId(id)}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The inbox items of this task: open ones, then the answers. */
function Answers({ task }: { readonly task: TaskData }) {
  const { answered_items } = task
  // What a verdict needs is beside the verdict.
  const items = task.items.filter(({ kind }) => kind !== 'verdict')
  if (items.length + answered_items.length === 0) return null
  return (
    <section class="task-answers" aria-label="Inbox items">
      <ul>
        {items.map(({ item_id, kind, reason }) => (
          <li key={item_id} data-open="">
            <StatusIcon status={kind === 'blocker' ? 'blocked' : 'review'} named={false} />
            <div>
              <b>{titles[kind] ?? 'Needs you'}</b>
              <p>
                <Prose text={reason} />
              </p>
            </div>
            <a href={href(`/?select=${item_id}`)}>Answer in the inbox</a>
          </li>
        ))}
        {answered_items.map(({ item_id, kind, reason, status, answer, action, ...item }) => (
          <li key={item_id}>
            <StatusIcon
              status={action === 'sent back' ? 'review' : status === 'dismissed' ? 'dropped' : 'done'}
              named={false}
            />
            <div>
              <b>
                {item.closed_by ?? 'Waymark'}{' '}
                {action === null
                  ? status === 'dismissed'
                    ? 'dismissed it'
                    : 'closed it'
                  : kind === 'command' && action === 'approved'
                    ? 'allowed a command'
                    : actionWords[action]}
              </b>
              {answer === null || answer === action ? null : (
                <p>
                  <Prose text={answer} />
                </p>
              )}
              <p class="muted">
                Asked by {item.opened_by === 'waymark' ? 'Waymark' : item.opened_by}, because:{' '}
                <Prose text={reason} />
              </p>
            </div>
            {item.closed_at === null ? null : (
              <span class="muted">
                <TimeOfDay at={item.closed_at} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

const actionWords = {
  answered: 'answered',
  approved: 'approved it',
  'sent back': 'sent it back',
  rejected: 'rejected it',
  dismissed: 'dismissed it',
  restored: 'restored the files',
} as const

const titles: Readonly<Record<string, string>> = {
  blocker: 'Blocker: needs your answer',
  review: 'Needs your review',
  scope: 'Files out of scope: need your decision',
  approval: 'Needs your decision',
  command: 'Command: needs your approval',
  stale_attempt: 'Stale attempt: needs your decision',
  loss: 'Lost files: restore or dismiss',
}

import { useMemo } from 'preact/hooks'
import type { LogEntry, Timeline } from '../../api/entities.ts'
import { useQuery } from '../../live/query.ts'
import { Agent } from '../../parts/agent.tsx'
import { ConnectAgent, EmptyState } from '../../parts/empty-state.tsx'
import { type Status, StatusBadge, StatusIcon } from '../../parts/status.tsx'
import { Prose } from '../../parts/text.tsx'
import { TimeOfDay } from '../../parts/time.tsx'
import { VerdictBadge } from '../../parts/verdict.tsx'
import { href } from '../../router/location.ts'
import { logEntryWords } from '../log/event-rows.ts'
import { PendingTab } from './pending-tab.tsx'
import { Diamond } from './timeline/signs.tsx'
import { sourceOf, type TimelineLaneTask } from './timeline/source.ts'
import './tabs.css'

/** Cards in a column; the rest is a number. */
const maxTasks = 100

/** The columns of the project's board, and before them the tasks that wait for others. */
const columns = [
  { readiness: 'blocked', title: 'Waiting', status: 'planned' },
  { readiness: 'ready', title: 'Ready', status: 'ready' },
  { readiness: 'in_progress', title: 'In progress', status: 'active' },
  { readiness: 'review', title: 'Needs review', status: 'review' },
  { readiness: 'done', title: 'Done', status: 'done' },
] as const satisfies readonly {
  readonly readiness: string
  readonly title: string
  readonly status: Status
}[]

/** The tasks of the mission by status. The project's board moves them. */
export function BoardTab({ mission }: { readonly mission: Timeline }) {
  const tasks = useMemo(() => new Map(sourceOf(mission).tasks.map((task) => [task.id, task])), [mission])
  const verdicts = new Map(mission.attempts.map(({ task_id, verdict }) => [task_id, verdict]))
  return (
    <div class="tab-page">
      <div class="mission-board">
        {columns.map(({ readiness, title, status }) => {
          const inColumn = mission.tasks.filter(
            (task) => (task.needs_review ? 'review' : task.status) === readiness,
          )
          return (
            <section key={readiness} aria-label={title}>
              <h2>
                <StatusIcon status={status} named={false} /> {title}{' '}
                <span class="count">{inColumn.length}</span>
              </h2>
              <ul>
                {inColumn.slice(0, maxTasks).map(({ id }) => (
                  <TabCard key={id} task={tasks.get(id)} verdict={verdicts.get(id) ?? null} />
                ))}
              </ul>
              {inColumn.length > maxTasks && <p class="muted">and {inColumn.length - maxTasks} more</p>}
            </section>
          )
        })}
      </div>
      <p class="tab-foot">
        <a class="link" href={href(`/board?mission=${encodeURIComponent(mission.id)}`)}>
          Open the board
        </a>
      </p>
    </div>
  )
}

interface TabCardProps {
  readonly task: TimelineLaneTask | undefined
  readonly verdict: Timeline['attempts'][number]['verdict']
}

function TabCard({ task, verdict }: TabCardProps) {
  if (!task) return null
  return (
    <li>
      <a href={href(`/tasks/${task.id}`)}>
        <span>{task.name}</span>
        <span class="board-card-foot">
          {task.status === 'failed' ? (
            <StatusBadge status="failed" word="Failed, can be retried" />
          ) : (
            <StatusIcon status={task.status} />
          )}
          {task.isUndone ? <span class="muted">undone</span> : null}
          {verdict === null || task.isUndone ? null : <VerdictBadge is={verdict} />}
          {task.agent === null ? <span class="muted">Unclaimed</span> : <Agent name={task.agent} />}
        </span>
      </a>
    </li>
  )
}

/** The decisions with their reasons and alternatives, newest first. */
export function DecisionsTab({ mission }: { readonly mission: Timeline }) {
  const input = { mission_id: mission.id, include: ['decisions' as const], limit: 200 }
  const { answer, failure } = useQuery('get_context', input)
  const names = useMemo(() => new Map(mission.tasks.map(({ id, name }) => [id, name])), [mission])
  if (!answer.value) return <PendingTab failure={failure} />
  const decisions = answer.value.decisions ?? []
  if (decisions.length === 0) {
    return (
      <div class="tab-page">
        <EmptyState title="Decisions appear here when an agent logs them, with the reasons.">
          <ConnectAgent />
        </EmptyState>
      </div>
    )
  }
  return (
    <div class="tab-page">
      <ul class="decisions">
        {decisions.map((decision) => (
          <li key={decision.id} id={decision.id}>
            <Diamond kind="decision" />
            <div>
              <h2>
                <Prose text={decision.question} />
              </h2>
              <p>
                <b>{decision.chosen}</b> <span class="muted">{otherOptionsText(decision)}</span>
              </p>
              <p>
                <Prose text={decision.reasoning} />
              </p>
              {decision.trade_offs !== null && (
                <p class="muted">
                  Trade-offs: <Prose text={decision.trade_offs} />
                </p>
              )}
              <p class="decision-foot muted">
                {decision.agent_name !== null && <Agent name={decision.agent_name} />}
                <a class="link cut" href={href(`/tasks/${decision.task_id}`)}>
                  {names.get(decision.task_id) ?? decision.task_id}
                </a>
              </p>
            </div>
            <span class="muted">
              <TimeOfDay at={decision.created_at} />
            </span>
          </li>
        ))}
      </ul>
      {answer.value.next_cursor !== null && <p class="muted">The newest 200 decisions are shown.</p>}
    </div>
  )
}

interface DecisionOptions {
  readonly chosen: string
  readonly options_considered: readonly string[]
}

function otherOptionsText({ chosen, options_considered }: DecisionOptions): string {
  const others = options_considered.filter((option) => option.toLowerCase() !== chosen.toLowerCase())
  return others.length === 0 ? '' : `over ${others.join(', ')}`
}

const maxEvents = 1_000

/** The log entries about the mission and its tasks, newest first. */
export function LogTab({ mission }: { readonly mission: Timeline }) {
  const { answer, failure } = useQuery('log', { limit: maxEvents })
  const names = useMemo(() => namesOf(mission), [mission])
  if (!answer.value) return <PendingTab failure={failure} />
  const events = answer.value.events.filter((event) => subjectOf(event, names) !== null).toReversed()
  return (
    <div class="tab-page">
      {events.length === 0 && (
        <EmptyState title="Log entries about this mission appear here.">
          <ConnectAgent />
        </EmptyState>
      )}
      <ul class="log-list" aria-label="Log entries">
        {events.map((event) => (
          <li key={event.seq}>
            <span class="log-seq count">{event.seq}</span>
            <span class="muted log-time">
              <TimeOfDay at={event.happened_at} />
            </span>
            <span class="muted log-by cut">{event.actor}</span>
            <LogSentence event={event} names={names} />
            <code class="muted log-hash" title={event.hash}>
              {event.hash.slice(0, 8)}
            </code>
          </li>
        ))}
      </ul>
      <p class="tab-foot muted">
        From the newest {Math.min(answer.value.head, maxEvents)} log entries of the project.{' '}
        <a class="link" href={href('/log')}>
          Open the log
        </a>
      </p>
    </div>
  )
}

function LogSentence({
  event,
  names,
}: {
  readonly event: LogEntry
  readonly names: ReadonlyMap<string, string>
}) {
  const { what, link } = logEntryWords(event, names)
  return (
    <span class="log-what cut wide" title={what}>
      {link ? <a href={href(link)}>{what}</a> : what}
    </span>
  )
}

/** The tasks, the attempts by their tasks' names, and the mission itself. */
function namesOf(mission: Timeline): ReadonlyMap<string, string> {
  const tasks = new Map(mission.tasks.map(({ id, name }) => [id, name]))
  const attempts = mission.attempts.map(({ id, task_id }) => [id, tasks.get(task_id) ?? task_id] as const)
  const runs = mission.runs.map(({ run_id, process_name }) => [run_id, process_name] as const)
  return new Map([...attempts, ...tasks, ...runs, [mission.id, mission.name]])
}

/** The entity of the mission that a log entry names: a task rather than the mission. */
function subjectOf({ body }: LogEntry, names: ReadonlyMap<string, string>): string | null {
  let found: string | null = null
  const search = (value: unknown, depth: number): void => {
    if (typeof value === 'string' && names.has(value) && (found === null || value.startsWith('t-')))
      found = value
    if (typeof value !== 'object' || value === null || depth === 0) return
    for (const inside of Object.values(value)) search(inside, depth - 1)
  }
  search(body, 2)
  return found
}

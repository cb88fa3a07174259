import type { WorkingAttempt } from '../../api/entities.ts'
import { standing } from '../../api/session.ts'
import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { Agent } from '../../parts/agent.tsx'
import { EmptyState, Failed } from '../../parts/empty-state.tsx'
import { stepThrough } from '../../parts/list.tsx'
import { shortId } from '../../parts/text.tsx'
import { Since } from '../../parts/time.tsx'
import { href, navigate, query, setQuery } from '../../router/location.ts'
import './agents.css'

/** When somebody was last heard of is no fact: it is read again so often, in milliseconds. */
const often = 15_000

/** Who works on what now, and on which machine. */
export function View() {
  const work = useQuery('at_work', {}, { every: often })
  const answer = work.answer.value
  const selected = query.value.get('select')
  const step = stepThrough(
    (answer?.attempts ?? []).map(({ task_id }) => task_id),
    selected,
  )
  useCommands({
    next: step(1),
    previous: step(-1),
    open: () => selected && navigate(href(`/tasks/${selected}`)),
    close: () => setQuery({ select: null }),
  })
  if (answer === null) return <Failed failure={work.failure} />
  const machines = Map.groupBy(answer.attempts, ({ edge }) => edge)
  return (
    <div class="page-inner">
      <header class="page-head">
        <h1>Agents</h1>
        <span class="muted">{sumOf(answer.attempts)}</span>
      </header>
      {answer.attempts.length === 0 ? (
        <EmptyState
          title="Agents appear here while they work on a task, each with its machine and its work tree."
          command="waymark task start --name 'A first task'"
        />
      ) : null}
      {[...machines].map(([edge, attempts]) => (
        <section key={edge ?? ''} class="machine-agents">
          <h2>{edge ?? 'On the machine of the server'}</h2>
          <AttemptRows attempts={attempts} label={edge ?? 'The machine of the server'} selected={selected} />
        </section>
      ))}
    </div>
  )
}

function sumOf(attempts: readonly WorkingAttempt[]): string {
  const agents = new Set(attempts.map(({ agent_name }) => agent_name)).size
  const silent = attempts.filter(({ stale }) => stale).length
  if (agents === 0) return 'No one works now'
  return `${agents} ${agents === 1 ? 'agent works' : 'agents work'} on ${attempts.length} ${attempts.length === 1 ? 'task' : 'tasks'}${silent > 0 ? ` · ${silent} silent for two hours` : ''}`
}

interface AttemptRowsProps {
  readonly attempts: readonly WorkingAttempt[]
  readonly label: string
  readonly selected: string | null
}

function AttemptRows({ attempts, label, selected }: AttemptRowsProps) {
  return (
    <ul class="rows full-width" aria-label={label}>
      {attempts.map((attempt) => {
        const { task_id, name, agent_name, person, work_tree, started_at, last_call_at, stale } = attempt
        return (
          <li
            key={task_id}
            id={task_id}
            class="agent-row"
            {...(selected === task_id && { 'aria-current': 'true' })}
          >
            <span class="agent-who">
              <Agent name={agent_name} />
              {person === null || person === agent_name ? null : (
                <span class="muted cut">for {person === standing.value?.person.name ? 'you' : person}</span>
              )}
            </span>
            <a class="cut wide" href={href(`/tasks/${task_id}`)}>
              {name}
            </a>
            <span class="muted mono cut agent-tree" title={work_tree}>
              {work_tree}
            </span>
            <span class="muted agent-time">
              for <Since at={started_at} />
            </span>
            <span class={stale ? 'agent-time agent-silent' : 'muted agent-time'}>
              {stale ? 'silent ' : 'heard '}
              <Since at={last_call_at} />
              {stale ? '' : ' ago'}
            </span>
            <span class="id">{shortId(task_id)}</span>
          </li>
        )
      })}
    </ul>
  )
}

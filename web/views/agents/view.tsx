import { formatCount } from '../../../src/kernel/text.ts'
import type { RemoteMachineData, WorkingAttempt } from '../../api/entities.ts'
import { ownPermissions } from '../../api/session.ts'
import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { Agent } from '../../parts/agent.tsx'
import { ConnectAgent, EmptyState, Pending } from '../../parts/empty-state.tsx'
import { stepSelection } from '../../parts/list.tsx'
import { shortId } from '../../parts/text.tsx'
import { Since } from '../../parts/time.tsx'
import { href, navigate, query, setQuery } from '../../router/location.ts'
import './agents.css'

/** The time of the last call is no log entry: it is read again after so many milliseconds. */
const refreshMs = 5_000

/** The agents at work, by machine. */
export function View() {
  const work = useQuery('status', { limit: 1000 }, { every: refreshMs })
  const listed = useQuery('machine_list', {}, { every: refreshMs })
  const [answer, connected] = [work.answer.value, listed.answer.value]
  const machines = answer && connected ? machinesOf(answer.running, connected.machines) : []
  const selected = query.value.get('select')
  const order = machines.flatMap(({ attempts }) => attempts.map(({ task_id }) => task_id))
  const step = stepSelection(order, selected)
  useCommands({
    next: step(1),
    previous: step(-1),
    open: () => selected && navigate(href(`/tasks/${selected}`)),
    close: () => setQuery({ select: null }),
  })
  if (answer === null) return <Pending failure={work.failure} title="Agents" />
  if (connected === null) return <Pending failure={listed.failure} title="Agents" />
  return (
    <div class="page-inner">
      <header class="page-head">
        <h1>Agents</h1>
        <span class="muted">{sumOf(answer.running)}</span>
      </header>
      {machines.length === 0 ? (
        <EmptyState title="Agents appear here while they work on a task, with their machine and work tree.">
          <ConnectAgent />
        </EmptyState>
      ) : null}
      {machines.map(({ id, name, machine, attempts }) => (
        <section key={id} class="machine-agents">
          <h2>{name}</h2>
          {machine === null ? null : <MachineLine machine={machine} />}
          {attempts.length > 0 ? (
            <AttemptRows attempts={attempts} label={name} selected={selected} />
          ) : (
            <p class="muted">No agent works there now.</p>
          )}
        </section>
      ))}
      {connected.total > connected.machines.length ? (
        <p class="muted">{connected.total - connected.machines.length} more machines are connected.</p>
      ) : null}
    </div>
  )
}

interface AgentMachine {
  readonly id: string
  readonly name: string
  /** Null for the server's own. */
  readonly machine: RemoteMachineData | null
  readonly attempts: readonly WorkingAttempt[]
}

/** The machines with work come first. The server's own machine is listed if an agent works there. */
function machinesOf(
  attempts: readonly WorkingAttempt[],
  machines: readonly RemoteMachineData[],
): readonly AgentMachine[] {
  const byMachine = Map.groupBy(attempts, ({ machine }) => machine?.id ?? '')
  const remote = machines.map((machine): AgentMachine => {
    return { id: machine.id, name: machine.name, machine, attempts: byMachine.get(machine.id) ?? [] }
  })
  const rank = ({ attempts: open }: AgentMachine) => (open.length > 0 ? 1 : 0)
  const others = [...byMachine].flatMap(([id, open]): readonly AgentMachine[] => {
    if (machines.some((machine) => machine.id === id)) return []
    return [{ id, name: open[0]?.machine?.name ?? 'This server', machine: null, attempts: open }]
  })
  return [...remote.toSorted((one, other) => rank(other) - rank(one)), ...others]
}

/** When a machine last called, with its token and version. */
function MachineLine({ machine }: { readonly machine: RemoteMachineData }) {
  const { token, version, last_seen } = machine
  return (
    <p class="machine-line muted">
      <span>
        last seen <Since at={last_seen} /> ago
      </span>
      <span>token {token}</span>
      <span>Waymark {version}</span>
    </p>
  )
}

function sumOf(attempts: readonly WorkingAttempt[]): string {
  const agents = new Set(attempts.map(({ agent_name }) => agent_name)).size
  const stale = attempts.filter((attempt) => attempt.stale).length
  if (agents === 0) return 'No agent is working'
  return `${agents} ${agents === 1 ? 'agent works' : 'agents work'} on ${formatCount(attempts.length, 'task')}${stale > 0 ? ` · ${stale} stale` : ''}`
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
                <span class="muted cut">
                  for {person === ownPermissions.value?.person.name ? 'you' : person}
                </span>
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
            <span class={stale ? 'agent-time agent-stale' : 'muted agent-time'}>
              {stale ? 'stale: last call ' : 'last call '}
              <Since at={last_call_at} />
              {' ago'}
            </span>
            <span class="id">{shortId(task_id)}</span>
          </li>
        )
      })}
    </ul>
  )
}

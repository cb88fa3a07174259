import { useMemo } from 'preact/hooks'
import { told } from '../../../api/call.ts'
import type { Concerns } from '../../../live/query.ts'
import { useQuery } from '../../../live/query.ts'
import { Agent } from '../../../parts/agent.tsx'
import { EmptyState } from '../../../parts/empty-state.tsx'
import { Prose } from '../../../parts/prose.tsx'
import { Clock } from '../../../parts/time.tsx'
import { href } from '../../../router/location.ts'
import { Diamond } from '../timeline/mark-sign.tsx'
import type { Timeline } from '../timeline/source.ts'
import './tabs.css'

const decided: Concerns = ({ event }) => event.startsWith('decision')

/** What was decided, why, and what else was thought of. Newest first. */
export function DecisionsTab({ mission }: { readonly mission: Timeline }) {
  const input = { mission_id: mission.id, include: ['decisions' as const], limit: 200 }
  const { answer, failure } = useQuery('get_context', input, decided)
  const names = useMemo(() => new Map(mission.tasks.map(({ id, name }) => [id, name])), [mission])
  const agents = useMemo(() => new Map(mission.marks.map(({ id, agent }) => [id, agent])), [mission])
  if (!answer.value)
    return failure.value === null ? null : (
      <div class="tab-page">
        <EmptyState title={told(failure.value)} />
      </div>
    )
  const decisions = answer.value.decisions ?? []
  if (decisions.length === 0) {
    return (
      <div class="tab-page">
        <EmptyState
          title="What agents decide appears here, with their reasons."
          command="waymark decision log"
        />
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
                <b>{decision.chosen}</b> <span class="muted">{othersOf(decision)}</span>
              </p>
              <p>
                <Prose text={decision.reasoning} />
              </p>
              {decision.trade_offs !== null && (
                <p class="muted">
                  Costs: <Prose text={decision.trade_offs} />
                </p>
              )}
              <p class="decision-foot muted">
                {agents.get(decision.id) != null && <Agent name={agents.get(decision.id) ?? ''} />}
                <a class="link cut" href={href(`/tasks/${decision.task_id}`)}>
                  {names.get(decision.task_id) ?? decision.task_id}
                </a>
              </p>
            </div>
            <span class="muted">
              <Clock at={decision.created_at} />
            </span>
          </li>
        ))}
      </ul>
      {answer.value.next_cursor !== null && <p class="muted">The last 200 are shown.</p>}
    </div>
  )
}

interface Chosen {
  readonly chosen: string
  readonly options_considered: readonly string[]
}

function othersOf({ chosen, options_considered }: Chosen): string {
  const others = options_considered.filter((option) => option.toLowerCase() !== chosen.toLowerCase())
  return others.length === 0 ? '' : `over ${others.join(', ')}`
}

import { useMemo } from 'preact/hooks'
import { type AnswerOf, told } from '../../../api/call.ts'
import { useQuery } from '../../../live/query.ts'
import { EmptyState } from '../../../parts/empty-state.tsx'
import { Clock } from '../../../parts/time.tsx'
import { href } from '../../../router/location.ts'
import type { Timeline } from '../timeline/source.ts'
import './tabs.css'

type Fact = AnswerOf<'log'>['facts'][number]

const most = 1_000

/** The facts about the mission and its tasks, newest first. */
export function JournalTab({ mission }: { readonly mission: Timeline }) {
  const { answer, failure } = useQuery('log', { limit: most })
  const names = useMemo(() => namesOf(mission), [mission])
  if (!answer.value)
    return failure.value === null ? null : (
      <div class="tab-page">
        <EmptyState title={told(failure.value)} />
      </div>
    )
  const facts = answer.value.facts.filter((fact) => subjectOf(fact, names) !== null).toReversed()
  return (
    <div class="tab-page">
      {facts.length === 0 && <EmptyState title="Every fact about this mission appears here." />}
      <ul class="facts-list" aria-label="Facts">
        {facts.map((fact) => (
          <li key={fact.seq}>
            <span class="fact-seq count">{fact.seq}</span>
            <span class="muted fact-time">
              <Clock at={fact.at} />
            </span>
            <span class="fact-kind">{fact.kind}</span>
            <Subject fact={fact} names={names} />
            <span class="muted push">{fact.actor}</span>
            <code class="muted" title={fact.hash}>
              {fact.hash.slice(0, 8)}
            </code>
          </li>
        ))}
      </ul>
      <p class="tab-foot muted">
        Of the last {Math.min(answer.value.head, most)} facts of the project.{' '}
        <a class="link" href={href('/journal')}>
          The whole journal
        </a>
      </p>
    </div>
  )
}

function Subject({ fact, names }: { readonly fact: Fact; readonly names: ReadonlyMap<string, string> }) {
  const id = subjectOf(fact, names) ?? ''
  if (!id.startsWith('t-')) return <span class="cut">{names.get(id)}</span>
  return (
    <a class="cut" href={href(`/tasks/${id}`)}>
      {names.get(id)}
    </a>
  )
}

/** The tasks, the attempts by their tasks' names, and the mission itself. */
function namesOf(mission: Timeline): ReadonlyMap<string, string> {
  const tasks = new Map(mission.tasks.map(({ id, name }) => [id, name]))
  const attempts = mission.attempts.map(({ id, task_id }) => [id, tasks.get(task_id) ?? task_id] as const)
  return new Map([...attempts, ...tasks, [mission.id, mission.name]])
}

/** The most particular thing of the mission that a fact names: a task before the mission. */
function subjectOf({ body }: Fact, names: ReadonlyMap<string, string>): string | null {
  let found: string | null = null
  const look = (value: unknown, depth: number): void => {
    if (typeof value === 'string' && names.has(value) && (found === null || value.startsWith('t-')))
      found = value
    if (typeof value !== 'object' || value === null || depth === 0) return
    for (const inside of Object.values(value)) look(inside, depth - 1)
  }
  look(body, 2)
  return found
}

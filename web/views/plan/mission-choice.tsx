import { useQuery } from '../../live/query.ts'
import { setQuery } from '../../router/location.ts'

/** Whose plan it is: every open one, the project's own, or a mission's. */
export function MissionChoice({ mission }: { readonly mission: string | null }) {
  const missions = useQuery(
    'list_missions',
    { status: 'all', limit: 100 },
    ({ event }) => event === 'mission:created',
  )
  const listed = missions.answer.value?.missions ?? []
  if (listed.length === 0) return null
  return (
    <select
      class="field mission-choice"
      aria-label="Whose plan"
      value={mission ?? ''}
      onChange={({ currentTarget }) => setQuery({ mission: currentTarget.value, select: null })}
    >
      <option value="">Every open plan</option>
      <option value="none">The project’s own plan</option>
      {listed.map(({ mission_id, name }) => (
        <option key={mission_id} value={mission_id}>
          {name}
        </option>
      ))}
    </select>
  )
}

import { useComputed } from '@preact/signals'
import type { Rows } from '../../live/rows.ts'
import { FilterField } from '../../parts/filter-field.tsx'
import { query, setQuery } from '../../router/location.ts'
import type { Placed } from './columns.ts'

/** What the address asks for: words, an agent, a mission. */
export function isWanted(card: Placed, wanted: URLSearchParams): boolean {
  const words = (wanted.get('words') ?? '').toLowerCase().split(/\s+/)
  const said = `${card.title} ${card.id} ${card.mission_name ?? ''} ${card.role ?? ''}`.toLowerCase()
  if (!words.every((word) => said.includes(word))) return false
  const agent = wanted.get('agent')
  if (agent !== null && card.agent_name !== agent) return false
  const mission = wanted.get('mission')
  return mission === null || (card.mission_id ?? 'plan') === mission
}

export function Filters({ rows }: { readonly rows: Rows<Placed> }) {
  const options = useComputed(() => JSON.stringify(optionsOf(rows)))
  const { agents, missions }: Options = JSON.parse(options.value)
  return (
    <>
      <FilterField />
      <Choice name="agent" all="Every agent" options={agents.map((agent) => [agent, agent])} />
      <Choice name="mission" all="Every mission" options={missions} />
    </>
  )
}

interface Options {
  readonly agents: readonly string[]
  readonly missions: readonly (readonly [id: string, name: string])[]
}

function optionsOf(rows: Rows<Placed>): Options {
  const cards = rows.order.value.flatMap((id) => rows.row(id)?.value ?? [])
  const missions = new Map(
    cards.map(({ mission_id, mission_name }) => [mission_id ?? 'plan', mission_name ?? 'The project’s plan']),
  )
  return {
    agents: [...new Set(cards.flatMap(({ agent_name }) => agent_name ?? []))].sort(),
    missions: [...missions],
  }
}

interface ChoiceProps {
  readonly name: 'agent' | 'mission'
  readonly all: string
  readonly options: readonly (readonly [value: string, word: string])[]
}

function Choice({ name, all, options }: ChoiceProps) {
  const chosen = query.value.get(name) ?? ''
  return (
    <select
      class="field"
      aria-label={`Filter by ${name}`}
      value={chosen}
      onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value })}
    >
      <option value="">{all}</option>
      {options.map(([value, word]) => (
        <option key={value} value={value}>
          {word}
        </option>
      ))}
    </select>
  )
}

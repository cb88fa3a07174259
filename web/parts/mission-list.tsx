import { useComputed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Mission } from '../api/answers.ts'
import { useCommands } from '../keys/commands.ts'
import { useQuery } from '../live/query.ts'
import { href, navigate, query, setQuery } from '../router/location.ts'
import { Failed } from './failed.tsx'
import { FilterField } from './filter-field.tsx'
import { HeldBack } from './held-back.tsx'
import { useRows } from './live-list.ts'
import { MissionRow } from './mission-row.tsx'
import { VirtualList } from './virtual-list.tsx'

interface MissionListProps {
  readonly status: 'open' | 'ended'
  readonly label: string
  readonly empty: ComponentChildren
}

/** Missions and workflows of one kind, live, with a filter in the address. */
export function MissionList({ status, label, empty }: MissionListProps) {
  const missions = useQuery('list_missions', { status, limit: 200 }, isOfMissions)
  const { rows, still } = useRows<Mission>(
    () => missions.answer.value?.missions ?? null,
    ({ mission_id }) => mission_id,
  )
  const shown = useComputed(() => {
    const words = (query.value.get('words') ?? '').toLowerCase()
    const isWanted = (key: string) => {
      const row = rows.row(key)?.value
      return `${row?.name} ${row?.objective} ${key}`.toLowerCase().includes(words)
    }
    return words === '' ? rows.order.value : rows.order.value.filter(isWanted)
  })
  const keys = shown.value
  const selected = query.value.get('select')
  const step = (by: number) => () => {
    const next = keys[Math.min(Math.max(keys.indexOf(selected ?? '') + by, 0), keys.length - 1)]
    if (next !== undefined) setQuery({ select: next })
  }
  useCommands({
    next: step(1),
    previous: step(-1),
    open: () => selected && navigate(href(`/missions/${selected}`)),
    'copy id': () => void (selected && navigator.clipboard.writeText(selected)),
    close: () => setQuery({ select: null }),
  })
  const answer = missions.answer.value
  if (answer === null) return <Failed failure={missions.failure} />
  if (answer.total === 0) return <>{empty}</>
  return (
    <div class="full-width mission-list" {...still}>
      <div class="list-filter">
        <FilterField />
        <span class="muted">
          {keys.length} of {answer.total}
        </span>
      </div>
      <HeldBack held={rows.held} release={() => rows.hold(false)} />
      <VirtualList
        keys={keys}
        label={label}
        selected={selected}
        row={(key) => {
          const row = rows.row(key)
          return row ? <MissionRow key={key} row={row} isSelected={key === selected} /> : null
        }}
      />
    </div>
  )
}

function isOfMissions({ event }: { readonly event: string }): boolean {
  return /^(mission|workflow|task|phase|hold):/.test(event)
}

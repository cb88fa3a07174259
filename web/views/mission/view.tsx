import { useEffect, useMemo } from 'preact/hooks'
import { told } from '../../api/call.ts'
import { type Handlers, useCommands } from '../../keys/commands.ts'
import type { Frame } from '../../live/frame.ts'
import { useQuery } from '../../live/query.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { crumb } from '../../router/current.ts'
import { href, navigate } from '../../router/location.ts'
import type { ViewProps } from '../../router/routes.ts'
import { MissionHeader } from './header.tsx'
import { TabBody } from './tab-body.tsx'
import { tabNamed, tabPath, tabs } from './tab-names.ts'
import './mission.css'

/** Attempts and marks that are asked for: all of nearly every mission. */
const limit = 10_000

export function View({ params }: ViewProps) {
  const id = params['id'] ?? ''
  const tab = tabNamed(params['tab'])
  const concerns = useMemo(() => (frame: Frame) => speaksOf(frame, id), [id])
  const { answer, failure } = useQuery('mission_timeline', { id, limit }, concerns)
  const mission = answer.value
  const name = mission?.name
  useEffect(() => {
    crumb.value = name === undefined ? [] : [{ text: name }]
  }, [name])
  useCommands(tabKeys(id))
  if (mission === null) {
    if (failure.value === null) return null
    return (
      <div class="page-inner">
        <h1>Mission</h1>
        <EmptyState title={told(failure.value)} command="waymark mission list" />
      </div>
    )
  }
  return (
    <div class="mission">
      <MissionHeader mission={mission} />
      <nav class="mission-tabs" aria-label="Views of the mission">
        {tabs.map(({ name: other, title }) => (
          <a key={other} href={href(tabPath(id, other))} {...(other === tab && { 'aria-current': 'page' })}>
            {title}
            {other === 'decisions' && mission.totals.decisions > 0 && (
              <span class="count"> {mission.totals.decisions}</span>
            )}
          </a>
        ))}
      </nav>
      <TabBody id={id} tab={tab} answer={answer} />
    </div>
  )
}

function tabKeys(id: string): Handlers {
  return Object.fromEntries(
    tabs.map(({ name }, place) => [`tab ${place + 1}`, () => navigate(href(tabPath(id, name)))]),
  )
}

/** A frame about another mission changes nothing here; one that names none may. */
function speaksOf({ data }: Frame, id: string): boolean {
  const named = data?.['mission_id']
  return typeof named !== 'string' || named === id
}

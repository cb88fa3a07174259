import type { ReadonlySignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { needsYouText } from '../../../src/inbox/domain/inbox-item.ts'
import { leftWorkText } from '../../../src/track/domain/mission.ts'
import type { Timeline } from '../../api/entities.ts'
import { denialReason } from '../../api/session.ts'
import { type Handlers, useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { durationText } from '../../parts/duration.ts'
import { ConnectAgent, EmptyState, Pending } from '../../parts/empty-state.tsx'
import { eventWords } from '../../parts/event-words.ts'
import { PromiseEntries } from '../../parts/promises.tsx'
import { missionStatus, StatusBadge, StatusIcon, statusOf } from '../../parts/status.tsx'
import { Prose } from '../../parts/text.tsx'
import { now } from '../../parts/time.tsx'
import { crumb } from '../../router/current.ts'
import { href, navigate } from '../../router/location.ts'
import type { ViewProps } from '../../router/routes.ts'
import { DependencyMap } from '../dependencies/view.tsx'
import { ChangesTab } from './changes.tsx'
import { DayMoments } from './day-moments.tsx'
import { EndEarly, NextStep, useMission } from './next-step.tsx'
import { ReportButton } from './report.tsx'
import { BoardTab, DecisionsTab, LogTab } from './tabs.tsx'
import { MissionTimeline } from './timeline/timeline.tsx'
import './mission.css'

const missionSubject = { name: 'Mission', list: { path: '/missions', title: 'All open missions' } } as const

export function View({ params }: ViewProps) {
  const id = params['id'] ?? ''
  const tab = tabNamed(params['tab'])
  const { answer, failure } = useMission(id)
  const mission = answer.value
  const name = mission?.name
  useEffect(() => {
    crumb.value = name === undefined ? [] : [{ text: name }]
  }, [name])
  useCommands(tabKeys(id))
  const tabList = useRef<HTMLElement>(null)
  // On a phone the list is wider than the screen.
  useEffect(() => {
    const current = tabList.current?.querySelector('[aria-current]')
    current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [tab, mission === null])
  if (mission === null) {
    return <Pending failure={failure} subject={{ ...missionSubject, id }} />
  }
  return (
    <div class="mission">
      <MissionHeader mission={mission} />
      <DayMoments />
      <nav class="mission-tabs" ref={tabList} aria-label="Views of the mission">
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

const number = new Intl.NumberFormat('en')

/** The objective of the mission, its processes, and its totals. */
function MissionHeader({ mission }: { readonly mission: Timeline }) {
  const { totals } = mission
  return (
    <header class="mission-header">
      <div class="mission-titles">
        <h1>
          {mission.name} <StatusBadge {...missionStatus(mission.status, totals.tasks - totals.done)} />
        </h1>
        {mission.objective !== null && mission.objective !== mission.name && (
          <p class="muted mission-objective">{mission.objective}</p>
        )}
        {mission.summary !== null && (
          <p class="mission-objective">
            {mission.completed_at === null ? 'Accomplished before it was opened again' : 'Accomplished'}:{' '}
            <Prose text={mission.summary} />
          </p>
        )}
        {mission.completed_by !== null && <p class="muted">Ended by {mission.completed_by}.</p>}
        {mission.description !== null && (
          <p class="muted mission-brief" title={mission.description}>
            <Prose text={mission.description} />
          </p>
        )}
        {mission.scope !== null && (
          <p class="muted">
            Scope: <code>{mission.scope}</code>
          </p>
        )}
        {mission.constraints !== null && (
          <p class="muted mission-brief" title={mission.constraints}>
            Constraints: <Prose text={mission.constraints} />
          </p>
        )}
        {mission.done_when !== null && (
          <div class="muted mission-promises">
            <span>Each task is done when:</span>
            <PromiseEntries of={mission.done_when} />
          </div>
        )}
        {mission.runs.map(({ run_id, process_name, status, current_state }) => (
          <p key={run_id} class="mission-run">
            <StatusIcon status={statusOf(status)} />
            <a class="link" href={href(`/runs/${run_id}`)}>
              Gate: {process_name}
            </a>
            <span class="muted">at step {current_state}</span>
          </p>
        ))}
        {mission.completed_despite.map((reason) => (
          <p key={reason} class="deleted">
            Completed although {reason}.
          </p>
        ))}
        {mission.left !== undefined && <p class="deleted">Ended with {leftWorkText(mission.left)}.</p>}
        <WaitsFor mission={mission} />
        <NextStep mission={mission} />
        <p class="mission-report">
          {mission.completed_at === null ? <AddTask mission={mission} /> : null}
          <EndEarly mission={mission} />
          <ReportButton id={mission.id} name={mission.name} />
        </p>
      </div>
      <dl class="figures">
        <Figure name="Tasks">
          {totals.done} / {totals.tasks}
          <span class="muted">{needsYouText(totals.done_waiting)}</span>
        </Figure>
        <Figure name="Elapsed">
          <ElapsedTime mission={mission} />
        </Figure>
        <Figure name="Lines, net" title="A line that two tasks changed counts once.">
          {totals.added === null || totals.deleted === null ? (
            <span class="muted">lines not counted</span>
          ) : (
            <>
              <span class="added">+{number.format(totals.added)}</span>{' '}
              <span class="deleted">−{number.format(totals.deleted)}</span>
            </>
          )}
        </Figure>
        <Figure name="Out of scope">
          <span class={totals.out_of_scope > totals.out_of_scope_accepted ? 'deleted' : ''}>
            {totals.out_of_scope === 1 ? '1 file' : `${number.format(totals.out_of_scope)} files`}
          </span>
          {totals.out_of_scope_accepted > 0 ? (
            <span class="muted">, {number.format(totals.out_of_scope_accepted)} accepted</span>
          ) : null}
        </Figure>
      </dl>
    </header>
  )
}

/** Leads to the mission's plan, with a line for the task. */
function AddTask({ mission: { id, totals } }: { readonly mission: Timeline }) {
  const denial = denialReason('taskman_task_add')
  return (
    <button
      type="button"
      class="button"
      {...(totals.tasks === 0 && { 'data-kind': 'primary' })}
      disabled={denial !== null}
      title={denial ?? ''}
      onClick={() => navigate(href(`/plan?mission=${encodeURIComponent(id)}&add=task`))}
    >
      Add a task
    </button>
  )
}

/** What of the mission needs a person; what blocks it is named first. */
function WaitsFor({ mission: { id } }: { readonly mission: Timeline }) {
  const { answer } = useQuery('inbox', { mission_id: id, limit: 20 })
  const items = (answer.value?.items ?? []).toSorted(
    (a, b) => Number(b.kind === 'blocker') - Number(a.kind === 'blocker'),
  )
  if (items.length === 0) return null
  return (
    <ul class="mission-waits" aria-label="Needs you">
      {items.map(({ item_id, kind, task_name, reason, request }) => (
        <li key={item_id}>
          <StatusIcon status={kind === 'blocker' ? 'blocked' : 'review'} named={false} />
          <span>
            {waitsText(kind, task_name)}:{' '}
            <a class="link" href={href(`/?select=${item_id}`)}>
              {request?.kind === 'decision'
                ? `decide ${request.events.map(eventWords).join(' or ')}`
                : reason}
            </a>
          </span>
        </li>
      ))}
    </ul>
  )
}

function waitsText(kind: string, task: string | null): string {
  if (kind === 'blocker') return task === null ? 'Blocked by a question' : `${task} is blocked by a question`
  return task === null ? 'Needs you' : `${task} needs you`
}

interface FigureProps {
  readonly name: string
  readonly title?: string
  readonly children: ComponentChildren
}

function Figure({ name, title, children }: FigureProps) {
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** Counts on while the mission goes on. */
function ElapsedTime({ mission }: { readonly mission: Timeline }) {
  const begun = Date.parse(mission.created_at)
  const end = mission.completed_at === null ? now.value : Date.parse(mission.completed_at)
  return <>{durationText(end - begun)}</>
}

interface TabBodyProps {
  readonly id: string
  readonly tab: TabName
  readonly answer: ReadonlySignal<Timeline | null>
}

function TabBody({ id, tab, answer }: TabBodyProps) {
  if (tab === 'timeline') {
    if (answer.value?.tasks.length === 0) {
      return (
        <div class="tab-page">
          <EmptyState title="No task yet: add one, or let an agent plan. Each attempt appears here as a bar.">
            <ConnectAgent />
          </EmptyState>
        </div>
      )
    }
    return <MissionTimeline answer={answer} />
  }
  if (tab === 'dependencies') return <DependencyMap mission={id} />
  if (tab === 'changes') return <ChangesTab id={id} />
  const mission = answer.value
  if (mission === null) return null
  if (tab === 'board') return <BoardTab mission={mission} />
  if (tab === 'decisions') return <DecisionsTab mission={mission} />
  return <LogTab mission={mission} />
}

/** The tabs of a mission, in the order of their keys. The first has no name in the address. */
const tabs = [
  { name: 'timeline', title: 'Timeline' },
  { name: 'board', title: 'Board' },
  { name: 'dependencies', title: 'Dependencies' },
  { name: 'changes', title: 'Changes' },
  { name: 'decisions', title: 'Decisions' },
  { name: 'log', title: 'Log' },
] as const

type TabName = (typeof tabs)[number]['name']

function tabNamed(name: string | undefined): TabName {
  return tabs.find((tab) => tab.name === name)?.name ?? 'timeline'
}

function tabPath(missionId: string, tab: TabName): string {
  const mission = `/missions/${encodeURIComponent(missionId)}`
  return tab === 'timeline' ? mission : `${mission}/${tab}`
}

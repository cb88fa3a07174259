import type { ReadonlySignal } from '@preact/signals'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Dependencies } from '../dependencies/dependencies.tsx'
import type { TabName } from './tab-names.ts'
import { BoardTab } from './tabs/board-tab.tsx'
import { ChangesTab } from './tabs/changes-tab.tsx'
import { DecisionsTab } from './tabs/decisions-tab.tsx'
import { JournalTab } from './tabs/journal-tab.tsx'
import type { Timeline } from './timeline/source.ts'
import { MissionTimeline } from './timeline/timeline.tsx'

interface TabBodyProps {
  readonly id: string
  readonly tab: TabName
  readonly answer: ReadonlySignal<Timeline | null>
}

export function TabBody({ id, tab, answer }: TabBodyProps) {
  if (tab === 'timeline') {
    if (answer.value?.tasks.length === 0) {
      return (
        <div class="tab-page">
          <EmptyState
            title="Each attempt at a task appears here as a bar, while the agent works."
            command={`waymark task start --mission-id ${id} --name "First task"`}
          />
        </div>
      )
    }
    return <MissionTimeline answer={answer} />
  }
  if (tab === 'dependencies') return <Dependencies mission={id} />
  if (tab === 'changes') return <ChangesTab id={id} />
  const mission = answer.value
  if (mission === null) return null
  if (tab === 'board') return <BoardTab mission={mission} />
  if (tab === 'decisions') return <DecisionsTab mission={mission} />
  return <JournalTab mission={mission} />
}

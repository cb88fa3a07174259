import type { ReadonlySignal } from '@preact/signals'
import { EmptyState } from '../../parts/empty-state.tsx'
import type { TabName } from './tab-names.ts'
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
  return <p>{tab}</p>
}

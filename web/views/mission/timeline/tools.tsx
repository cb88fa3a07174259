import { KeyCap } from '../../../parts/key-cap.tsx'
import { setQuery } from '../../../router/location.ts'
import { useTimeline } from './context.ts'

/** Above the names: by whom, how near, and whether idle time is folded. */
export function TimelineTools() {
  const { model } = useTimeline()
  const grouping = model.grouping.value
  return (
    <div class="timeline-tools" role="toolbar" aria-label="Timeline">
      <fieldset class="segments" aria-label="Rows">
        {(['phase', 'agent'] as const).map((by) => (
          <button
            key={by}
            type="button"
            aria-pressed={grouping === by}
            onClick={() => setQuery({ by: by === 'phase' ? null : by })}
          >
            {by === 'phase' ? 'Phases' : 'Agents'}
          </button>
        ))}
      </fieldset>
      <button
        type="button"
        class="tool"
        aria-pressed={model.folding.value}
        title="Fold time in which nobody worked"
        onClick={() => setQuery({ idle: model.folding.value ? 'shown' : null })}
      >
        Fold idle
      </button>
      <span class="push tool-group">
        <button
          type="button"
          class="tool"
          aria-label="Further"
          title="Further, -"
          onClick={() => model.zoom(1 / 1.5)}
        >
          −
        </button>
        <button
          type="button"
          class="tool"
          aria-label="Closer"
          title="Closer, +"
          onClick={() => model.zoom(1.5)}
        >
          +
        </button>
        <button type="button" class="tool" title="Fit everything" onClick={() => model.fit()}>
          Fit <KeyCap keys="z" />
        </button>
      </span>
    </div>
  )
}

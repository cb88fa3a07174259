import { isContradiction } from '../../src/track/domain/verdict.ts'
import type { AttemptData } from '../api/entities.ts'
import { StatusBadge, StatusIcon } from './status.tsx'
import { Prose } from './text.tsx'
import './verdict.css'

export type VerdictData = NonNullable<AttemptData['verdict']>

const statuses = { proven: 'done', unproven: 'planned', contradicted: 'blocked' } as const

/** A verdict as one word. */
export function VerdictBadge({ is }: Pick<VerdictData, 'is'>) {
  return <StatusBadge status={statuses[is]} word={is} />
}

/** The reasons of a verdict with their paths, then the checks that passed on exactly this content. */
export function VerdictReasons({ verdict: { reasons, checks } }: { readonly verdict: VerdictData }) {
  const passed = checks.filter(({ exit_code, same_content }) => exit_code === 0 && same_content)
  if (reasons.length + passed.length === 0) return null
  return (
    <ul class="verdict-reasons" aria-label="Reasons of the verdict">
      {reasons.map(({ rule, text, paths = [], paths_total = paths.length, fix }) => (
        <li key={`${rule} ${text}`} data-rule={rule}>
          <StatusIcon status={isContradiction(rule) ? 'failed' : 'planned'} named={false} />
          <div>
            <Prose text={text} />
            {paths.map((path) => (
              <code key={path}>{path}</code>
            ))}
            {paths_total > paths.length ? <span class="muted">{paths_total - paths.length} more</span> : null}
            {fix === undefined ? null : <p class="muted">{fix}</p>}
          </div>
        </li>
      ))}
      {passed.map(({ command }) => (
        <li key={command}>
          <StatusIcon status="done" named={false} />
          <div>
            <code>{command}</code> <span class="muted">exit 0, on exactly this content</span>
          </div>
        </li>
      ))}
    </ul>
  )
}

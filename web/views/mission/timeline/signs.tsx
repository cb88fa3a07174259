import { formatCount } from '../../../../src/kernel/text.ts'
import { sumOfLines } from '../../../../src/track/domain/changes.ts'
import type { MarkKind } from '../../../geometry/bar-layout.ts'
import { monoWidth, textWidth } from '../../../geometry/text-width.ts'
import { durationText } from '../../../parts/duration.ts'
import { attemptStatus, type Status, statuses } from '../../../parts/status.tsx'
import type { TimelineAttemptData, TimelineSpan } from './source.ts'

interface MarkSignProps {
  readonly kind: MarkKind
  readonly count: number
  readonly x: number
  readonly onEnter: (event: PointerEvent) => void
  readonly onLeave: () => void
}

/** A diamond: hollow for progress, full for a decision, with a sign of its own for an issue. */
export function MarkSign({ kind, count, x, onEnter, onLeave }: MarkSignProps) {
  return (
    <span
      class="mark"
      data-kind={kind}
      style={{ transform: `translateX(${x}px)` }}
      onPointerEnter={onEnter}
      onPointerLeave={onLeave}
    >
      <Diamond kind={kind} />
      {count > 1 && <span class="mark-count">{count}</span>}
    </span>
  )
}

export function Diamond({ kind }: { readonly kind: MarkKind }) {
  return (
    <svg class="diamond" data-kind={kind} viewBox="0 0 14 14" aria-hidden="true">
      <path class="body" d="M7 1 13 7 7 13 1 7z" />
      {kind === 'issue' && <path class="inner" d="M7 4v3.4M7 9.4v.4" />}
    </svg>
  )
}

/** Lines that git saw come and go. Null where nothing was measured. */
interface LinesText {
  readonly added: string
  readonly deleted: string
  /** `1 out of scope`; empty when nothing is. */
  readonly out: string
}

interface BarText {
  readonly duration: string
  readonly lines: LinesText | null
  readonly durationWidth: number
  readonly linesWidth: number
  /** Without the words of what is out of scope. */
  readonly shortWidth: number
}

export function barText(spans: readonly TimelineSpan[], now: number): BarText {
  const lines = linesOf(spans)
  const worked = spans.reduce((sum, { from, to }) => sum + (to ?? now) - from, 0)
  const numbers = lines === null ? 0 : monoWidth(lines.added + lines.deleted, 11) + 8
  const duration =
    spans.length > 1 ? `${spans.length} × ${durationText(worked / spans.length)}` : durationText(worked)
  return {
    duration,
    lines,
    durationWidth: textWidth(duration, 11),
    linesWidth: lines === null ? 0 : numbers + ((lines.out && textWidth(lines.out, 11) + 22) || 0),
    shortWidth: lines === null ? 0 : numbers + (lines.out ? 22 : 0),
  }
}

function linesOf(spans: readonly TimelineSpan[]): LinesText | null {
  const changed = spans.map(({ attempt }) => attempt).filter((attempt) => filesOf(attempt) > 0)
  const added = sumOfLines(changed.map(({ lines }) => lines?.added ?? null))
  const deleted = sumOfLines(changed.map(({ lines }) => lines?.deleted ?? null))
  const out = changed.reduce((sum, attempt) => sum + outOfScope(attempt), 0)
  if (changed.length === 0 || added === null || deleted === null) return null
  return { added: `+${added}`, deleted: `−${deleted}`, out: out === 0 ? '' : `${out} out of scope` }
}

/** The files out of scope that no person approved. */
export function outOfScope({ lines }: TimelineAttemptData): number {
  return lines === null ? 0 : lines.out_of_scope - lines.out_of_scope_accepted
}

export function filesOf({ counts }: TimelineAttemptData): number {
  return counts === null ? 0 : counts.added + counts.modified + counts.deleted + counts.renamed
}

/** The status of several attempts is that of the last. */
export function barStatus(spans: readonly TimelineSpan[]): Status {
  const last = spans.at(-1)?.attempt
  return last === undefined ? 'active' : attemptStatus(last)
}

/** The attempt in words, for a reader who does not see the bar. */
export function describeSpan({ attempt, from, to }: TimelineSpan, now: number): string {
  const lines =
    attempt.lines?.added != null
      ? `, measured plus ${attempt.lines.added} minus ${attempt.lines.deleted} lines`
      : ''
  const outside = outOfScope(attempt)
  const out = outside > 0 ? `, ${formatCount(outside, 'file')} out of scope` : ''
  const who = attempt.agent ?? 'an unnamed agent'
  return `Attempt ${attempt.number} by ${who}, ${statuses[attemptStatus(attempt)].word}, ${durationText((to ?? now) - from)}${lines}${out}`
}

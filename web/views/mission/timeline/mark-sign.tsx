import type { MarkKind } from '../../../geometry/mark-layout.ts'

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

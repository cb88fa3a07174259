import type { ReadonlySignal } from '@preact/signals'
import { errorText } from '../../api/call.ts'
import { Skeleton } from '../../parts/empty-state.tsx'

/** A tab without its data. */
export function PendingTab({ failure }: { readonly failure: ReadonlySignal<unknown> }) {
  return (
    <div class="tab-page">
      {failure.value === null ? <Skeleton /> : <p role="alert">{errorText(failure.value)}</p>}
    </div>
  )
}

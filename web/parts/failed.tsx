import type { ReadonlySignal } from '@preact/signals'
import { told } from '../api/call.ts'

/** Why a view has nothing to show; nothing while it is still being read. */
export function Failed({ failure }: { readonly failure: ReadonlySignal<unknown> }) {
  if (failure.value === null) return null
  return (
    <div class="page-inner" role="alert">
      <h1>This could not be read</h1>
      <p class="muted">{told(failure.value)}</p>
    </div>
  )
}

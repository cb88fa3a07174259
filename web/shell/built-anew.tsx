import { useSignalEffect } from '@preact/signals'
import { session } from '../api/session.ts'
import { connection } from '../live/connection.ts'
import { base } from '../router/location.ts'
import { showToast } from './toasts.tsx'

/** After a lost connection another version may be serving: the page says so, and loads nothing by itself. */
export function BuiltAnew() {
  useSignalEffect(() => {
    if (connection.value.is !== 'live') return
    const known = session.peek()
    if (known === null || known === 'unknown person') return
    void fetch(`${base.peek()}/api/session`)
      .then((response) => response.json())
      .then((said: { readonly version?: string }) => {
        if (said.version === undefined || said.version === known.version) return
        showToast(
          { kind: 'said', text: `Waymark ${said.version} is serving now. Load the page anew to see it.` },
          60_000,
        )
      })
      .catch(() => undefined)
  })
  return null
}

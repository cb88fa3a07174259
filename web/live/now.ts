import { signal } from '@preact/signals'

/** The time, once a second for everybody who shows one. Stands still while nobody looks. */
export const now = signal(Date.now())

setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 1_000)

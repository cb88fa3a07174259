import { type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { JournalFact } from '../../api/answers.ts'
import { call, told } from '../../api/call.ts'
import { onFrame, onWhole } from '../../live/connection.ts'
import { showToast } from '../../shell/toasts.tsx'

/** The journal, newest first: the end of it, its tail as it happens, and older pages when they are asked for. */
export interface Facts {
  readonly facts: ReadonlySignal<readonly JournalFact[] | null>
  /** Whether there is more before the first one. */
  readonly hasOlder: ReadonlySignal<boolean>
  readonly older: () => void
}

const page = 500

export function useFacts(): Facts {
  const { stop, ...facts } = useMemo(readFacts, [])
  useEffect(() => stop, [stop])
  return facts
}

function readFacts(): Facts & { readonly stop: () => void } {
  const facts = signal<readonly JournalFact[] | null>(null)
  const hasOlder = signal(false)
  let busy: Promise<void> = Promise.resolve()
  let waiting = 0

  // One after another, so that no page is added twice.
  const inTurn = (read: () => Promise<void>) => {
    busy = busy.then(read).catch((error: unknown) => void showToast({ kind: 'refused', text: told(error) }))
  }
  const whole = () =>
    inTurn(async () => {
      const answer = await call('log', { limit: page })
      facts.value = answer.facts.toReversed()
      hasOlder.value = (answer.facts[0]?.seq ?? 1) > 1
    })
  const newer = async () => {
    waiting = 0
    const known = facts.value
    if (known === null) return
    const { facts: next } = await call('log', { since: known[0]?.seq ?? 0, limit: page })
    if (next.length > 0) facts.value = [...next.toReversed(), ...known]
  }
  const older = () =>
    inTurn(async () => {
      const known = facts.value ?? []
      const { facts: next } = await call('log', { before: known.at(-1)?.seq ?? 1, limit: page })
      facts.value = [...known, ...next.toReversed()]
      hasOlder.value = (next[0]?.seq ?? 1) > 1
    })
  const stops = [
    onFrame(() => {
      waiting ||= window.setTimeout(() => inTurn(newer), 200)
    }),
    onWhole(whole),
  ]
  whole()
  return {
    facts,
    hasOlder,
    older,
    stop: () => {
      clearTimeout(waiting)
      for (const stop of stops) stop()
    },
  }
}

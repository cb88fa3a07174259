import { setTimeout as sleep } from 'node:timers/promises'
import type { Fact } from '../../domain/fact.ts'
import type { Store } from '../../ports/store.ts'
import { linkFacts } from './linked-facts.ts'
import { shifted } from './shifted.ts'

export interface Playing {
  readonly store: Store
  readonly signal: AbortSignal
  /** How many times quicker than it was; null for everything at once. */
  readonly speed: number | null
}

/** Lets a recorded day happen again, so that its last fact arrives when it says that it happens. */
export async function play(facts: readonly Fact[], { store, signal, speed }: Playing): Promise<void> {
  const [first, last] = [facts[0]?.at ?? 0, facts.at(-1)?.at ?? 0]
  const begunAt = Date.now()
  if (speed === null) return store.restore(linkFacts(shifted(facts, begunAt - last)))
  const endsAt = begunAt + (last - first) / speed
  // The store makes the project itself, with the first fact of it.
  for (const { at, actor, happening } of shifted(facts.slice(1), Math.round(endsAt - last))) {
    await until(begunAt + (at - (endsAt - (last - first))) / speed, signal)
    if (signal.aborted) return
    await store.record({ actor, at, decide: async () => ({ happenings: [happening], answer: null }) })
  }
}

async function until(moment: number, signal: AbortSignal): Promise<void> {
  const left = moment - Date.now()
  if (left > 0) await sleep(left, undefined, { signal }).catch(() => undefined)
}

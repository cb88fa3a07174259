import { followEventLog } from '../../events/operations/follow.ts'
import { recordDue } from '../../inbox/operations/record-due.ts'
import { deliverNotice, leaseDueNotices, type NoticeSender } from './deliver.ts'

/** Milliseconds between rounds: without notifications, with notifications, and for items that become due by the clock. */
const rests = { unasked: 5_000, asked: 2_000, stale: 60_000 } as const

interface SendLoop {
  readonly sender: NoticeSender
  readonly signal: AbortSignal
  readonly failed: (error: unknown) => void
}

/** Tells people what happens in a project until the signal aborts; then what is being sent is ended. */
export async function runNotificationSender({ sender, signal, failed }: SendLoop): Promise<void> {
  const under = new Set<Promise<void>>()
  const bell = newBell(signal)
  let [position, stale, isFollowing] = [0, 0, false]
  while (!signal.aborted) {
    let isAsked = false
    try {
      const due = await leaseDueNotices(sender, position)
      position = due.position
      isAsked = due.isAsked
      for (const taken of due.taken) {
        const sending = deliverNotice(sender, taken, signal)
          .catch(failed)
          .finally(() => under.delete(sending))
        under.add(sending)
      }
      if (Math.abs(sender.clock.now() - stale) >= rests.stale) {
        stale = sender.clock.now()
        await recordDue(sender)
      }
    } catch (error) {
      failed(error)
    }
    if (isAsked && !isFollowing) {
      isFollowing = true
      void followEventLog(sender.store, { after: position, signal, pause: 1_000, hear: bell.ring, failed })
    }
    await bell.heard(isAsked ? rests.asked : rests.unasked)
  }
  await Promise.allSettled(under)
}

interface WakeSignal {
  readonly ring: () => void
  /** Resolves when it rings, or rang since, or after so many milliseconds. */
  readonly heard: (milliseconds: number) => Promise<void>
}

function newBell(signal: AbortSignal): WakeSignal {
  let rang = false
  let wake = () => {}
  signal.addEventListener('abort', () => wake(), { once: true })
  return {
    ring: () => {
      rang = true
      wake()
    },
    heard: (milliseconds) =>
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer)
          rang = false
          wake = () => {}
          resolve()
        }
        const timer = setTimeout(end, milliseconds)
        timer.unref?.()
        wake = end
        if (rang || signal.aborted) end()
      }),
  }
}

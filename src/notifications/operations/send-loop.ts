import { followEventLog } from '../../events/operations/follow.ts'
import { recordDue } from '../../inbox/operations/record-due.ts'
import { deliverNotice, leaseDueNotices, type NoticeSender } from './deliver.ts'

/** Milliseconds between rounds: without notifications, with notifications, and for items that become due by the clock. */
const rests = { idle: 5_000, active: 2_000, stale: 60_000 } as const

interface SendLoop {
  readonly sender: NoticeSender
  readonly signal: AbortSignal
  readonly onFailure: (error: unknown) => void
}

/** Sends notifications of a project until the signal aborts; messages being sent are finished. */
export async function runNotificationSender({ sender, signal, onFailure }: SendLoop): Promise<void> {
  const running = new Set<Promise<void>>()
  const bell = newBell(signal)
  let [position, stale, isFollowing] = [0, 0, false]
  while (!signal.aborted) {
    let hasNotifications = false
    try {
      const due = await leaseDueNotices(sender, position)
      position = due.position
      hasNotifications = due.hasNotifications
      for (const leased of due.leasedNotices) {
        const sending = deliverNotice(sender, leased, signal)
          .catch(onFailure)
          .finally(() => running.delete(sending))
        running.add(sending)
      }
      if (Math.abs(sender.clock.now() - stale) >= rests.stale) {
        stale = sender.clock.now()
        await recordDue(sender)
      }
    } catch (error) {
      onFailure(error)
    }
    if (hasNotifications && !isFollowing) {
      isFollowing = true
      void followEventLog(sender.store, {
        after: position,
        signal,
        pause: 1_000,
        hear: bell.ring,
        onFailure,
      })
    }
    await bell.waitForRing(hasNotifications ? rests.active : rests.idle)
  }
  await Promise.allSettled(running)
}

interface WakeSignal {
  readonly ring: () => void
  /** Resolves when it rings, rang since, or after `milliseconds`. */
  readonly waitForRing: (milliseconds: number) => Promise<void>
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
    waitForRing: (milliseconds) =>
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

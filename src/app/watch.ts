import { messageOf } from '../kernel/failure.ts'
import { noticeMessage as messageOfNotice } from '../notifications/domain/notice.ts'
import { runNotificationSender } from '../notifications/operations/send-loop.ts'
import { messenger } from '../notifications/senders/messenger.ts'
import { printError, processTerminal } from '../surfaces/cli/terminal.ts'
import { type InboxNoticeCard, watch } from '../surfaces/cli/watch/watch.ts'
import { endSignal } from './process.ts'
import { version } from './program.ts'
import { readWatchFlags } from './settings/flags.ts'
import { openWatchedProject, type WatchedProject } from './watched-project.ts'

/** `waymark watch`: prints new inbox items until a signal ends it. */
export async function watchProject(words: readonly string[]): Promise<void> {
  const { json, all, notify, project } = readWatchFlags(words)
  const ending = new AbortController()
  void endSignal(['SIGINT', 'SIGTERM', 'SIGHUP']).then(() => ending.abort())
  const terminal = processTerminal()
  const watched = await openWatchedProject(project, (sentence) => printError(`waymark: ${sentence}\n`))
  const { signal } = ending
  try {
    const telling = notify ? startNotifying(watched, signal) : null
    const options = { json, all, ...(telling && { notify: telling.show }) }
    await watch(watched, options, { terminal, signal })
    await telling?.done
  } finally {
    await watched.close()
  }
}

/** Sends notifications as a server would, and shows each item on this desktop if that is not set up. */
function startNotifying({ context, name }: WatchedProject, signal: AbortSignal) {
  const printFailure = (error: unknown) => printError(`waymark: ${messageOf(error)}\n`)
  const own =
    context?.messenger ?? messenger(process.env, { agent: `waymark/${version}`, reachesPrivate: true })
  const sender = context && { ...context, project: () => name, link: () => null }
  const done =
    sender === null ? Promise.resolve() : runNotificationSender({ sender, signal, onFailure: printFailure })
  let lastError = ''
  const show = ({ notice, taskName, missionName }: InboxNoticeCard): void => {
    const message = messageOfNotice({ ...notice, taskName, missionName, project: name, link: null })
    void hasOwnDesktopNotification(context).then(async (isShown) => {
      if (isShown) return
      const delivery = await own.show(message, signal)
      if (delivery.isDelivered || delivery.error === lastError) return
      lastError = delivery.error
      printError(`waymark: ${lastError}\n`)
    }, printFailure)
  }
  return { done, show }
}

/** Whether this machine's desktop already gets notifications. */
async function hasOwnDesktopNotification(context: WatchedProject['context']): Promise<boolean> {
  if (context === null) return false
  const listed = await context.store.view(({ notifications }) => notifications.all())
  return listed.some(({ item }) => item.machine === context.messenger.machine)
}

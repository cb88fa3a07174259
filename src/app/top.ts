import { setTimeout as sleep } from 'node:timers/promises'
import { Failure, messageOf } from '../kernel/failure.ts'
import { printError, screenStreams } from '../surfaces/cli/terminal.ts'
import { readTopFlags } from './settings/flags.ts'
import { beforeUnexpectedEnd } from './unexpected-errors.ts'
import { openWatchedProject } from './watched-project.ts'

/** Milliseconds until a signal to this process itself has arrived. */
const reached = 100

/** `waymark top`: a live full screen, until the person leaves. */
export async function topOfProject(words: readonly string[]): Promise<void> {
  const { project } = readTopFlags(words)
  const streams = screenStreams()
  if (streams === null) {
    throw new Failure('REFUSED', 'waymark top needs a terminal.', {
      reason: 'terminal_needed',
      hint: 'waymark status shows the same once; waymark watch prints what needs you as it happens.',
    })
  }
  // The full screen shows the error itself.
  const watched = await openWatchedProject(project, () => undefined)
  const { ask } = watched
  try {
    const [{ showTop }, { cardsOf }] = await Promise.all([
      import('../surfaces/cli/top/app.ts'),
      import('../surfaces/cli/top/actions.ts'),
    ])
    const head = await watched.head()
    const screen = showTop(
      {
        project: watched.name,
        read: async () => ({
          cards: cardsOf(await ask('inbox', { limit: 100, include: ['evidence'] })),
          work: await ask('status', {}),
          missions: await ask('list_missions', { limit: 50 }),
        }),
        follow: (changed, signal) => {
          watched
            .follow(head, signal, async () => changed())
            .catch((error: unknown) => printError(`waymark: ${messageOf(error)}\n`))
        },
        act: (operation, input) => ask(operation, input),
        pause: async () => {
          process.kill(process.pid, 'SIGTSTP')
          await sleep(reached)
        },
      },
      streams,
    )
    beforeUnexpectedEnd(screen.close)
    await screen.left
  } finally {
    await watched.close()
  }
}

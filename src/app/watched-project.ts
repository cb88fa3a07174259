import { basename } from 'node:path'
import { type FollowableStore, followEventLog } from '../events/operations/follow.ts'
import { Failure, messageOf } from '../kernel/failure.ts'
import { catalog, type OperationName, type OutputOf } from '../kernel/operations/catalog.ts'
import { invoke } from '../kernel/operations/invoke.ts'
import type { Answer, Context } from '../kernel/operations/operation.ts'
import { toCommandLineFailure } from '../surfaces/cli/failures.ts'
import type { WatchTarget } from '../surfaces/cli/watch/watch.ts'
import { closeContext, openContext } from './open-context.ts'
import { connectedPlace } from './remote/remote-project-location.ts'
import { commandLineActor } from './settings/actor.ts'
import { userName } from './settings/environment.ts'
import { personName } from './settings/person-name.ts'

/** A project that is watched for a while, local or at a server. */
export interface WatchedProject extends WatchTarget {
  readonly ask: <Name extends OperationName>(name: Name, input: Answer) => Promise<OutputOf<Name>>
  /** The name of the project here. */
  readonly name: string
  /** Null for a project at a server. */
  readonly context: Context | null
  readonly close: () => Promise<void>
}

/** `onFailure` is called with a read error once, until reading works again. */
export async function openWatchedProject(
  project: string | undefined,
  onFailure: (sentence: string) => void,
): Promise<WatchedProject> {
  const environment = process.env
  const workingFolder = process.cwd()
  const actor = commandLineActor(environment, userName(), personName(environment, workingFolder))
  const place = connectedPlace({ project, environment, workingFolder })
  if (place) {
    const { askServer } = await import('./remote/command-line-remote.ts')
    const { ask, log, close } = askServer(place, { actor, environment, workingFolder, project })
    return createWatchedProject({
      ask: (name, input) => ask(operationOf(name), input, {}),
      log,
      close,
      context: null,
      onFailure,
    })
  }
  const context = openContext({ actor, environment, workingFolder, project })
  return createWatchedProject({
    ask: (name, input) => invoke(operationOf(name), context, input),
    log: context.store,
    close: () => closeContext(context),
    context,
    onFailure,
  })
}

function operationOf(name: OperationName) {
  const operation = catalog.find((one) => one.name === name)
  if (!operation)
    throw new Failure('INTERNAL', `This version of Waymark has no operation ${name}.`, {
      reason: 'operation_unknown',
    })
  return operation
}

interface WatchConnection {
  readonly ask: (name: OperationName, input: Answer) => Promise<Answer>
  readonly log: FollowableStore
  readonly close: () => Promise<void>
  readonly context: Context | null
  readonly onFailure: (sentence: string) => void
}

/** The pause after a read error, in milliseconds. */
const pause = 1_000

function createWatchedProject({ ask, log, close, context, onFailure }: WatchConnection): WatchedProject {
  const query: WatchedProject['ask'] = async (name, input) => {
    try {
      return (await ask(name, input)) as never // as it declares
    } catch (error) {
      throw error instanceof Failure ? toCommandLineFailure(error, catalog) : error
    }
  }
  return {
    ask: query,
    inbox: (input) => query('inbox', input),
    titles: async (projectEvents) => {
      const [first] = projectEvents
      if (first === undefined) return new Map()
      const { titles } = await query('log', {
        since: first.seq - 1,
        limit: Math.min(projectEvents.length, 1000),
      })
      return new Map(Object.entries(titles))
    },
    head: () => log.view(({ eventLog }) => eventLog.head()),
    follow: async (after, signal, hear) => {
      let reported = ''
      const failedToRead = (error: unknown) => {
        const sentence = messageOf(error)
        if (sentence !== reported) onFailure(sentence)
        reported = sentence
      }
      await followEventLog(log, { after, signal, pause, hear, onFailure: failedToRead })
    },
    name: basename(context?.folder ?? process.cwd()),
    context,
    close,
  }
}

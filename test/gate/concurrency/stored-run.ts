import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { openContext } from '../../../src/app/open-context.ts'
import { transition } from '../../../src/gate/domain/engine.ts'
import { type Artifact, nothingObserved } from '../../../src/gate/domain/evidence.ts'
import { beginRun, type Run, type RunEvent, type StoredArtifact } from '../../../src/gate/domain/run.ts'
import type { LoadedRun } from '../../../src/gate/ports/run-reads.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { agentActor } from '../../support/project.ts'
import { serverEnvironment } from '../../support/stdio-project.ts'

/** The store of a project as one more process would open it. */
export function storeIn(folder: string): Store {
  const environment = serverEnvironment(join(folder, '..'))
  const { store } = openContext({ actor: agentActor, environment, workingFolder: folder })
  onTestFinished(() => store.close())
  return store
}

export interface StoredRun {
  readonly loaded: LoadedRun
  /** Oldest first. */
  readonly events: readonly RunEvent[]
}

/** A run with its whole history, in one view. */
export function storedRun(store: Store, run: string): Promise<StoredRun> {
  return store.view(async ({ runs }) => {
    const loaded = await runs.load(run)
    if (!loaded) throw new Error(`no run ${run}`)
    const newestFirst: RunEvent[] = []
    for (let before: number | undefined; ; ) {
      const { items } = await runs.history(loaded.record.id, {
        limit: 500,
        ...(before !== undefined && { before }),
      })
      newestFirst.push(...items.map(({ item }) => item))
      before = items.at(-1)?.seq
      if (before === undefined) break
    }
    return { loaded, events: newestFirst.reverse() }
  })
}

type Standings = (path: string, revision: number) => Artifact['status']

/** Expects revisions without gap or duplicate, and that the pure engine makes of the history what is stored. */
export function expectReplays({ loaded, events }: StoredRun, standingAt: Standings = () => 'current'): void {
  const { record } = loaded
  expect(events.map(({ revision }) => revision)).toEqual(events.map((_, at) => at + 2))
  const replayed = events.reduce<Run>(
    (run, event) => replay(loaded, { run, event, standingAt }),
    beginRun(loaded.definition),
  )
  const { state, revision, context, visits, artifacts } = replayed
  expect({ state, revision, context }).toEqual({
    state: record.state,
    revision: record.revision,
    context: record.context,
  })
  expect(visits).toEqual(loaded.visits)
  expect(inOrder(artifacts)).toEqual(inOrder(loaded.artifacts))
}

interface Replaying {
  readonly run: Run
  readonly event: RunEvent
  readonly standingAt: Standings
}

function replay({ definition }: LoadedRun, { run, event, standingAt }: Replaying): Run {
  const before: Run = {
    ...run,
    artifacts: run.artifacts.map((kept) => ({ ...kept, status: standingAt(kept.path, event.revision) })),
  }
  const isForPeople = definition.roles.find(({ name }) => name === event.role)?.kind === 'human'
  const result = transition(definition, before, {
    event: event.event,
    payload: event.payload,
    artifacts: event.artifacts.map((kept) => ({ ...kept, status: 'current' })),
    emitter: { role: event.role, kind: isForPeople ? 'person' : 'agent' },
    expectedRevision: event.revision - 1,
    observed: nothingObserved,
    assumed: [],
  })
  if (!result.accepted) throw new Error(`revision ${event.revision}: ${result.code}: ${result.message}`)
  const { from, to, stateChanged, unsatisfied } = result
  expect({ from, to, stateChanged }).toEqual({
    from: event.from,
    to: event.to,
    stateChanged: event.stateChanged,
  })
  expect(unsatisfied.map(({ name, reason }) => `${name}: ${reason}`)).toEqual(event.unsatisfied)
  return result.run
}

function inOrder(artifacts: readonly (StoredArtifact | Artifact)[]) {
  return artifacts
    .map(({ type, path, bytes, sha256, revision }) => ({ type, path, bytes, sha256, revision }))
    .toSorted((a, b) => `${a.type} ${a.path}`.localeCompare(`${b.type} ${b.path}`))
}

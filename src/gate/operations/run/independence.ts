import { identityOf } from '../../../kernel/actor.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { isOfType } from '../../domain/artifacts.ts'
import type { ProcessDefinition } from '../../domain/definition.ts'
import type { Independence } from '../../domain/evidence.ts'
import type { LoadedRun } from '../../ports/run-reads.ts'
import { subjectOf } from './find-run.ts'

/** A contributor to the approved work, with the person behind it; null if unknown. */
export interface Worker {
  readonly name: string
  readonly person: string | null
}

interface Approver {
  readonly name: string
  readonly identity: string | null
}

/** Whether a guard requires an approver who did none of the work, not even by an agent. */
export function requiresIndependence(
  { guards }: ProcessDefinition,
  { role, artifact }: { readonly role: string; readonly artifact: string | null },
): boolean {
  return guards.some(
    ({ guard }) =>
      guard.type === 'approval' &&
      guard.independent === true &&
      guard.role === role &&
      guard.artifact === artifact,
  )
}

/** The person behind an identity: of their session, or of their agent's token. */
export async function personOfIdentity(
  { identities }: Reads,
  identity: string | null,
): Promise<string | null> {
  const [, person] = /^person person:(\S+)$/.exec(identity ?? '') ?? []
  if (person !== undefined) return person
  const [, token] = /^agent token:(tk-\S+)$/.exec(identity ?? '') ?? []
  return token === undefined ? null : ((await identities.token(token))?.personId ?? null)
}

/** All contributors to the run's mission or task, and the submitters and senders of the approved content. */
export async function workersOf(
  reads: Reads,
  { record, definition, artifacts }: LoadedRun,
  of: string | null,
  others: readonly Approver[],
): Promise<readonly Worker[]> {
  const subject = subjectOf(record)
  // Abandoned attempts are part of the work, too.
  const actors = subject === null ? [] : await reads.runs.actorsOf(subject)
  const worked = actors.map((actor) => ({
    name: actor.name,
    identity: identityOf(actor),
    person: actor.person ?? null,
  }))
  const submitted = artifacts
    .filter((file) => of === null || isOfType(definition.artifacts, file, of))
    .map(({ author, identity = null }) => ({ name: author, identity, person: null }))
  const all = [...worked, ...submitted, ...others.map((other) => ({ ...other, person: null }))]
  const people = new Map<string, Promise<string | null>>()
  return Promise.all(
    all.map(async ({ name, identity, person }) => {
      if (person !== null) return { name, person }
      const behind = people.get(identity ?? '') ?? personOfIdentity(reads, identity)
      people.set(identity ?? '', behind)
      return { name, person: await behind }
    }),
  )
}

/** Whether a person is independent of the workers. A worker without a known person may work for anyone. */
export function independenceOf(person: string | null, workers: readonly Worker[]): Independence {
  if (person === null) return 'unknown'
  if (workers.some((worker) => worker.person === person)) return 'own'
  return workers.some((worker) => worker.person === null) ? 'unknown' : 'independent'
}

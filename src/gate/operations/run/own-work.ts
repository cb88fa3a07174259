import { type Actor, type Author, identityOf, isAuthoredBy } from '../../../kernel/actor.ts'
import type { RecordContext } from '../../../kernel/operations/operation.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { isOfChanges } from '../../domain/approved-content.ts'
import type { ProcessDefinition } from '../../domain/definition.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { LoadedRun } from '../../ports/run-reads.ts'
import { subjectOf } from './find-run.ts'

/** Whether a person worked on a mission or task whose process asks for an approval of the measured changes. */
export async function hasOwnWork(
  reads: Reads,
  { definition, record }: Pick<LoadedRun, 'definition' | 'record'>,
  actor: Actor,
): Promise<boolean> {
  if (actor.kind !== 'person' || !approvesChanges(definition)) return false
  return (await peopleAtWork(reads, record)).some((author) => isAuthoredBy(author, actor))
}

/** Whether a guard of a process asks people to approve the measured changes, which no one approves of their own work. */
function approvesChanges(definition: ProcessDefinition): boolean {
  return definition.guards.some(
    ({ guard }) => guard.type === 'approval' && isOfChanges(definition, guard.artifact),
  )
}

/** Says before the work that a person who does it cannot approve it; empty where no one is asked to. */
export function ownWorkNotes(
  definition: ProcessDefinition,
  { actor, permissions }: Pick<RecordContext, 'actor' | 'permissions'>,
): readonly string[] {
  if (actor.kind !== 'person' || !approvesChanges(definition)) return []
  const other = isAlone(permissions)
    ? 'let agents do the tasks, over MCP, and approve their work'
    : 'another person must approve it, or an agent do the task'
  return [
    `When the work is done, ${definition.name} asks a person to approve the changes. You cannot approve work that you record yourself: ${other}.`,
  ]
}

/** The people who worked on a run's mission or task themselves. */
export async function peopleAtWork({ runs }: Reads, record: RunRecord): Promise<readonly Author[]> {
  const subject = subjectOf(record)
  return subject === null ? [] : peopleAmong(await runs.actorsOf(subject))
}

/** The people among those who worked, as authors. */
export function peopleAmong(actors: readonly Actor[]): readonly Author[] {
  return actors
    .filter(({ kind }) => kind === 'person')
    .map((actor) => ({
      name: actor.name,
      identity: actor.identity === undefined ? null : identityOf(actor),
    }))
}

/** Whether a project has one person: no server with people gives permissions. */
export function isAlone(permissions: RecordContext['permissions']): boolean {
  return !permissions || permissions.user !== undefined
}

/** How a run ends without an approval that nobody can give, step by step. */
export function waysOut({
  id,
  missionId,
}: RunRecord): readonly { readonly verb: string; readonly command: string }[] {
  return [
    { verb: 'End the run without an approval', command: `waymark run cancel ${id} "<reason>"` },
    ...(missionId === null
      ? []
      : [
          {
            verb: 'Then complete the mission',
            command: `waymark mission complete ${missionId} --status completed --summary "<summary>"`,
          },
        ]),
  ]
}

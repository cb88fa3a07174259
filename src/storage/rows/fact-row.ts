import type { Actor } from '../../domain/actor.ts'
import type { Fact, Happening } from '../../domain/fact.ts'
import { canonical, sha256 } from '../fingerprint.ts'
import type { FactTable } from '../schema/journal-tables.ts'
import { parsed } from './json.ts'

type FactText = Omit<FactTable, 'project_id' | 'hash'>

/** The hash that the first fact of a project follows. */
export const beforeFirst = ''

/** sha256 of the hash before and the canonical JSON of [seq, at, kind, version, actor, channel, body]. */
export function factHash(before: string, fact: FactText): string {
  const { seq, at, kind, version, actor, channel, body } = fact
  const head = `[${seq},${at},${JSON.stringify(kind)},${version}`
  return sha256(`${before}${head},${actor},${JSON.stringify(channel)},${body}]`)
}

export interface Moment {
  readonly projectId: string
  readonly at: number
  readonly actor: Actor
}

/** The rows of consecutive facts, each hashed over the one before. */
export function factRows(
  moment: Moment,
  happenings: readonly Happening[],
  after: { readonly seq: number; readonly head: string },
): readonly FactTable[] {
  const { channel, ...who } = moment.actor
  let before = after.head
  return happenings.map(({ kind, ...body }, index) => {
    const text: FactText = {
      seq: after.seq + 1 + index,
      at: moment.at,
      kind,
      version: versionOf[kind],
      actor: canonical(who),
      channel,
      body: canonical(body),
    }
    before = factHash(before, text)
    return { project_id: moment.projectId, ...text, hash: before }
  })
}

/** The shape of each kind's body. It grows when an old body can no longer be read as a new one. */
const versionOf = {
  'project.created': 1,
  'mission.started': 1,
  'mission.ended': 1,
  'mission.extended': 1,
  'mission.reopened': 1,
  'phase.created': 1,
  'phase.reopened': 1,
  'phase.completed': 1,
  'task.planned': 1,
  'attempt.opened': 1,
  'attempt.closed': 1,
  'attempt.abandoned': 1,
  'attempt.corrected': 1,
  'attempt.continued': 1,
  'decision.logged': 1,
  'issue.logged': 1,
  'progress.logged': 1,
  'hold.opened': 1,
  'hold.closed': 1,
  'phase.edited': 1,
  'milestone.created': 1,
  'milestone.edited': 1,
  'task.edited': 1,
  'task.marked': 1,
  'task.dropped': 1,
  'task.forced': 1,
  'task.claimed': 1,
  'claim.ended': 1,
  'dependency.added': 1,
  'dependency.removed': 1,
  'note.added': 1,
  'role.declared': 1,
  'process.kept': 1,
  'run.created': 1,
  'run.advanced': 1,
  'run.migrated': 1,
  'run.cancelled': 1,
  'run.refused': 1,
  'run.approved': 1,
  'setting.changed': 1,
  'command.revoked': 1,
  'command.started': 1,
  'command.ended': 1,
} as const satisfies Record<Happening['kind'], number>

export function factOf(row: FactTable): Fact {
  const who = parsed<Omit<Actor, 'channel'>>(row.actor)
  return {
    seq: row.seq,
    at: row.at,
    version: row.version,
    actor: { ...who, channel: row.channel as Actor['channel'] }, // as it was written
    happening: { kind: row.kind, ...parsed<object>(row.body) } as Happening, // as it was written
    hash: row.hash,
  }
}

import type { RecordContext } from '../../../kernel/operations/operation.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { eventNamed, type ProcessDefinition } from '../../domain/definition.ts'
import { emitterObjection } from '../../domain/transitions.ts'
import { emitterOf } from './emitter.ts'

const maxNamed = 5

/** Who may send an event that the calling person may not; null if they may. */
export async function otherSender(
  { identities }: Pick<Reads, 'identities'>,
  context: Pick<RecordContext, 'actor' | 'permissions'>,
  { definition, event }: { readonly definition: ProcessDefinition; readonly event: string },
): Promise<string | null> {
  if (context.actor.kind !== 'person') return null
  const { channel: _, ...emitter } = emitterOf(context, definition, event)
  if (emitterObjection(definition, event, emitter) === null) return null
  const allowed = eventNamed(definition, event)?.allowedRoles ?? []
  const forPeople = definition.roles.flatMap(({ name, kind }) => (kind === 'human' ? name : []))
  const members = (await identities.members()).flatMap(({ member, person }) => {
    const role = allowed.find((one) => forPeople.includes(one) && member.roles.includes(one))
    return role === undefined ? [] : `${person.name} (${role})`
  })
  const isForAgents = allowed.some((role) => !forPeople.includes(role))
  return [...members.slice(0, maxNamed), ...(isForAgents ? ['an agent'] : [])].join(' or ') || 'nobody'
}

import type { CommandContext } from '../../../kernel/operations/operation.ts'
import type { ProcessDefinition } from '../../domain/definition.ts'
import { eventNamed } from '../../domain/definition.ts'
import { type Emitter, emitterFor } from '../../domain/event-request.ts'

/**
 * The role of the caller who emits an event. On a team server people act in their gate roles of the project. An agent never
 * has a role that the process reserves for people, even if its token has it.
 */
export function emitterOf(
  { actor, permissions }: Pick<CommandContext, 'actor' | 'permissions'>,
  definition: ProcessDefinition,
  event: string,
  requestedRole?: string,
): Emitter {
  if (!permissions || permissions.user !== undefined)
    return emitterFor(definition, event, { actor, requestedRole })
  const allowed = eventNamed(definition, event)?.allowedRoles ?? []
  const own = permissions.roles.find((role) => allowed.includes(role))
  const emitter = emitterFor(definition, event, { actor, requestedRole: requestedRole ?? own })
  const human = definition.roles.some(({ name, kind }) => name === emitter.role && kind === 'human')
  const has =
    actor.kind === 'person' ? emitter.role !== null && permissions.roles.includes(emitter.role) : !human
  // People need no role for events open to everybody, nor for roles that the process does not reserve for people.
  return has || (actor.kind === 'person' && !human) ? emitter : { ...emitter, role: null }
}

import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import { didYouMean } from '../../kernel/nearest-word.ts'
import { choice, identifier, name, unlistedField } from '../../kernel/operations/input/fields.ts'
import type { Answer } from '../../kernel/operations/operation.ts'
import { shellCommand } from '../../kernel/shell-word.ts'
import type { Reads } from '../../store/ports/store.ts'
import { knownRoles, taskStatuses } from '../domain/plan.ts'

const statusSynonyms = {
  todo: 'to_do',
  pending: 'to_do',
  doing: 'in_progress',
  started: 'in_progress',
  completed: 'done',
  complete: 'done',
  closed: 'done',
} as const

export const statusField = (description: string) =>
  choice(taskStatuses, description, { ...statusSynonyms, open: 'to_do' })

/** As a filter, "open" might mean tasks in progress too: it is refused. */
export const statusFilterField = choice(taskStatuses, 'Status', statusSynonyms)

export const reachedField = choice(['0', '1'], '1=reached', {
  false: '0',
  no: '0',
  true: '1',
  yes: '1',
})

export const sortOrderField = z.int().describe('Display order')

/** taskman's option; agents read JSON as well, so their tool list omits it. */
export const formatField = unlistedField(choice(['json', 'text'], 'Output format'))

export const missionField = identifier('Mission ID, instead of the project’s plan')

/** For queries: without it, every open plan. */
export const spanField = identifier('Only of this mission; "none": the project’s own')

export const assigneeField = name('Agent or role to do it')

export const roleField = identifier('Role, such as developer')

/** A role of taskman, or one that the project declared. */
export async function assertRole(reads: Reads, role: string | undefined): Promise<void> {
  if (role === undefined || knownRoles.some((knownRole) => knownRole === role)) return
  const declared = await reads.plan.roles()
  if (declared.includes(role)) return
  const roles = [...knownRoles, ...declared]
  const guess = didYouMean(role, roles)
  throw new Failure(
    'INVALID_INPUT',
    `"role" cannot be "${role}": choose one of ${roles.join(', ')}.${guess}`,
    {
      reason: 'role_unknown',
      hint: `A project declares its own with: ${shellCommand`waymark role add ${role}`}`,
    },
  )
}
export const briefField = z.boolean().describe('Return only id, ready, blocked')

/** The option for phases and milestones, whose answers are short anyway. */
export const briefIdField = unlistedField(z.boolean().describe('Return only the id'))

export function briefTask(task: Answer): Answer {
  const { id, status, blocked, claimed_by } = task
  return { id, ready: status === 'to_do' && blocked === false && claimed_by === null, blocked }
}

export function briefEntity({ id }: Answer): Answer {
  return { id }
}

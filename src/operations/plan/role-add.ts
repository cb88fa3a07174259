import { z } from 'zod'
import { knownRoles } from '../../domain/plan/plan.ts'
import { defineOperation } from '../operation.ts'

export const roleAdd = defineOperation({
  name: 'role_add',
  command: 'role add',
  toolset: 'plan',
  audience: 'person',
  title: 'Declare a role',
  description: 'Declare a role of this project, besides the known ones',
  kind: 'command',
  idempotent: true,
  positional: ['role'],
  input: z.strictObject({
    role: z
      .string()
      .max(60)
      .regex(/^[a-z][a-z0-9-]*$/, 'use lower case letters, digits and hyphens')
      .describe('The role, such as data-engineer'),
  }),
  output: z.looseObject({ role: z.string(), roles: z.array(z.string()) }),
}).handler(({ record }, { role }) =>
  record(async ({ plan }) => {
    const roles = [...knownRoles, ...(await plan.roles())]
    if (roles.includes(role)) return { happenings: [], answer: { role, roles } }
    return { happenings: [{ kind: 'role.declared', role }], answer: { role, roles: [...roles, role] } }
  }),
)

import { z } from 'zod'
import { instant } from '../../kernel/instant.ts'
import { Named, strings } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { accesses } from '../domain/access.ts'

export const whoami = defineOperation({
  name: 'whoami',
  command: 'whoami',
  toolset: 'track',
  audience: 'both',
  ofServer: true,
  title: 'Show who you are and what you may do',
  description: 'Show the name that your actions are recorded under, and your access to this project.',
  kind: 'query',
  input: z.strictObject({}),
  output: z.object({
    name: z.string(),
    kind: z.enum(['agent', 'person']),
    role: z.string().nullable(),
    channel: z.string(),
    /** Null where the server knows no persons. */
    person: Named.nullable(),
    admin: z.boolean(),
    /** What you may do here; null where it is not restricted, or you are no member. */
    access: z.enum(accesses).nullable(),
    /** Whether access is asked about at all: only where the server has a database that knows persons. */
    restricted: z.boolean(),
    /** What the token lets at most, whatever you may yourself; null where it sets no limit. */
    max_access: z.enum(accesses).nullable(),
    roles: strings,
    token_id: z.string().nullable(),
    session_id: z.string().nullable(),
    expires_at: z.string().nullable(),
  }),
}).handler(({ actor: { name, kind, role, channel }, permissions: standing }) =>
  Promise.resolve({
    name,
    kind,
    role,
    channel,
    person: standing ? { id: standing.personId, name: standing.personName } : null,
    admin: standing?.admin ?? false,
    access: standing?.access ?? null,
    restricted: standing !== undefined,
    max_access: standing?.most ?? null,
    roles: standing?.roles ?? [],
    token_id: standing?.tokenId ?? null,
    session_id: standing?.sessionId ?? null,
    expires_at: standing ? instant(standing.expiresAt) : null,
  }),
)

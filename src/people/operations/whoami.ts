import { z } from 'zod'
import { instant } from '../../kernel/instant.ts'
import { Named, strings } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { accesses } from '../domain/access.ts'
import type { TeamReader } from '../ports/team.ts'

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
    /** Null on a server without people. */
    person: Named.nullable(),
    admin: z.boolean(),
    /** Null if access is not restricted, or you are not a member. */
    access: z.enum(accesses).nullable(),
    /** Whether access is restricted: only on a server with people. */
    restricted: z.boolean(),
    /** The limit of the token; null if it has none. */
    max_access: z.enum(accesses).nullable(),
    roles: strings,
    token_id: z.string().nullable(),
    session_id: z.string().nullable(),
    expires_at: z.string().nullable(),
    note: z.string().optional(),
  }),
}).handler(async ({ actor: { name, kind, role, channel }, permissions, team }) => {
  const isOutsider = !permissions && team?.owner === null && (await hasPeople(team))
  return {
    name,
    kind,
    role,
    channel,
    person: permissions ? { id: permissions.personId, name: permissions.personName } : null,
    admin: permissions?.admin ?? false,
    access: permissions?.access ?? null,
    restricted: permissions !== undefined,
    max_access: permissions?.most ?? null,
    roles: permissions?.roles ?? [],
    token_id: permissions?.tokenId ?? null,
    session_id: permissions?.sessionId ?? null,
    expires_at: permissions ? instant(permissions.expiresAt) : null,
    ...(isOutsider && {
      note: `WAYMARK_DATABASE is set: you write the database itself, and the log names this machine's user, ${name}. To act as a person of the team, unset it and use waymark connect.`,
    }),
  }
})

async function hasPeople({ store }: TeamReader): Promise<boolean> {
  return (await store.view(({ identities }) => identities.people())).length > 0
}

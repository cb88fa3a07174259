/** What a member may do in a project, each with all that those before it may. */
export const accesses = ['viewer', 'contributor', 'maintainer', 'owner'] as const
export type Access = (typeof accesses)[number]

/** What an operation asks of who calls it: access in the project, or to be an admin of the server. */
export const neededAccesses = [...accesses, 'admin'] as const
export type NeededAccess = (typeof neededAccesses)[number]

/** Who calls, where a server knows its persons, and what they may in the project that is asked about. */
export interface CallerPermissions {
  readonly personId: string
  readonly personName: string
  /** Null for who signed in without one. */
  readonly tokenId: string | null
  readonly sessionId: string | null
  /** Null for who is no member of the project. */
  readonly access: Access | null
  readonly admin: boolean
  /** What their token lets at most, whatever they may themselves; absent where it sets no limit. */
  readonly most?: Access
  /** The gate roles that the person has in the project. */
  readonly roles: readonly string[]
  /** When their token or session ends, milliseconds since the epoch. */
  readonly expiresAt: number
  /** The user of the machine, where the server is theirs alone: they act in every gate role, as at the command line. */
  readonly user?: string
}

/** Whether somebody acts in a gate role of the project. */
export function hasGateRole(
  { roles, user }: Pick<CallerPermissions, 'roles' | 'user'>,
  role: string,
): boolean {
  return user !== undefined || roles.includes(role)
}

export function hasAccess(
  { access, admin }: Pick<CallerPermissions, 'access' | 'admin'>,
  needed: NeededAccess,
): boolean {
  if (needed === 'admin') return admin
  return access !== null && accesses.indexOf(access) >= accesses.indexOf(needed)
}

/** What a token that only reads is refused: a viewer may decide of their own, and such a token decides nothing. */
export function isReadOnlyAccess(
  { most }: Pick<CallerPermissions, 'most'>,
  kind: 'query' | 'command',
): boolean {
  return most === 'viewer' && kind === 'command'
}

/** The lesser of two: a token never lets more than the person who has it, an agent no more than work. */
export function lowerAccess(access: Access, most: Access): Access {
  return accesses.indexOf(access) <= accesses.indexOf(most) ? access : most
}

/** What it lets one do, as the rest of a sentence. */
export const accessWords: Readonly<Record<Access, string>> = {
  viewer: 'reads',
  contributor: 'works: uses tools, writes notes, creates tokens for their agents',
  maintainer: 'decides: inbox, approvals, commands, changes to the plan',
  owner: 'manages members, and revokes tokens',
}

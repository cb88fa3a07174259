/** The access levels of members; each includes those before it. */
export const accesses = ['viewer', 'contributor', 'maintainer', 'owner'] as const
export type Access = (typeof accesses)[number]

/** The access that an operation needs: a level in the project, or admin of the server. */
export const neededAccesses = [...accesses, 'admin'] as const
export type NeededAccess = (typeof neededAccesses)[number]

/** The caller's permissions in the current project, on a team server. */
export interface CallerPermissions {
  readonly personId: string
  readonly personName: string
  /** Null if they signed in without one. */
  readonly tokenId: string | null
  readonly sessionId: string | null
  /** Null if they are not a member of the project. */
  readonly access: Access | null
  readonly admin: boolean
  /** The limit of their token; absent if there is none. */
  readonly most?: Access
  /** The gate roles that the person has in the project. */
  readonly roles: readonly string[]
  /** When their token or session expires, in milliseconds since the epoch. */
  readonly expiresAt: number
  /** The user of a single-user server: they act in every gate role, as at the command line. */
  readonly user?: string
}

/** Whether a caller has a gate role of the project. */
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

/** The refusal for a read-only token: a viewer may manage their own things, such a token may not. */
export function isReadOnlyAccess(
  { most }: Pick<CallerPermissions, 'most'>,
  kind: 'query' | 'command',
): boolean {
  return most === 'viewer' && kind === 'command'
}

/** The lower of two levels: a token never permits more than its owner has, an agent no more than contributor. */
export function lowerAccess(access: Access, most: Access): Access {
  return accesses.indexOf(access) <= accesses.indexOf(most) ? access : most
}

/** The meaning of an access level, as the rest of a sentence. */
export const accessWords: Readonly<Record<Access, string>> = {
  viewer: 'reads',
  contributor: 'plans, works, answers their own agents',
  maintainer: 'decides about the inbox, approvals and settings',
  owner: 'manages members, and revokes tokens',
}

import type { ProjectEvent } from '../../../events/domain/project-event.ts'
import type { Actor } from '../../../kernel/actor.ts'
import type { IdSource, SessionId, TokenId } from '../../../kernel/id.ts'
import { setNewest } from '../../../kernel/limited-map.ts'
import { wait } from '../../../kernel/wait.ts'
import { type CallerPermissions, hasAccess } from '../../../people/domain/access.ts'
import { readInvitation, readToken, type SignInSession, type Token } from '../../../people/domain/identity.ts'
import type { Team } from '../../../people/ports/team.ts'
import type { Reads, Store } from '../../../store/ports/store.ts'
import type { Logger, ServedProject } from '../serving.ts'
import { actorOfPrincipal, isOpen, type Principal, permissionsIn, readPrincipal } from './principal.ts'
import type { Caller, RequestInfo } from './request-info.ts'
import { isHashOf } from './secret.ts'
import { csrfOf } from './session-cookie.ts'

/** The lifetime of cached lookups: changes apply everywhere after five seconds. */
const maxCacheAgeMs = 4_000
/** Milliseconds between two writes of a token's last use. */
const usedAnew = 60_000
const maxCached = 10_000

interface CachedPrincipal {
  readonly at: number
  readonly principal: Promise<Principal | null>
}

/** The people of the server as a whole. */
const identityKinds = ['person', 'token', 'session'] as const
export type IdentityKind = (typeof identityKinds)[number]

/** A reader of people, tokens and sessions, in a project. */
interface DirectoryWatcher {
  readonly principal: Principal
  readonly projectId: string
  readonly tell: (of: readonly IdentityKind[]) => void
}

/** A change of a person, token or session. */
interface IdentityChange {
  readonly kind: IdentityKind
  readonly personId: string | null
  /** The projects whose owners may see it; for a person, also their members. */
  readonly projects: readonly string[]
}

export interface PeopleDirectoryOptions {
  readonly team: Team
  /** The currently served projects. */
  readonly projects: () => readonly ServedProject[]
  /** Reads a project as the server itself. */
  readonly storeOf: (project: ServedProject) => Store
  /** The port that the server listens on. */
  readonly port: () => number
  readonly ids: IdSource
  readonly log: Logger
  readonly now: () => number
}

/** The people with access to a server: looked up by id, cached briefly, dropped at a change. */
export class PeopleDirectory {
  readonly #options: PeopleDirectoryOptions
  readonly #lookups = new Map<string, CachedPrincipal>()
  /** The last read principals, by token or session. */
  readonly #principals = new Map<string, Principal>()
  readonly #used = new Map<string, number>()
  readonly #ids = new WeakMap<ServedProject, string>()
  readonly #followed = new WeakSet<Store>()
  readonly #watchers = new Set<DirectoryWatcher>()
  readonly #underWay = new Set<Promise<void>>()
  readonly #ending = new AbortController()

  constructor(options: PeopleDirectoryOptions) {
    this.#options = options
    this.#followOnce(options.team.store)
    // Members are recorded there; the user of a machine need not be one.
    if (options.team.owner === null)
      for (const project of options.projects()) this.#followOnce(options.storeOf(project))
  }

  get projects(): readonly ServedProject[] {
    return this.#options.projects()
  }

  /** A project's store, read as the server itself. */
  storeOf(project: ServedProject): Store {
    return this.#options.storeOf(project)
  }

  get ids(): IdSource {
    return this.#options.ids
  }

  get team(): Team {
    return this.#options.team
  }

  /** Null for an unknown, expired or revoked token. */
  async byToken(text: string): Promise<Caller | null> {
    const token = readToken(text)
    const principal = token && (await this.#principalOf({ token: token.id }, token.secret))
    if (!principal?.token) return null
    this.#noteUse(principal.token.id, principal.usedAt)
    return {
      actor: actorOfPrincipal(principal),
      token: principal.token.id,
      login: null,
      csrf: null,
      principal,
    }
  }

  /** The holder of a token that was checked before; null if it is no longer valid. */
  async byTokenId(id: TokenId): Promise<Principal | null> {
    const principal = await this.#lookUp({ token: id })
    return principal && isOpen(principal, this.#options.now()) ? principal : null
  }

  /** The user of this machine, by their stored token; null if people share the server or it is gone. */
  async owner(): Promise<Principal | null> {
    const text = this.#options.team.owner?.readToken('person')
    return text ? ((await this.byToken(text))?.principal ?? null) : null
  }

  /** The invited person; null if there is no valid invitation. An invitation itself gives no access. */
  async byInvitation(text: string): Promise<Principal | null> {
    const parts = readInvitation(text)
    const credential = parts && { token: parts.id }
    const principal =
      credential && (await this.#options.team.store.view((reads) => readPrincipal(reads, credential)))
    const isRight = isHashOf(principal?.hash ?? '0'.repeat(64), parts?.secret ?? '')
    return isRight ? principal : null
  }

  /** Null without a valid session cookie: its holder signs in again. */
  async byCookie(
    cookies: Readonly<Record<string, string>>,
    { secure }: Pick<RequestInfo, 'secure'>,
  ): Promise<Caller | null> {
    const [, characters, secret] =
      /^([0-9a-z]{12})\.([\w-]{43})$/.exec(cookies[this.cookieName(secure)] ?? '') ?? []
    if (characters === undefined || secret === undefined) return null
    const principal = await this.#principalOf({ session: `s-${characters}` as SessionId }, secret) // a brand
    if (!principal?.session) return null
    const token = principal.token?.id ?? principal.person.id
    return {
      actor: actorOfPrincipal(principal),
      token,
      login: principal.session.id,
      csrf: csrfOf(secret),
      principal,
    }
  }

  /** Whether a caller still has the same access. */
  async hasSameAccess({ principal, login, token }: Caller): Promise<boolean> {
    try {
      const credential = login === null ? { token: token as TokenId } : { session: login as SessionId }
      const now = await this.#lookUp(credential)
      return now !== null && isOpen(now, this.#options.now()) && now.version === principal.version
    } catch {
      return true // an unreachable database removes nobody; nothing is answered meanwhile
    }
  }

  /** The key of the rate limit. */
  rateLimitKey(caller: Caller | null, from: string): string {
    return caller === null ? from : (caller.login ?? caller.token)
  }

  /** The served projects that a caller may see. */
  async visible(caller: Caller): Promise<readonly ServedProject[]> {
    const seen = await Promise.all(
      this.projects.map(async (project) => {
        const id = isEverywhere(caller.principal) ? '' : await this.#idOf(project)
        return permissionsIn(caller.principal, id).access === null ? [] : [project]
      }),
    )
    return seen.flat()
  }

  /**
   * The permissions of an actor in a project; undefined for the server itself. A removed person has none.
   */
  standingOf({ person, token, connection }: Actor, project: ServedProject): CallerPermissions | undefined {
    if (person === undefined) return undefined
    const principal = this.#principals.get(connection ?? '') ?? this.#principals.get(token ?? '')
    if (principal?.person.id === person) return permissionsIn(principal, this.#ids.get(project) ?? '')
    return {
      personId: person,
      personName: 'A person who no longer exists',
      tokenId: token ?? null,
      sessionId: null,
      access: null,
      admin: false,
      roles: [],
      expiresAt: 0,
    }
  }

  /**
   * Notifies a reader that visible people, tokens or sessions changed, without the content: they read it again. Returns a
   * function to stop.
   */
  watch(
    { principal }: Caller,
    project: ServedProject,
    tell: (of: readonly IdentityKind[]) => void,
  ): () => void {
    const ended = new AbortController()
    const begin = async (of: Principal) => {
      const watcher = { principal: of, projectId: await this.#idOf(project), tell }
      if (ended.signal.aborted) return
      this.#watchers.add(watcher)
      ended.signal.addEventListener('abort', () => this.#watchers.delete(watcher))
    }
    begin(principal).catch(() => undefined) // an unreachable database also ends the feed
    return () => ended.abort()
  }

  /** Over TLS the prefix binds it to this host. Cookies ignore ports. */
  cookieName(secure: boolean): string {
    return secure ? '__Host-waymark_session' : `waymark_session_${this.#options.port()}`
  }

  /** Drops all cached lookups. */
  forget(): void {
    this.#lookups.clear()
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await Promise.allSettled(this.#underWay)
  }

  async #principalOf(
    credential: { readonly token: TokenId } | { readonly session: SessionId },
    secret: string,
  ): Promise<Principal | null> {
    const principal = await this.#lookUp(credential)
    // Compares even for an unknown id, so that timing does not reveal which ids exist.
    const isRight = isHashOf(principal?.hash ?? '0'.repeat(64), secret)
    return principal && isRight && isOpen(principal, this.#options.now()) ? principal : null
  }

  #lookUp(
    credential: { readonly token: TokenId } | { readonly session: SessionId },
  ): Promise<Principal | null> {
    const key = 'token' in credential ? credential.token : credential.session
    const now = this.#options.now()
    const cached = this.#lookups.get(key)
    if (cached && now - cached.at < maxCacheAgeMs) return cached.principal
    const principal = this.#read(credential, key)
    principal.catch(() => this.#lookups.delete(key))
    setNewest(this.#lookups, maxCached, key, { at: now, principal })
    return principal
  }

  async #read(
    credential: { readonly token: TokenId } | { readonly session: SessionId },
    key: string,
  ): Promise<Principal | null> {
    const { store, owner } = this.#options.team
    const user = owner?.identity ?? null
    const principal = await store.view((reads) => readPrincipal(reads, credential, user))
    if (principal) setNewest(this.#principals, maxCached, key, principal)
    else this.#principals.delete(key)
    return principal
  }

  async #idOf(project: ServedProject): Promise<string> {
    const cached = this.#ids.get(project)
    if (cached !== undefined) return cached
    const store = this.#options.storeOf(project)
    if (this.#options.team.owner === null) this.#followOnce(store)
    const id = await store.view(({ identities }) => Promise.resolve(identities.project))
    if (id !== '') this.#ids.set(project, id)
    return id
  }

  #noteUse(id: TokenId, before: number | null): void {
    const now = this.#options.now()
    const last = Math.max(before ?? 0, this.#used.get(id) ?? 0)
    if (now - last < usedAnew) return
    setNewest(this.#used, maxCached, id, now)
    const { team, log } = this.#options
    const writing = team.store
      .record({
        actor: { name: 'waymark serve', kind: 'agent', role: null, channel: 'http' },
        at: now,
        decide: async () => ({
          events: [],
          sideWrites: [{ kind: 'secret used', of: id, at: now }],
          answer: undefined,
        }),
      })
      .catch((error: unknown) =>
        log.debug('Could not store the time at which a token was used.', { error: String(error) }),
      )
      .then(() => void this.#underWay.delete(writing))
    this.#underWay.add(writing)
  }

  async #tell(events: readonly ProjectEvent[]): Promise<void> {
    if (this.#watchers.size === 0) return
    const changes = await this.#options.team.store.view((reads) => identityChangesOf(events, reads))
    for (const watcher of this.#watchers) {
      const seen = new Set(changes.filter((change) => isSeen(change, watcher)).map(({ kind }) => kind))
      if (seen.size > 0) watcher.tell([...seen])
    }
  }

  #followOnce(store: Store): void {
    if (this.#followed.has(store)) return
    this.#followed.add(store)
    const following = this.#follow(store)
    this.#underWay.add(following)
    void following.finally(() => this.#underWay.delete(following))
  }

  /** Another server may change access: a log entry about it drops cached lookups. */
  async #follow(store: Store): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      try {
        const head = await store.view(({ eventLog: log }) => log.head())
        this.forget()
        const isTeam = store === this.#options.team.store
        // Changes may have been missed while the log was not followed.
        if (isTeam) for (const { tell } of this.#watchers) tell(identityKinds)
        for await (const events of store.follow(head, signal)) {
          if (!events.some(({ body }) => /^(person|member|token|session)\./.test(body.kind))) continue
          this.forget()
          if (isTeam) await this.#tell(events)
        }
      } catch {
        // An unreachable database is tried again; cached lookups last a few seconds.
      }
      await wait(1_000, signal)
    }
  }
}

/** The changes in log entries. Readers who lost access are notified too, and read again. */
async function identityChangesOf(
  events: readonly ProjectEvent[],
  { identities }: Reads,
): Promise<readonly IdentityChange[]> {
  const ofPerson = async (personId: string): Promise<IdentityChange> => {
    const memberships = await identities.memberships(personId)
    return { kind: 'person', personId, projects: memberships.map(({ projectId }) => projectId) }
  }
  const ofToken = (token: Token | null): IdentityChange => ({
    kind: 'token',
    personId: token?.personId ?? null,
    projects: token?.projectId ? [token.projectId] : [],
  })
  const ofSession = (session: SignInSession | null): IdentityChange => {
    return { kind: 'session', personId: session?.personId ?? null, projects: [] }
  }
  const changes = events.map(async ({ body }): Promise<readonly IdentityChange[]> => {
    if (body.kind === 'person.added') return [await ofPerson(body.person.id)]
    if (body.kind === 'person.changed') return [await ofPerson(body.personId)]
    if (body.kind === 'token.created') return [ofToken(body.token)]
    if (body.kind === 'token.revoked') return [ofToken(await identities.token(body.tokenId))]
    if (body.kind === 'session.began') return [ofSession(body.session)]
    if (body.kind === 'session.ended') return [ofSession(await identities.session(body.sessionId))]
    return []
  })
  return (await Promise.all(changes)).flat()
}

/** Whether a reader may see a change, like in the lists of people, tokens and sessions. */
function isSeen(change: IdentityChange, { principal, projectId }: DirectoryWatcher): boolean {
  const permissions = permissionsIn(principal, projectId)
  if (permissions.admin || change.personId === principal.person.id) return true
  if (change.kind === 'session') return false
  if (hasAccess(permissions, 'owner')) return change.kind === 'person' || change.projects.includes(projectId)
  return change.kind === 'person' && hasAccess(permissions, 'viewer') && change.projects.includes(projectId)
}

/** Whether a principal has the same permissions in every project, so that the project need not be read. */
function isEverywhere({ person, token }: Principal): boolean {
  return person.admin && (token?.projectId ?? null) === null
}

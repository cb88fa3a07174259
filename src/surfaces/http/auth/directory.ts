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
import { actorOf, isOpen, type Principal, permissionsIn, readPrincipal } from './principal.ts'
import type { Caller, RequestInfo } from './request-info.ts'
import { isHashOf } from './secret.ts'
import { csrfOf } from './session-cookie.ts'

/** Milliseconds for which what the database said is believed: what changes there is in force everywhere after five seconds. */
const believed = 4_000
/** Milliseconds between two writes of when a token was used. */
const usedAnew = 60_000
const most = 10_000

interface CachedPrincipal {
  readonly at: number
  readonly principal: Promise<Principal | null>
}

/** What the server as a whole knows of who uses it. */
const identityKinds = ['person', 'token', 'session'] as const
export type IdentityKind = (typeof identityKinds)[number]

/** Somebody who looks at what is known of persons, in a project. */
interface DirectoryWatcher {
  readonly principal: Principal
  readonly projectId: string
  readonly tell: (of: readonly IdentityKind[]) => void
}

/** A change of a person, a token or a session, and whom it is about. */
interface IdentityChange {
  readonly kind: IdentityKind
  readonly personId: string | null
  /** The projects whose owners may see it, or whose members, where it is about a person. */
  readonly projects: readonly string[]
}

export interface PeopleDirectoryOptions {
  readonly team: Team
  /** Those that are served at this moment. */
  readonly projects: () => readonly ServedProject[]
  /** Asks a project as the server itself. */
  readonly storeOf: (project: ServedProject) => Store
  /** The port that the server listens on. */
  readonly port: () => number
  readonly ids: IdSource
  readonly log: Logger
  readonly now: () => number
}

/** Who may use a server, as it knows them: looked up by id, believed for a moment, forgotten at a change. */
export class PeopleDirectory {
  readonly #options: PeopleDirectoryOptions
  readonly #looked = new Map<string, CachedPrincipal>()
  /** As they were last read, by the token or session of an actor. */
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
    // Who is a member is recorded there; the user of a machine needs to be none.
    if (options.team.owner === null)
      for (const project of options.projects()) this.#followOnce(options.storeOf(project))
  }

  get projects(): readonly ServedProject[] {
    return this.#options.projects()
  }

  /** A project's store, asked as the server itself. */
  storeOf(project: ServedProject): Store {
    return this.#options.storeOf(project)
  }

  get ids(): IdSource {
    return this.#options.ids
  }

  get team(): Team {
    return this.#options.team
  }

  /** Null for a token that is not known, or lets nobody in any more. */
  async byToken(text: string): Promise<Caller | null> {
    const token = readToken(text)
    const principal = token && (await this.#principalOf({ token: token.id }, token.secret))
    if (!principal?.token) return null
    this.#noteUse(principal.token.id, principal.usedAt)
    return { actor: actorOf(principal), token: principal.token.id, login: null, csrf: null, principal }
  }

  /** Who has the token of this id, which somebody showed before; null where it lets nobody in any more. */
  async byTokenId(id: TokenId): Promise<Principal | null> {
    const principal = await this.#look({ token: id })
    return principal && isOpen(principal, this.#options.now()) ? principal : null
  }

  /** The user of this machine, by the token that is kept for them; null where people share the server, or it is gone. */
  async owner(): Promise<Principal | null> {
    const text = this.#options.team.owner?.readToken('person')
    return text ? ((await this.byToken(text))?.principal ?? null) : null
  }

  /** Who is invited by this text, which lets nobody in: null where there is no such invitation, or not any more. */
  async byInvitation(text: string): Promise<Principal | null> {
    const parts = readInvitation(text)
    const by = parts && { token: parts.id }
    const principal = by && (await this.#options.team.store.view((reads) => readPrincipal(reads, by)))
    const isRight = isHashOf(principal?.hash ?? '0'.repeat(64), parts?.secret ?? '')
    return isRight ? principal : null
  }

  /** Null where there is no cookie of ours, or an old one: its holder signs in again. */
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
    return { actor: actorOf(principal), token, login: principal.session.id, csrf: csrfOf(secret), principal }
  }

  /** Whether somebody who was let in would be let in again, and as the same. */
  async stands({ principal, login, token }: Caller): Promise<boolean> {
    try {
      const by = login === null ? { token: token as TokenId } : { session: login as SessionId } // as they were let in
      const now = await this.#look(by)
      return now !== null && isOpen(now, this.#options.now()) && now.version === principal.version
    } catch {
      return true // a database that is away says of nobody that they were removed; nothing is answered meanwhile
    }
  }

  /** Whose requests are counted together. */
  counted(caller: Caller | null, from: string): string {
    return caller === null ? from : (caller.login ?? caller.token)
  }

  /** The projects of those that are served which somebody may see. */
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
   * What an actor may in a project; undefined for the server itself. Somebody who is not known any more may nothing.
   */
  standingOf({ person, token, connection }: Actor, project: ServedProject): CallerPermissions | undefined {
    if (person === undefined) return undefined
    const principal = this.#principals.get(connection ?? '') ?? this.#principals.get(token ?? '')
    if (principal?.person.id === person) return permissionsIn(principal, this.#ids.get(project) ?? '')
    return {
      personId: person,
      personName: 'Somebody who is not known any more',
      tokenId: token ?? null,
      sessionId: null,
      access: null,
      admin: false,
      roles: [],
      expiresAt: 0,
    }
  }

  /**
   * Tells somebody that persons, tokens or sessions changed which they may see, and not what: they ask, and are answered
   * as ever. Answers its stop.
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
    begin(principal).catch(() => undefined) // a database that is away ends the feed, too
    return () => ended.abort()
  }

  /** Over TLS no other host can set it, and it is sent nowhere else. Cookies do not know ports. */
  cookieName(secure: boolean): string {
    return secure ? '__Host-waymark_session' : `waymark_session_${this.#options.port()}`
  }

  /** What was believed is looked up again. */
  forget(): void {
    this.#looked.clear()
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await Promise.allSettled(this.#underWay)
  }

  async #principalOf(
    by: { readonly token: TokenId } | { readonly session: SessionId },
    secret: string,
  ): Promise<Principal | null> {
    const principal = await this.#look(by)
    // The same work for an id that is not there, so that nobody learns by the clock which are.
    const isRight = isHashOf(principal?.hash ?? '0'.repeat(64), secret)
    return principal && isRight && isOpen(principal, this.#options.now()) ? principal : null
  }

  #look(by: { readonly token: TokenId } | { readonly session: SessionId }): Promise<Principal | null> {
    const key = 'token' in by ? by.token : by.session
    const now = this.#options.now()
    const known = this.#looked.get(key)
    if (known && now - known.at < believed) return known.principal
    const principal = this.#read(by, key)
    principal.catch(() => this.#looked.delete(key))
    setNewest(this.#looked, most, key, { at: now, principal })
    return principal
  }

  async #read(
    by: { readonly token: TokenId } | { readonly session: SessionId },
    key: string,
  ): Promise<Principal | null> {
    const { store, owner } = this.#options.team
    const user = owner?.identity ?? null
    const principal = await store.view((reads) => readPrincipal(reads, by, user))
    if (principal) setNewest(this.#principals, most, key, principal)
    else this.#principals.delete(key)
    return principal
  }

  async #idOf(project: ServedProject): Promise<string> {
    const known = this.#ids.get(project)
    if (known !== undefined) return known
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
    setNewest(this.#used, most, id, now)
    const { team, log } = this.#options
    const writing = team.store
      .record({
        actor: { name: 'waymark serve', kind: 'agent', role: null, channel: 'http' },
        at: now,
        decide: async () => ({
          events: [],
          beside: [{ kind: 'secret used', of: id, at: now }],
          answer: undefined,
        }),
      })
      .catch((error: unknown) =>
        log.debug('When a token was used could not be kept.', { error: String(error) }),
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

  /** Another server may change who is let in: what is believed ends with the log entry of it. */
  async #follow(store: Store): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      try {
        const head = await store.view(({ eventLog: log }) => log.head())
        this.forget()
        const isTeam = store === this.#options.team.store
        // Nobody knows what happened while it was not followed.
        if (isTeam) for (const { tell } of this.#watchers) tell(identityKinds)
        for await (const events of store.follow(head, signal)) {
          if (!events.some(({ body }) => /^(person|member|token|session)\./.test(body.kind))) continue
          this.forget()
          if (isTeam) await this.#tell(events)
        }
      } catch {
        // A database that is away is asked again; until then what it said is believed for its few seconds.
      }
      await wait(1_000, signal)
    }
  }
}

/** Those who had it before they were disabled or removed are told that it changed: what they may see of it is asked anew. */
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

/** As the lists of persons, tokens and sessions show them. */
function isSeen(change: IdentityChange, { principal, projectId }: DirectoryWatcher): boolean {
  const permissions = permissionsIn(principal, projectId)
  if (permissions.admin || change.personId === principal.person.id) return true
  if (change.kind === 'session') return false
  if (hasAccess(permissions, 'owner')) return change.kind === 'person' || change.projects.includes(projectId)
  return change.kind === 'person' && hasAccess(permissions, 'viewer') && change.projects.includes(projectId)
}

/** Whoever may do the same in every project: which one it is needs not be known, not even whether it can be read. */
function isEverywhere({ person, token }: Principal): boolean {
  return person.admin && (token?.projectId ?? null) === null
}

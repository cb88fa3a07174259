import { randomUUID } from 'node:crypto'
import { Failure, messageOf } from '../domain/failure.ts'
import type { IdKind } from '../domain/id.ts'
import { instant } from '../domain/instant.ts'
import type { ChangeReport } from '../domain/track/changes.ts'
import type { SnapshotPlace } from '../domain/track/task.ts'
import { idInCall } from '../operations/edge/edge-context.ts'
import type { GatheredCall } from '../operations/edge/port-calls.ts'
import type { Answer } from '../operations/operation.ts'
import type { Away, EdgeDatabase, Queue, QueuedCall } from './edge-database.ts'
import { keepBrief } from './edge-hook.ts'
import { type EdgeCalling, type EdgeProject, inputOf, type Prepared, snapshotIn } from './edge-project.ts'
import { ServerAway, ServerRefusal } from './server-client.ts'

/** What a call came to here: the server's answer, or what stands for it while the server is away. */
export interface Done {
  readonly answer: Answer
  readonly kind: 'answer' | 'result' | 'protocol_error'
  /** Where it is a copy: of when, and why. */
  readonly stale?: { readonly as_of: string; readonly reason: string }
  readonly queued?: true
  /** What its caller is to know beside it, a sentence each. */
  readonly notices: readonly string[]
}

export interface OfflineParts {
  readonly project: EdgeProject
  readonly database: EdgeDatabase
  /** Reads an input as the server would; fails as it does. */
  readonly parse: (operation: string, input: Answer) => Promise<Answer>
  readonly now: () => number
  /** Hands over what hooks told here, which bears on what some calls are answered. */
  readonly drain: () => Promise<void>
}

/** What is answered by what hooks told as well. */
const afterHooks = [
  'sessions',
  'sessions_show',
  'sessions_diff',
  'status',
  'start_task',
  'complete_task',
  'changes',
  'blame',
  'why',
]

/** What may wait for the server; everything else is refused while it is away. */
const queueable = [
  'log_decision',
  'log_issue',
  'log_milestone',
  'taskman_task_note_add',
  'start_task',
  'complete_task',
] as const
type Queueable = (typeof queueable)[number]

const senderLease = 30_000
const shortestProbe = 1_000
const longestProbe = 5_000
/** Entries are given up after two weeks. */
const longestQueued = 14 * 24 * 60 * 60_000

/** The calls of a project whose server may be away: what can wait waits, in order, and is sent once it is back. */
export class OfflineProject {
  readonly #parts: OfflineParts
  readonly #holder = randomUUID()
  #probe: NodeJS.Timeout | null = null
  #probeAfter = shortestProbe
  #briefing: Promise<void> | null = null
  #isBriefOld = false
  #replaying: Promise<void> | null = null

  constructor(parts: OfflineParts) {
    this.#parts = parts
  }

  async perform(calling: EdgeCalling, kind: 'query' | 'command'): Promise<Done> {
    const { database, project, drain } = this.#parts
    if (afterHooks.includes(nameOf(calling))) await drain()
    if (this.#isAway()) return this.#withoutServer(calling, kind, null)
    if (database.queue().entries > 0) await this.replay()
    // What waits goes first, unless it is only asked.
    if (kind === 'command' && database.queue().entries > 0) return this.#withoutServer(calling, kind, null)
    const prepared = await project.prepare(calling, database)
    try {
      const { answer, gathered } = await project.send(calling, prepared)
      this.#isBack()
      const done = doneBy(answer)
      this.#keep(calling, kind, { done, gathered })
      if (kind === 'command') this.#renewBrief()
      return { ...done, notices: this.#notices(calling) }
    } catch (error) {
      if (!(error instanceof ServerAway)) throw error
      this.#noteAway(error.reason)
      return this.#withoutServer(calling, kind, prepared)
    }
  }

  /** Sends what hooks told, or lets it wait where there is something to lose: nobody is answered for it. */
  async tell(calling: EdgeCalling, what: string | null): Promise<void> {
    const { database, project, now } = this.#parts
    if (!this.#isAway() && database.queue().entries > 0) await this.replay()
    const prepared = await project.prepare(calling)
    if (!this.#isAway() && database.queue().entries === 0) {
      try {
        await project.send(calling, prepared)
        return this.#isBack()
      } catch (error) {
        if (!(error instanceof ServerAway)) throw error
        this.#noteAway(error.reason)
      }
    }
    if (what === null) return
    const { call, gathered } = prepared
    database.enqueue({ call, calling, gathered, promised: {}, doneAt: now(), task: null, what })
  }

  /** What the server says, or said last where it is away. */
  async kept(name: string, ask: () => Promise<unknown>): Promise<unknown> {
    const { database, now } = this.#parts
    try {
      if (this.#isAway()) throw this.#refusal(name)
      const said = await ask()
      database.keepCopy(name, said, now())
      return said
    } catch (error) {
      if (error instanceof ServerAway) this.#noteAway(error.reason)
      const copy = error instanceof Failure && error.code === 'UNAVAILABLE' ? database.copyOf(name) : null
      if (copy) return copy.body
      throw error
    }
  }

  queue(): Queue {
    return this.#parts.database.queue()
  }

  away(): Away | null {
    return this.#parts.database.state<Away>('away')
  }

  /** Sends what waits, in order, until the server is away again. One process does so at a time. */
  replay(): Promise<void> {
    this.#replaying ??= this.#replay().finally(() => {
      this.#replaying = null
    })
    return this.#replaying
  }

  /** What `status` says of this machine beside what the server says. */
  standing(): {
    readonly queued: number
    readonly oldest_queued_at: string | null
    readonly away_since: string | null
  } {
    const { entries, oldest } = this.queue()
    const away = this.away()
    return {
      queued: entries,
      oldest_queued_at: oldest === null ? null : instant(oldest),
      away_since: away === null ? null : instant(away.since),
    }
  }

  async close(): Promise<void> {
    if (this.#probe) clearTimeout(this.#probe)
    this.#probe = null
    await this.#briefing
    this.#parts.database.close()
  }

  async #replay(): Promise<void> {
    const { database, now } = this.#parts
    if (database.queue().entries === 0) return
    const take = () => database.takeSender(this.#holder, { now: now(), until: now() + senderLease })
    if (!take()) return
    let hasSent = false
    try {
      const given = new Set<number>()
      let last = 0
      // Other processes add what their agents do meanwhile.
      for (let next = database.waiting(); next.length > 0; next = database.waiting(last)) {
        for (const entry of next) {
          last = entry.n
          if (given.has(entry.n)) continue
          if (!take()) return
          const went = await this.#sendQueued(entry)
          if (went === 'later') return
          hasSent = true
          if (went === 'refused') for (const n of this.#following(entry)) given.add(n)
        }
      }
      database.setState('token refused', null)
    } finally {
      database.releaseSender(this.#holder)
      // Hooks judge by what was begun meanwhile, and the server hears what waits still.
      if (hasSent) this.#renewBrief()
    }
  }

  async #sendQueued(entry: QueuedCall & { readonly n: number }): Promise<'sent' | 'refused' | 'later'> {
    const { database, project, now } = this.#parts
    database.sending = entry.call
    try {
      if (now() - entry.doneAt > longestQueued) {
        throw new Failure('REFUSED', 'It waited for more than 14 days.')
      }
      const { answer, gathered } = await project.send(
        { ...entry.calling, promised: entry.promised, done_at: entry.doneAt },
        { call: entry.call, age: () => Math.max(0, now() - entry.doneAt), gathered: entry.gathered },
      )
      const refusal = refusalIn(answer)
      if (refusal) throw refusal
      this.#keep(entry.calling, 'command', { done: doneBy(answer), gathered })
      database.remove([entry.n])
      this.#isBack()
      return 'sent'
    } catch (error) {
      if (error instanceof ServerAway) {
        this.#noteAway(error.reason)
        return 'later'
      }
      if (error instanceof ServerRefusal && error.status === 401) {
        database.setState('token refused', { message: error.message })
        return 'later'
      }
      if (error instanceof ServerRefusal && (error.status === 429 || error.status >= 500)) return 'later'
      if (!(error instanceof Failure)) throw error
      return await this.#handOver(entry, error)
    } finally {
      database.sending = null
    }
  }

  /** What the server does not take is a person's to look at, with what was measured; what rests on it goes with it. */
  async #handOver(
    entry: QueuedCall & { readonly n: number },
    refusal: Failure,
  ): Promise<'refused' | 'later'> {
    const { database, project } = this.#parts
    if (entry.calling.operation === 'edge_told') {
      // Nobody can do anything about it but know.
      database.remove([entry.n])
      this.#note(`${entry.what} was refused when the server was back: ${refusal.message}`)
      return 'refused'
    }
    const dependent = this.#dependents(entry)
    const input = {
      call: entry.call,
      task_id: taskOf(entry),
      code: refusal.code,
      message: refusal.message.slice(0, 2_000),
      entries: [entry, ...dependent].slice(0, 50).map((one) => ({
        what: one.what.slice(0, 1_000),
        done_at: instant(one.doneAt),
        input: JSON.stringify(inputOf(one.calling)).slice(0, 4_000),
        paths: pathsIn(one.gathered).slice(0, 200),
      })),
    }
    try {
      const calling = { ...bareCalling(entry.calling), operation: 'edge_refused', input }
      const { answer } = await project.send(calling, {
        call: `${entry.call.slice(0, 55)}-refused`,
        age: () => 0,
        gathered: [],
      })
      const hold = 'answer' in answer ? (textIn(answer.answer, 'hold_id') ?? '') : ''
      database.remove([entry, ...dependent].map(({ n }) => n))
      const told = `${entry.what} was refused when the server was back: ${refusal.message} A person looks at it: ${hold}.`
      this.#note(told)
      return 'refused'
    } catch (error) {
      if (error instanceof ServerAway) this.#noteAway(error.reason)
      return 'later'
    }
  }

  /** Told once, with the next answer. */
  #note(told: string): void {
    const { database } = this.#parts
    database.setState('told', [...(database.state<string[]>('told') ?? []), told].slice(-20))
  }

  #following(entry: QueuedCall): readonly number[] {
    return this.#dependents(entry).map(({ n }) => n)
  }

  /** What was said and done about a task or an attempt that there is not at the server. */
  #dependents(entry: QueuedCall): readonly (QueuedCall & { readonly n: number })[] {
    const { task, attempt } = entry.promised
    const isStart = attempt !== undefined
    if (!isStart) return []
    return this.#parts.database
      .waiting()
      .filter((one) => one.call !== entry.call && one.doneAt >= entry.doneAt)
      .filter((one) => one.task !== null && (one.task === task || one.task === entry.task))
  }

  async #withoutServer(
    calling: EdgeCalling,
    kind: 'query' | 'command',
    prepared: Prepared | null,
  ): Promise<Done> {
    if (kind === 'query') return this.#copied(calling)
    const name = nameOf(calling)
    if (!isQueueable(name)) throw this.#refusal(name)
    const input = await this.#parts.parse(name, inputOf(calling))
    const ready = prepared ?? (await this.#parts.project.prepare(calling, this.#parts.database))
    return this.#queued(calling, { name, input, prepared: ready })
  }

  async #queued(
    calling: EdgeCalling,
    asked: { readonly name: Queueable; readonly input: Answer; readonly prepared: Prepared },
  ): Promise<Done> {
    const { database, now, project } = this.#parts
    const { name, prepared } = asked
    const doneAt = now() - prepared.age()
    const made = this.#madeHere({ ...asked, doneAt })
    database.enqueue({
      call: prepared.call,
      calling: bareInput(calling),
      gathered: prepared.gathered,
      promised: made.promised,
      doneAt,
      task: made.task,
      what: made.what,
    })
    const place = snapshotIn(
      prepared.gathered.find(({ call }) => call === 'witness.snapshot'),
      project.parts.edge,
    )
    if (name === 'start_task' && place && made.task !== null) {
      database.keepAttempt(made.task, made.promised.attempt ?? '', { place, at: doneAt })
    }
    const answer = { ...made.answer, queued: true as const }
    return { kind: 'answer', answer, queued: true, notices: this.#notices(calling) }
  }

  /** The answer that a call gets while it waits: the ids that it will have. */
  #madeHere({
    name,
    input,
    prepared,
    doneAt,
  }: {
    readonly name: Queueable
    readonly input: Answer
    readonly prepared: Prepared
    readonly doneAt: number
  }): MadeHere {
    const { project, database } = this.#parts
    const id = (kind: IdKind) =>
      idInCall(project.parts.context.fingerprint, prepared.call, { kind, number: 1 })
    const task = textIn(input, 'task_id') ?? textIn(input, 'id')
    const at = instant(doneAt)
    if (name === 'log_decision') {
      const decision = id('decision')
      const what = `The decision "${textIn(input, 'chosen') ?? ''}"`
      return { promised: { decision }, task, what, answer: { decision_id: decision, created_at: at } }
    }
    if (name === 'log_issue') {
      const issue = id('issue')
      const blocker = input['requires_human_review'] === true
      const what = `The issue "${textIn(input, 'description') ?? ''}"`
      return { promised: { issue }, task, what, answer: { issue_id: issue, created_at: at, blocker } }
    }
    if (name === 'log_milestone') {
      const progress = id('progress')
      const what = `The milestone "${textIn(input, 'message') ?? ''}"`
      return { promised: { progress }, task, what, answer: { milestone_id: progress, created_at: at } }
    }
    if (name === 'taskman_task_note_add') {
      const note = id('note')
      const content = textIn(input, 'content') ?? ''
      const answer = { id: note, task_id: task, content, created_at: at }
      return { promised: { note }, task, what: `The note "${content}"`, answer }
    }
    const snapshot = prepared.gathered.find(({ call }) => call === 'witness.snapshot')
    const place = snapshotIn(snapshot, project.parts.edge)
    if (snapshot?.failure) throw new Failure(snapshot.failure.code, snapshot.failure.message)
    if (name === 'start_task') return this.#startedHere({ input, place, id, at, prepared })
    const own = task === null ? null : database.attemptAt(task)
    if (task === null || own === null || place === null) {
      throw this.#refusal('complete_task of a task that was not begun on this machine')
    }
    const changes = prepared.gathered.find(({ call }) => call === 'witness.changes')
    const report = changes?.answer as ChangeReport | undefined // as the witness made it
    const files = (kinds: readonly string[]) =>
      (report?.changes ?? []).filter(({ change }) => kinds.includes(change)).map(({ path }) => path)
    return {
      promised: {},
      task,
      what: `The completion of ${task}`,
      answer: {
        task_id: task,
        attempt_id: own.attempt,
        duration_seconds: Math.max(0, Math.round((doneAt - own.at) / 1000)),
        completed_at: null,
        files_changed: {
          added: files(['added']),
          modified: files(['modified']),
          deleted: files(['deleted']),
          renamed: files(['renamed']),
        },
      },
    }
  }

  #startedHere({
    input,
    place,
    id,
    at,
    prepared,
  }: {
    readonly input: Answer
    readonly place: SnapshotPlace | null
    readonly id: (kind: IdKind) => string
    readonly at: string
    readonly prepared: Prepared
  }): MadeHere {
    const planned = textIn(input, 'planned_task_id')
    if (planned !== null && !isFree(planned, this.#parts.database.copies())) {
      throw this.#refusal(`start_task of ${planned}, which is not known to be free`)
    }
    if (place === null) throw this.#refusal('start_task in another work tree')
    const promised =
      planned === null ? { task: id('task'), attempt: id('attempt') } : { attempt: id('attempt') }
    const task = planned ?? id('task')
    const matching = prepared.gathered.find(({ call }) => call === 'witness.matching')
    return {
      promised,
      task,
      what: `The start of "${textIn(input, 'name') ?? task}"`,
      answer: {
        task_id: task,
        attempt_id: promised.attempt,
        snapshot_id: place.id,
        snapshot_type: place.engine,
        started_at: at,
        phase_id: null,
        phase_created: false,
        phase_number: null,
        caller_type: textIn(input, 'caller_type'),
        agent_name: textIn(input, 'agent_name'),
        areas: Array.isArray(matching?.answer)
          ? matching.answer.map(({ area, files }: { area: string; files: number }) => ({ area, files }))
          : [],
        warnings: [],
      },
    }
  }

  #copied(calling: EdgeCalling): Done {
    const copy = this.#parts.database.copyOf(copyName(calling))
    const away = this.away()
    if (copy === null) throw this.#refusal(nameOf(calling))
    const { kind, answer } = copy.body as Pick<Done, 'kind' | 'answer'> // as `#keep` wrote it
    const reason = `The server is away since ${instant(away?.since ?? this.#parts.now())}: ${away?.reason ?? 'what waits goes first'}.`
    const stale = { as_of: instant(copy.at), reason }
    return { kind, answer, stale, notices: this.#notices(calling) }
  }

  #keep(
    calling: EdgeCalling,
    kind: 'query' | 'command',
    { done, gathered }: { readonly done: Omit<Done, 'notices'>; readonly gathered: readonly GatheredCall[] },
  ): void {
    const { database, now, project } = this.#parts
    const said = structuredIn(done)
    if (kind === 'query' && said !== null) {
      database.keepCopy(copyName(calling), { kind: done.kind, answer: done.answer }, now())
    }
    if (nameOf(calling) !== 'start_task' || said === null) return
    const place = snapshotIn(
      gathered.find(({ call }) => call === 'witness.snapshot'),
      project.parts.edge,
    )
    const [task, attempt] = [textIn(said, 'task_id'), textIn(said, 'attempt_id')]
    // An attempt that was open already goes on from its first snapshot.
    const isNew = !JSON.stringify(said['warnings'] ?? '').includes('was already open')
    if (place && task !== null && attempt !== null && isNew) {
      database.keepAttempt(task, attempt, { place, at: now() })
    }
  }

  #refusal(what: string): Failure {
    const away = this.away()
    const { origin } = this.#parts.project.parts.client.server
    const since = away === null ? '' : ` since ${instant(away.since)} (${away.reason})`
    const waits = this.queue().entries
    return new Failure(
      'UNAVAILABLE',
      `The server ${origin} is away${since}: without it there is no ${what}.`,
      {
        hint: `Try again once it is back.${waits === 0 ? '' : ` ${waits === 1 ? '1 call waits' : `${waits} calls wait`} for it: waymark status.`}`,
      },
    )
  }

  /** Told with every answer: what waits, that the token is refused, and once each what was refused. */
  #notices({ channel }: EdgeCalling): readonly string[] {
    const { database } = this.#parts
    const { entries, oldest } = database.queue()
    const refused = database.state<{ message: string }>('token refused')
    const told = database.state<string[]>('told') ?? []
    // Agents are told once; a person who looks at the status meanwhile does not take it from them.
    if (told.length > 0 && channel === 'stdio') database.setState('told', null)
    const calls = entries === 1 ? '1 call waits' : `${entries} calls wait`
    return [
      ...(entries === 0 ? [] : [`${calls} for the server, the oldest since ${instant(oldest ?? 0)}.`]),
      ...(refused && entries > 0
        ? [
            `The server refuses the token (${refused.message}): connect again with another one of the same person.`,
          ]
        : []),
      ...told,
    ]
  }

  /** What hooks judge by is as new as the last call here; once more where a call ended meanwhile. */
  #renewBrief(): void {
    if (this.#briefing) {
      this.#isBriefOld = true
      return
    }
    const { project, database, now } = this.#parts
    const { client, edge, version, context } = project.parts
    const renew = async () => {
      const { top } = await context.witness.locate(context.folder)
      do {
        this.#isBriefOld = false
        await keepBrief({ database, client, edge, version, now }, top)
      } while (this.#isBriefOld)
    }
    this.#briefing = renew()
      .catch(() => undefined) // a hook that finds an old one asks by itself
      .finally(() => {
        this.#briefing = null
      })
  }

  #isAway(): boolean {
    const away = this.away()
    if (away === null) return false
    this.#probeSoon()
    // A process that does not stay asks by itself, and not more often than one that does.
    return this.#parts.now() - away.tried < (this.#probe ? longestProbe * 2 : shortestProbe)
  }

  #noteAway(reason: string): void {
    const { database, now } = this.#parts
    const since = this.away()?.since ?? now()
    database.setState('away', { since, reason, tried: now() })
    this.#probeSoon()
  }

  #isBack(): void {
    this.#probeAfter = shortestProbe
    if (this.away() !== null) this.#parts.database.setState('away', null)
  }

  /** Looks again and again whether the server is back, and keeps no process alive for it. */
  #probeSoon(): void {
    if (this.#probe) return
    const probe = async () => {
      this.#probe = null
      try {
        await this.#parts.project.parts.client.isThere()
        this.#isBack()
        await this.replay()
      } catch (error) {
        this.#probeAfter = Math.min(longestProbe, this.#probeAfter * 2)
        this.#noteAway(error instanceof ServerAway ? error.reason : messageOf(error))
      }
    }
    this.#probe = setTimeout(() => void probe(), this.#probeAfter).unref()
  }
}

interface MadeHere {
  readonly promised: QueuedCall['promised']
  readonly task: string | null
  readonly what: string
  readonly answer: Answer
}

function isQueueable(name: string): name is Queueable {
  return queueable.some((one) => one === name)
}

function nameOf({ operation, tool }: EdgeCalling): string {
  return operation ?? tool ?? ''
}

function textIn(input: Answer, field: string): string | null {
  const value = input[field]
  return typeof value === 'string' && value !== '' ? value : null
}

/** What a call is about, whoever asks. */
function copyName(calling: EdgeCalling): string {
  return JSON.stringify([calling.operation, calling.tool, inputOf(calling)])
}

/** A call without what only its own moment has. */
function bareInput(calling: EdgeCalling): EdgeCalling {
  return { ...calling, responses: undefined, can_ask: false }
}

function bareCalling({ channel, as, client, connection, inside_command }: EdgeCalling) {
  return {
    channel,
    as,
    ...(client !== undefined && { client }),
    ...(connection !== undefined && { connection }),
    ...(inside_command !== undefined && { inside_command }),
  }
}

function taskOf({ task, promised }: QueuedCall): string | null {
  return task === promised.task ? null : task
}

function pathsIn(gathered: readonly GatheredCall[]): readonly string[] {
  const changes = gathered.find(({ call }) => call === 'witness.changes')?.answer
  const report = changes as ChangeReport | undefined // as the witness made it
  return report?.changes.map(({ path }) => path) ?? []
}

/** Whether a planned task was to do, and nobody's, when the server was asked last. */
function isFree(task: string, copies: readonly unknown[]): boolean {
  for (const copy of copies) {
    const found = entryOf(task, copy)
    if (found) return found['status'] === 'to_do' && (found['claim'] ?? found['claimed_by'] ?? null) === null
  }
  return false
}

function entryOf(task: string, value: unknown): Answer | null {
  if (typeof value !== 'object' || value === null) return null
  const members: Answer = { ...value }
  if ((members['id'] === task || members['task_id'] === task) && 'status' in members) return members
  for (const member of Object.values(members)) {
    const found = entryOf(task, member)
    if (found) return found
  }
  return null
}

type Answered = Awaited<ReturnType<EdgeProject['send']>>['answer']

function doneBy(answer: Answered): Omit<Done, 'notices'> {
  if ('answer' in answer) return { kind: 'answer', answer: answer.answer }
  if ('result' in answer) return { kind: 'result', answer: answer.result }
  return { kind: 'protocol_error', answer: answer.protocol_error }
}

/** What was answered, where it is no refusal. */
function structuredIn({ kind, answer }: Omit<Done, 'notices'>): Answer | null {
  if (kind === 'answer') return answer
  const said = answer['structuredContent']
  if (kind !== 'result' || answer['isError'] === true || typeof said !== 'object' || said === null)
    return null
  return { ...said }
}

/** A tool's refusal is a result. */
function refusalIn(answer: Answered): Failure | null {
  if (!('result' in answer) || answer.result['isError'] !== true) return null
  const { error } = { error: undefined, ...(answer.result['structuredContent'] as object) }
  const { code, message } = { code: 'REFUSED', message: 'It was refused.', ...(error as object | undefined) }
  const isBusy = code === 'UNAVAILABLE' || code === 'INTERNAL'
  return isBusy
    ? new ServerRefusal(503, 'UNAVAILABLE', { message })
    : new Failure('REFUSED', message, { details: { code } })
}

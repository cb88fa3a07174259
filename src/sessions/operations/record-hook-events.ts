import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { Actor } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import type { AttemptId, CaptureSessionId, TurnId } from '../../kernel/id.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import { measuredLines, type SnapshotBoundary } from '../../lines/operations/record-lines.ts'
import type { TreeBoundary } from '../../lines/ports/line-reads.ts'
import type { CaptureSideWrite, Reads } from '../../store/ports/store.ts'
import { treeOf } from '../../track/domain/task.ts'
import type { HookEvent } from '../domain/hook-event.ts'
import type { CapturedSession, CaptureEvent, Turn } from '../domain/session.ts'
import {
  canWriteFiles,
  countLost,
  coverageOf,
  endSession,
  idleAfter,
  itemsOf,
  type LocatedHookEvent,
  reduceSession,
  type SessionChange,
  type SessionSnapshot,
  seenCommands,
  seenEdits,
  type TurnDraft,
  type TurnEnd,
} from '../domain/session-reducer.ts'
import type { TurnLink } from '../ports/capture-reads.ts'
import type { FreshTurn } from './hook-evidence.ts'
import { locateHookEvents, type TreeStateResult, WorkTreeIndex } from './locate-hook-events.ts'
import { type EndedTurn, measureTurn, unrecordedEndNote } from './measure-turn.ts'

/** What a batch of moments came to. */
export interface HookEventSummary {
  /** How many were recorded now. */
  readonly recorded: number
  /** How many were recorded before. */
  readonly repeated: number
  readonly sessionsOpened: number
  readonly turnsOpened: number
  readonly turnsClosed: number
}

const nothing: HookEventSummary = {
  recorded: 0,
  repeated: 0,
  sessionsOpened: 0,
  turnsOpened: 0,
  turnsClosed: 0,
}

/** A key is known for so long: what is spooled is not older than a week. */
const keysKept = 8 * 24 * 60 * 60 * 1000
const mostTries = 5

/**
 * Records what hooks told, and measures the turns that it ends. The same moment may come again, and a batch may end
 * anywhere. Ends sessions of which nothing was heard for half an hour, also where there is no moment.
 */
export function recordMachineEvents(
  context: Context,
  moments: readonly HookEvent[],
): Promise<HookEventSummary> {
  const { copies, store } = context
  return recordHookEvents(context, moments, async (fresh) => {
    const trees = new WorkTreeIndex(context)
    const stateOf = async (top: string) => {
      const last = await store.view(({ capture }) => capture.lastState(top, Number.MAX_SAFE_INTEGER))
      return last?.place ?? (await trees.state(top)).place
    }
    return { trees, placed: await locateHookEvents(fresh, { copies, trees, stateOf }) }
  })
}

/** The same for moments that the machine where they were told has placed, with the states of its trees at that time. */
export function recordLocatedEvents(
  context: Context,
  moments: readonly LocatedHookEvent[],
  states: ReadonlyMap<string, TreeStateResult>,
): Promise<HookEventSummary> {
  return recordHookEvents(context, moments, async (placed) => ({
    trees: new WorkTreeIndex(context, states),
    placed,
  }))
}

type LocateHookEvents<One> = (
  fresh: readonly One[],
) => Promise<{ readonly trees: WorkTreeIndex; readonly placed: readonly LocatedHookEvent[] }>

type HookEventOrigin = Pick<HookEvent, 'key' | 'client' | 'session'>

async function recordHookEvents<One extends HookEventOrigin>(
  context: Context,
  moments: readonly One[],
  placing: LocateHookEvents<One>,
): Promise<HookEventSummary> {
  for (let tried = 1; tried < mostTries; tried += 1) {
    const recorded = await tryToRecord(context, moments, placing)
    if (recorded !== null) return recorded
  }
  throw new Failure('UNAVAILABLE', 'Other processes record the same events at the same time.', {
    reason: 'ingest_in_progress',
    hint: 'One ingest at a time is enough; what it left is recorded by the next.',
  })
}

/** Null where another process recorded some of it meanwhile. */
async function tryToRecord<One extends HookEventOrigin>(
  context: Context,
  moments: readonly One[],
  placing: LocateHookEvents<One>,
): Promise<HookEventSummary | null> {
  const { store, clock, ids } = context
  const now = clock.now()
  const keys = moments.map(({ key }) => key)
  const found = await store.view(async ({ capture }) => {
    const [known, open] = await Promise.all([capture.recorded(keys), capture.openSessions()])
    return { known, idle: open.filter(({ lastAt }) => lastAt < now - idleAfter) }
  })
  const seen = new Set<string>()
  const fresh = moments.filter(({ key }) => {
    const isNew = !found.known.has(key) && !seen.has(key)
    seen.add(key)
    return isNew
  })
  const repeated = moments.length - fresh.length
  const talking = new Set(fresh.map((moment) => `${moment.client.name} ${moment.session}`))
  const idle = found.idle.filter(({ session }) => !talking.has(`${session.client} ${session.clientSession}`))
  if (fresh.length === 0 && idle.length === 0) return { ...nothing, repeated }

  const { trees, placed } = await placing(fresh)
  const standings = await store.view((reads) =>
    readSessionStates(reads, placed, { idle, edge: context.edge?.id }),
  )
  const steps: SessionChange[] = []
  for (const [key, own] of Map.groupBy(placed, (one) => `${one.client.name} ${one.session}`))
    steps.push(...reduceSession(standings.talking.get(key) ?? null, own, { ids, parents: standings.parents }))
  for (const { session, lastAt } of idle) {
    const standing = standings.idle.get(session.id)
    const mayEnd =
      standing?.turns.every(({ turn }) => isOfThisMachine(context, turn)) || lastAt < now - lastWord
    if (standing && mayEnd) steps.push(...endSession(standing, lastAt, ids))
  }
  if (steps.length === 0) return { ...nothing, repeated }
  const gathered = await gather(context, trees, { steps, placed, standings })
  const wasOpen = new Set(
    [...standings.talking.values(), ...standings.idle.values()].flatMap((standing) =>
      standing === null ? [] : standing.turns.map(({ turn }) => turn.id),
    ),
  )
  const actor = actorOf(context, fresh[0]?.client.name ?? idle[0]?.session.client ?? 'capture')
  return store.record({
    actor,
    at: context.settingNow?.().at ?? clock.now(),
    decide: async ({ capture }) => {
      const [known, ...turns] = await Promise.all([
        capture.recorded(fresh.map(({ key }) => key)),
        ...[...wasOpen].map((id) => capture.turn(id)),
      ])
      // Another process was faster: what it recorded changes what this batch comes to.
      if (known.size > 0 || turns.some((line) => line?.turn.status !== 'open'))
        return { facts: [], answer: null }
      const decided = await decide(capture, gathered, { steps, now })
      const count = (kind: SessionChange['kind']): number => steps.filter((step) => step.kind === kind).length
      const answer: HookEventSummary = {
        recorded: fresh.length,
        repeated,
        sessionsOpened: count('session opened'),
        turnsOpened: count('turn opened'),
        turnsClosed: count('turn closed'),
      }
      return { ...decided, answer }
    },
  })
}

function actorOf({ actor: { channel, edge } }: Context, client: string): Actor {
  return { name: client, kind: 'agent', role: null, channel, ...(edge !== undefined && { edge }) }
}

/** What waits at a machine for its server is sent within two weeks, in milliseconds. */
const lastWord = 14 * 24 * 60 * 60 * 1000

/** Whether a turn is measured on the machine that this is about: nobody else can. */
function isOfThisMachine({ edge }: Context, { snapshot }: Turn): boolean {
  return snapshot === null || snapshot.edge === edge?.id
}

interface SessionSnapshots {
  /** By client and its own id of the session. */
  readonly talking: ReadonlyMap<string, SessionSnapshot | null>
  /** By our id of the session. */
  readonly idle: ReadonlyMap<string, SessionSnapshot>
  /** Sessions that were forked, by their client's own ids. */
  readonly parents: ReadonlyMap<string, CaptureSessionId>
}

async function readSessionStates(
  { capture }: Reads,
  moments: readonly LocatedHookEvent[],
  {
    idle,
    edge,
  }: {
    readonly idle: readonly { readonly session: CapturedSession }[]
    readonly edge: string | undefined
  },
): Promise<SessionSnapshots> {
  const standing = async (session: CapturedSession): Promise<SessionSnapshot> => {
    const turns = await capture.openTurns(session.id)
    const [told, lastNumber] = await Promise.all([
      capture.moments(turns.map(({ id }) => id)),
      capture.lastNumber(session.id),
    ])
    return {
      session,
      turns: turns.map((turn) => ({ turn, moments: told.get(turn.id) ?? [] })),
      lastNumber,
    }
  }
  const talking = new Map<string, SessionSnapshot | null>()
  const parents = new Map<string, CaptureSessionId>()
  for (const { client, session, what } of moments) {
    if (what.kind === 'session_started' && what.parent !== null) {
      const parent = await capture.latest(client.name, what.parent)
      if (parent) parents.set(what.parent, parent.id)
    }
    const key = `${client.name} ${session}`
    if (talking.has(key)) continue
    const known = await capture.latest(client.name, session)
    const isOwn = known !== null && (await isOfMachine(capture, known, edge))
    talking.set(key, isOwn ? await standing(known) : null)
  }
  const silent = new Map<string, SessionSnapshot>()
  for (const { session } of idle) silent.set(session.id, await standing(session))
  return { talking, idle: silent, parents }
}

/** A session of another machine is another one, though it has the same id there: nobody goes on with it from here. */
async function isOfMachine(
  capture: Reads['capture'],
  { id }: CapturedSession,
  edge: string | undefined,
): Promise<boolean> {
  const last = await capture.lastNumber(id)
  const [line] = await capture.turns(id, { limit: 1, offset: Math.max(0, last - 1) })
  const place = line?.turn.snapshot ?? null
  return place === null || place.edge === edge
}

interface TurnUpdates {
  /** Turns that begin, as they are recorded. */
  readonly opened: ReadonlyMap<TurnId, Turn>
  readonly closed: ReadonlyMap<TurnId, ClosedTurn>
  readonly links: readonly LinkedAttempt[]
  /** What became of lines between the states that turns began and ended with. */
  readonly lines: readonly NewProjectEvent[]
}

interface ClosedTurn extends EndedTurn {
  readonly evidence: Awaited<ReturnType<typeof measureTurn>>
}

interface LinkedAttempt extends TurnLink {
  readonly taskId: Extract<CaptureEvent, { kind: 'attempt.linked' }>['taskId']
  readonly missionId: Extract<CaptureEvent, { kind: 'attempt.linked' }>['missionId']
}

interface SessionReduction {
  readonly steps: readonly SessionChange[]
  readonly placed: readonly LocatedHookEvent[]
  readonly standings: SessionSnapshots
}

/** Records the states that turns begin and end with, and measures those that end. */
async function gather(context: Context, trees: WorkTreeIndex, told: SessionReduction): Promise<TurnUpdates> {
  const { steps, placed, standings } = told
  const before = [...standings.talking.values(), ...standings.idle.values()].flatMap(
    (standing) => standing?.turns ?? [],
  )
  const turns = new Map<TurnId, Turn>(before.map(({ turn }) => [turn.id, turn]))
  const opened = new Map<TurnId, Turn>()
  for (const step of steps) {
    if (step.kind !== 'turn opened') continue
    const turn = await recordTurnStart(context, trees, step.draft, placed)
    opened.set(turn.id, turn)
    turns.set(turn.id, turn)
  }
  const links = await linksOfSteps(context, steps)
  const moments = new Map<TurnId, LocatedHookEvent[]>(
    before.map(({ turn, moments: own }) => [turn.id, [...own]]),
  )
  for (const step of steps) {
    if (step.kind !== 'told' || step.turnId === null) continue
    const own = moments.get(step.turnId) ?? []
    own.push(step.moment)
    moments.set(step.turnId, own)
  }
  const endings = new Map<TurnId, TurnEnd>(
    steps.flatMap((step) => (step.kind === 'turn closed' ? [[step.draft.id, step.ending] as const] : [])),
  )
  const fresh = [...turns.values()].map((turn): FreshTurn => {
    const ending = endings.get(turn.id)
    const ended: Turn = ending ? { ...turn, status: ending.status, closedAt: ending.at } : turn
    return { turn: ended, moments: moments.get(turn.id) ?? [] }
  })
  const closed = new Map<TurnId, ClosedTurn>()
  const endedAt = new Map<TurnId, number>()
  for (const one of fresh) {
    const ending = endings.get(one.turn.id)
    if (ending === undefined) continue
    const state = isOfThisMachine(context, one.turn)
      ? await trees.state(one.turn.top)
      : { place: null, at: ending.at, trouble: 'Nothing more was heard of the machine that it worked on.' }
    endedAt.set(one.turn.id, state.at)
    const isLate = placed.some(
      (moment) => canWriteFiles(moment) && moment.at > ending.at && isWritingIn(moment, one.turn.top),
    )
    const end = state.place ?? unrecordedEndNote(new Error(state.trouble))
    const ended: EndedTurn = { ...one, ending, end, isLate }
    closed.set(one.turn.id, { ...ended, evidence: await measureTurn(context, ended, { fresh, links }) })
  }
  const lines = await linesOf(context, steps, { opened, closed, endedAt, told: { fresh, links } })
  return { opened, closed, links, lines }
}

/** What became of the lines of each work tree from one state that a turn began or ended with to the next. */
async function linesOf(
  context: Context,
  steps: readonly SessionChange[],
  {
    opened,
    closed,
    endedAt,
    told,
  }: Pick<TurnUpdates, 'opened' | 'closed'> & {
    readonly endedAt: ReadonlyMap<TurnId, number>
    readonly told: NonNullable<SnapshotBoundary['told']>
  },
): Promise<readonly NewProjectEvent[]> {
  const last = new Map<string, TreeBoundary>()
  const facts: NewProjectEvent[] = []
  const until = async (now: SnapshotBoundary, first: TreeBoundary | null): Promise<void> => {
    const tree = treeOf(now.place)
    const recorded = last.get(tree) ?? (await context.store.view(({ lines }) => lines.lastBoundary(tree)))
    const before = recorded ?? first
    if (before !== null) facts.push(...(await measuredLines(context, { ...now, told, last: before })))
    last.set(tree, { at: now.at, place: now.place })
  }
  for (const step of steps) {
    if (step.kind === 'turn opened') {
      const turn = opened.get(step.draft.id)
      const place = turn?.snapshot ?? null
      if (turn === undefined || place === null || turn.baseline !== 'at_start') continue
      await until({ at: turn.baselineAt, place }, null)
    }
    if (step.kind === 'turn closed') {
      const ended = closed.get(step.draft.id)
      const place = ended?.evidence.endSnapshot ?? null
      if (ended === undefined || place === null) continue
      const { turn, evidence } = ended
      const first = evidence.snapshot && { at: turn.openedAt, place: evidence.snapshot }
      const at = endedAt.get(turn.id) ?? ended.ending.at
      await until({ at, place, turn: { id: turn.id, evidence } }, first)
    }
  }
  return facts
}

function isWritingIn({ what, top }: LocatedHookEvent, tree: string): boolean {
  if (what.kind === 'edit_began' || what.kind === 'edit_ended')
    return what.edits.some((edit) => edit.top === tree)
  return top === tree
}

/** A turn with the state that it begins with: as it is now, unless something may have been written since. */
async function recordTurnStart(
  { store }: Context,
  trees: WorkTreeIndex,
  draft: TurnDraft,
  placed: readonly LocatedHookEvent[],
): Promise<Turn> {
  const isLate = placed.some(
    (moment) => canWriteFiles(moment) && moment.at >= draft.openedAt && isWritingIn(moment, draft.top),
  )
  const now = await trees.state(draft.top)
  if (isLate) {
    const tree = now.place === null ? draft.top : treeOf(now.place)
    const before = now.at <= draft.openedAt ? now : null
    const last = before ?? (await store.view(({ capture }) => capture.lastState(tree, draft.openedAt)))
    if (last !== null) return { ...draft, snapshot: last.place, baseline: 'previous', baselineAt: last.at }
  }
  return { ...draft, snapshot: now.place, baseline: isLate ? 'late' : 'at_start', baselineAt: now.at }
}

/** The attempts that calls of our own tools named. */
async function linksOfSteps(
  { store, edge }: Context,
  steps: readonly SessionChange[],
): Promise<readonly LinkedAttempt[]> {
  const told = steps.flatMap((step) => {
    if (step.kind !== 'told' || step.moment.what.kind !== 'own_tool') return []
    const { attempt } = step.moment.what
    return attempt === null ? [] : [{ ...step, attempt }]
  })
  if (told.length === 0) return []
  return store.view(async ({ tasks, capture }) => {
    const known = new Set(
      (await capture.linksOf(told.map(({ attempt }) => attempt as AttemptId)))
        .filter(({ link }) => link === 'answer')
        .map(({ attemptId }) => attemptId),
    )
    const links = new Map<string, LinkedAttempt>()
    for (const { attempt: id, sessionId, turnId, moment } of told) {
      if (known.has(id as AttemptId) || links.has(id)) continue
      const attempt = await tasks.attempt(id)
      // What is worked on elsewhere is no work of a session here.
      if (attempt === null || attempt.snapshot.edge !== edge?.id) continue
      const agentId = moment.agent?.id ?? null
      const { taskId, missionId } = attempt
      links.set(id, { attemptId: attempt.id, taskId, missionId, sessionId, turnId, agentId, link: 'answer' })
    }
    return [...links.values()]
  })
}

const perFact = 200

/** What was told and measured, as facts in the order in which it happened. */
async function decide(
  capture: Reads['capture'],
  { opened, closed, links, lines }: TurnUpdates,
  { steps, now }: { readonly steps: readonly SessionChange[]; readonly now: number },
): Promise<{ readonly facts: readonly NewProjectEvent[]; readonly beside: readonly CaptureSideWrite[] }> {
  const facts: NewProjectEvent[] = []
  const beside: CaptureSideWrite[] = []
  const linked = new Set<string>()
  const told: Extract<CaptureSideWrite, { kind: 'moments told' }>['moments'][number][] = []
  const heard = new Map<string, number>()
  for (const step of steps) {
    if (step.kind === 'session opened') facts.push({ kind: 'session.opened', session: step.session })
    if (step.kind === 'session continued') {
      const { session, source, at } = step
      facts.push({ kind: 'session.continued', sessionId: session.id, client: session.client, source, at })
    }
    if (step.kind === 'turn opened') {
      const turn = opened.get(step.draft.id)
      if (turn === undefined) continue
      facts.push({ kind: 'turn.opened', turn })
      if (step.text !== null) beside.push({ kind: 'prompt kept', turnId: turn.id, text: step.text })
    }
    if (step.kind === 'told') {
      const { moment, sessionId, turnId } = step
      const isOpen = turnId !== null && !closed.has(turnId)
      told.push({ moment: withoutText(moment), sessionId, turnId, isOpen })
      heard.set(sessionId, (heard.get(sessionId) ?? 0) + 1)
      if (moment.what.kind === 'lost') {
        const { count, why } = moment.what
        facts.push({ kind: 'capture.lost', sessionId, turnId, from: moment.at, to: moment.at, count, why })
      }
      if (moment.what.kind === 'own_tool') {
        const link = links.find(
          ({ attemptId }) => attemptId === (moment.what as { attempt?: string }).attempt,
        )
        if (link && !linked.has(link.attemptId)) {
          linked.add(link.attemptId)
          facts.push({ kind: 'attempt.linked', ...link })
        }
      }
    }
    if (step.kind === 'turn closed') {
      const turn = closed.get(step.draft.id)
      if (turn) facts.push(...closingEvents(turn))
    }
    if (step.kind === 'session closed') {
      const { session, reason, at } = step
      const line = await capture.session(session.id)
      const own = [...opened.values()].filter(({ sessionId }) => sessionId === session.id).length
      const lost = [...closed.values()].reduce(
        (sum, { turn, moments }) => sum + (turn.sessionId === session.id ? countLost(moments) : 0),
        0,
      )
      facts.push({
        kind: 'session.closed',
        sessionId: session.id,
        client: session.client,
        reason,
        turns: (line?.turns ?? 0) + own,
        events: (line?.events ?? 0) + (heard.get(session.id) ?? 0),
        lost: (line?.lost ?? 0) + lost,
        at,
      })
    }
  }
  facts.push(...lines)
  if (told.length > 0) beside.push({ kind: 'moments told', moments: told })
  if (closed.size > 0) {
    beside.push({ kind: 'turns recorded', turnIds: [...closed.keys()] })
    beside.push({ kind: 'moments forgotten', before: now - keysKept })
  }
  return { facts, beside }
}

/** The text of a prompt is kept in one place. */
function withoutText(moment: LocatedHookEvent): LocatedHookEvent {
  return moment.what.kind === 'prompted' ? { ...moment, what: { ...moment.what, text: null } } : moment
}

function closingEvents({ turn, moments, ending, evidence }: ClosedTurn): readonly NewProjectEvent[] {
  const { id: turnId, sessionId, client, top } = turn
  const edits = seenEdits(moments, top)
  const commands = seenCommands(moments, top)
  const models = moments.map(({ model }) => model).filter((model) => model !== null)
  return [
    ...parts(edits).map(
      (some): NewProjectEvent => ({ kind: 'edits.reported', turnId, sessionId, edits: some }),
    ),
    ...parts(commands).map(
      (some): NewProjectEvent => ({ kind: 'commands.seen', turnId, sessionId, commands: some }),
    ),
    {
      kind: 'turn.closed',
      turnId,
      sessionId,
      client,
      status: ending.status,
      closedAt: ending.at,
      how: ending.note,
      error: ending.error,
      model: models.at(-1) ?? null,
      usage: ending.usage,
      items: itemsOf(moments),
      coverage: coverageOf(moments),
      lost: countLost(moments),
      evidence,
    },
  ]
}

function parts<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const count = Math.ceil(items.length / perFact)
  return Array.from({ length: count }, (_, at) => items.slice(at * perFact, (at + 1) * perFact))
}

import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { Actor } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import type { AttemptId, CaptureSessionId, IdSource, TurnId } from '../../kernel/id.ts'
import { measuredList, path } from '../../kernel/operations/fields.ts'
import {
  localMeasurer,
  type Measure,
  measureFor,
  measurement,
  withMachine,
} from '../../kernel/operations/measurement-protocol.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import {
  changedLineContext,
  changedLines,
  type LineRecordContext,
  linesBrief,
  recordedLines,
  reportedBrief,
  reportedContents,
  type SnapshotBoundary,
} from '../../lines/operations/record-lines.ts'
import type { TreeBoundary } from '../../lines/ports/line-reads.ts'
import type { CaptureSideWrite, Reads } from '../../store/ports/store.ts'
import { treeOf } from '../../track/domain/task.ts'
import { lossContext, lostBrief, lostContents, recordedLosses } from '../../track/operations/losses.ts'
import type { HookEvent } from '../domain/hook-event.ts'
import type { CapturedSession, CaptureEvent, Turn, TurnEvidence } from '../domain/session.ts'
import {
  canWriteFiles,
  countLost,
  coverageOf,
  endSession,
  itemsOf,
  type LocatedHookEvent,
  reduceSession,
  type SessionChange,
  type SessionSnapshot,
  seenCommands,
  seenEdits,
  sessionIdleMs,
  type TurnDraft,
  type TurnEnd,
} from '../domain/turns-from-hook-events.ts'
import type { TurnLink } from '../ports/capture-reads.ts'
import type { FreshTurn } from './hook-evidence.ts'
import { locateHookEvents, type TreeStateResult, treeState, WorkTreeIndex } from './locate-hook-events.ts'
import {
  attributedTurn,
  type EndedTurn,
  readTurnChanges,
  sharedFiles,
  type TurnWithChanges,
  turnChangesBrief,
  turnDetailsBrief,
  turnEvidence,
  turnMeasurements,
  unknownEvidence,
  unrecordedEndNote,
} from './measure-turn.ts'

/** The result of recording a batch of hook events. */
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

/** Keys are kept longer than the week that an event may wait in the queue. */
const keysKept = 8 * 24 * 60 * 60 * 1000
const maxTries = 5

const maxBoundaries = 2_000

/** Measurements on the machine where the hooks ran. */
export const hookEventMeasurements = {
  /** The current states of work trees. */
  states: measurement({
    brief: measuredList(path, maxBoundaries),
    measured: measuredList(treeState, maxBoundaries),
    fits: (tops, states) =>
      states.length === tops.length && states.every((state, at) => state.top === tops[at]),
    measure: async ({ witness, snapshotName, now }, tops) => {
      const trees = new WorkTreeIndex({ witness, nameOf: snapshotName, now })
      return Promise.all(tops.map(async (top) => ({ top, ...(await trees.state(top)) })))
    },
  }),
  ...turnMeasurements,
  reported: measurement({
    brief: measuredList(reportedContents.brief, maxBoundaries),
    measured: measuredList(reportedContents.measured, maxBoundaries),
    fits: (briefs, results) =>
      briefs.length === results.length &&
      briefs.every((brief, at) => reportedContents.fits?.(brief, results[at] as never) ?? true),
    measure: async (workTree, briefs, input) =>
      Promise.all(briefs.map((brief) => reportedContents.measure(workTree, brief, input))),
  }),
  lines: measurement({
    brief: measuredList(changedLines.brief, maxBoundaries),
    measured: measuredList(changedLines.measured, maxBoundaries),
    fits: (briefs, results) => briefs.length === results.length,
    measure: async (workTree, briefs, input) =>
      Promise.all(briefs.map((brief) => changedLines.measure(workTree, brief, input))),
  }),
  lost: measurement({
    brief: measuredList(lostContents.brief, maxBoundaries),
    measured: measuredList(lostContents.measured, maxBoundaries),
    fits: (briefs, results) =>
      briefs.length === results.length &&
      briefs.every((brief, at) => lostContents.fits?.(brief, results[at] as never) ?? true),
    measure: async (workTree, briefs, input) =>
      Promise.all(briefs.map((brief) => lostContents.measure(workTree, brief, input))),
  }),
}

/** How events are read and measured: locally step by step, for another machine within its preparation. */
export interface HookEventSource {
  readonly context: Pick<Context, 'clock' | 'machine'>
  readonly ids: IdSource
  readonly view: <Found>(look: (reads: Reads) => Promise<Found>) => Promise<Found>
  readonly measure: Measure<typeof hookEventMeasurements>
  /** The states of trees in which a turn begins or ends. */
  readonly statesOf: (tops: readonly string[]) => Promise<ReadonlyMap<string, TreeStateResult>>
}

/** A batch that is prepared and not recorded yet. */
export interface PreparedHookEvents {
  readonly summary: HookEventSummary
  /** The client of the first event. */
  readonly client: string
  readonly steps: readonly SessionChange[]
  readonly updates: TurnUpdates
  readonly now: number
  readonly keys: readonly string[]
  /** The turns that were open before. */
  readonly open: ReadonlySet<TurnId>
}

/**
 * Records the hook events of this machine, and measures the turns that end. The same event may come again, and a batch
 * may end anywhere. Also ends sessions without a hook event for half an hour.
 */
export async function recordMachineEvents(
  context: Context,
  hookEvents: readonly HookEvent[],
): Promise<HookEventSummary> {
  for (let tried = 1; tried < maxTries; tried += 1) {
    const recorded = await tryToRecord(context, hookEvents)
    if (recorded !== null) return recorded
  }
  throw new Failure('UNAVAILABLE', 'Other processes record the same events at the same time.', {
    reason: 'ingest_in_progress',
    hint: 'One ingest at a time is enough. The next one records the rest.',
  })
}

/** Returns null if another process recorded some of the events meanwhile. */
async function tryToRecord(
  context: Context,
  hookEvents: readonly HookEvent[],
): Promise<HookEventSummary | null> {
  const { copies, store, clock, ids, witness } = context
  const trees = new WorkTreeIndex({ witness, nameOf: () => ids.next('turn'), now: () => clock.now() })
  const stateOf = async (top: string) => {
    const last = await store.view(({ capture }) => capture.lastState(top, Number.MAX_SAFE_INTEGER))
    return last?.place ?? (await trees.state(top)).place
  }
  const operation = { name: 'ingest', measurements: hookEventMeasurements }
  const source: HookEventSource = {
    context,
    ids,
    view: (look) => store.view(look),
    measure: measureFor({ context: { ...context, measurer: localMeasurer(context) }, operation, input: {} }),
    statesOf: async (tops) =>
      new Map(await Promise.all(tops.map(async (top) => [top, await trees.state(top)] as const))),
  }
  const prepared = await prepareHookEvents(source, hookEvents, (fresh) =>
    locateHookEvents(fresh, { copies, trees, stateOf }),
  )
  if (prepared.steps.length === 0) return prepared.summary
  return store.record({
    actor: actorOf(context, prepared.client),
    at: clock.now(),
    decide: async ({ capture }) => {
      const [recorded, ...turns] = await Promise.all([
        capture.recordedKeys(prepared.keys),
        ...[...prepared.open].map((id) => capture.turn(id)),
      ])
      // Another process was faster: its entries change the result of this batch.
      if (recorded.size > 0 || turns.some((line) => line?.turn.status !== 'open'))
        return { events: [], answer: null }
      return { ...(await decideHookEvents(capture, prepared)), answer: prepared.summary }
    },
  })
}

/** Derives the session changes of hook events, and measures what they need. */
export async function prepareHookEvents<One extends Pick<HookEvent, 'key' | 'client' | 'session'>>(
  source: HookEventSource,
  hookEvents: readonly One[],
  locate: (fresh: readonly One[]) => Promise<readonly LocatedHookEvent[]>,
): Promise<PreparedHookEvents> {
  const { context, ids, view } = source
  const now = context.clock.now()
  const keys = hookEvents.map(({ key }) => key)
  const existing = await view(async ({ capture }) => {
    const [recorded, open] = await Promise.all([capture.recordedKeys(keys), capture.openSessions()])
    return { recorded, idle: open.filter(({ lastAt }) => lastAt < now - sessionIdleMs) }
  })
  const seen = new Set<string>()
  const fresh = hookEvents.filter(({ key }) => {
    const isNew = !existing.recorded.has(key) && !seen.has(key)
    seen.add(key)
    return isNew
  })
  const talking = new Set(fresh.map((hookEvent) => `${hookEvent.client.name} ${hookEvent.session}`))
  const idle = existing.idle.filter(
    ({ session }) => !talking.has(`${session.client} ${session.clientSession}`),
  )
  const prepared: PreparedHookEvents = {
    summary: { ...nothing, repeated: hookEvents.length - fresh.length },
    client: fresh[0]?.client.name ?? idle[0]?.session.client ?? 'capture',
    steps: [],
    updates: { opened: new Map(), closed: new Map(), links: [], lines: [] },
    now,
    keys: fresh.map(({ key }) => key),
    open: new Set(),
  }
  if (fresh.length === 0 && idle.length === 0) return prepared
  const located = await locate(fresh)
  const snapshots = await view((reads) =>
    readSessionStates(reads, located, { idle, machine: context.machine?.id }),
  )
  const steps: SessionChange[] = []
  for (const [key, own] of Map.groupBy(located, (one) => `${one.client.name} ${one.session}`))
    steps.push(...reduceSession(snapshots.talking.get(key) ?? null, own, { ids, parents: snapshots.parents }))
  for (const { session, lastAt } of idle) {
    const snapshot = snapshots.idle.get(session.id)
    const mayEnd =
      snapshot?.turns.every(({ turn }) => isOfThisMachine(context, turn)) || lastAt < now - lastWord
    if (snapshot && mayEnd) steps.push(...endSession(snapshot, lastAt, ids))
  }
  if (steps.length === 0) return prepared
  const updates = await gather(source, { steps, located, snapshots })
  const wasOpen = [...snapshots.talking.values(), ...snapshots.idle.values()].flatMap(
    (snapshot) => snapshot?.turns.map(({ turn }) => turn.id) ?? [],
  )
  const count = (kind: SessionChange['kind']): number => steps.filter((step) => step.kind === kind).length
  return {
    ...prepared,
    summary: {
      recorded: fresh.length,
      repeated: prepared.summary.repeated,
      sessionsOpened: count('session opened'),
      turnsOpened: count('turn opened'),
      turnsClosed: count('turn closed'),
    },
    steps,
    updates,
    open: new Set(wasOpen),
  }
}

function actorOf({ actor: { channel, machine } }: Context, client: string): Actor {
  return { name: client, kind: 'agent', role: null, channel, ...(machine !== undefined && { machine }) }
}

/** A machine sends its waiting events within two weeks, in milliseconds. */
const lastWord = 14 * 24 * 60 * 60 * 1000

/** Whether a turn is of this machine: only its own machine can measure it. */
function isOfThisMachine({ machine }: Pick<Context, 'machine'>, { snapshot }: Turn): boolean {
  return snapshot === null || snapshot.machineId === machine?.id
}

interface SessionSnapshots {
  /** By client and the client's own id of the session. */
  readonly talking: ReadonlyMap<string, SessionSnapshot | null>
  /** By Waymark's id of the session. */
  readonly idle: ReadonlyMap<string, SessionSnapshot>
  /** Forked sessions, by their client's own ids. */
  readonly parents: ReadonlyMap<string, CaptureSessionId>
}

async function readSessionStates(
  { capture }: Reads,
  hookEvents: readonly LocatedHookEvent[],
  {
    idle,
    machine,
  }: {
    readonly idle: readonly { readonly session: CapturedSession }[]
    readonly machine: string | undefined
  },
): Promise<SessionSnapshots> {
  const snapshot = async (session: CapturedSession): Promise<SessionSnapshot> => {
    const turns = await capture.openTurns(session.id)
    const [hookEvents, lastNumber] = await Promise.all([
      capture.hookEvents(turns.map(({ id }) => id)),
      capture.lastNumber(session.id),
    ])
    return {
      session,
      turns: turns.map((turn) => ({ turn, hookEvents: hookEvents.get(turn.id) ?? [] })),
      lastNumber,
    }
  }
  const talking = new Map<string, SessionSnapshot | null>()
  const parents = new Map<string, CaptureSessionId>()
  for (const { client, session, what } of hookEvents) {
    if (what.kind === 'session_started' && what.parent !== null) {
      const parent = await capture.latest(client.name, what.parent)
      if (parent) parents.set(what.parent, parent.id)
    }
    const key = `${client.name} ${session}`
    if (talking.has(key)) continue
    const latest = await capture.latest(client.name, session)
    const isOwn = latest !== null && (await isOfMachine(capture, latest, machine))
    talking.set(key, isOwn ? await snapshot(latest) : null)
  }
  const silent = new Map<string, SessionSnapshot>()
  for (const { session } of idle) silent.set(session.id, await snapshot(session))
  return { talking, idle: silent, parents }
}

/** A session with the same id on another machine is a different session. */
async function isOfMachine(
  capture: Reads['capture'],
  { id }: CapturedSession,
  machine: string | undefined,
): Promise<boolean> {
  const last = await capture.lastNumber(id)
  const [line] = await capture.turns(id, { limit: 1, offset: Math.max(0, last - 1) })
  const place = line?.turn.snapshot ?? null
  return place === null || place.machineId === machine
}

interface TurnUpdates {
  /** Turns that begin. */
  readonly opened: ReadonlyMap<TurnId, Turn>
  readonly closed: ReadonlyMap<TurnId, ClosedTurn>
  readonly links: readonly LinkedAttempt[]
  /** The changes of lines between the states that turns began and ended with. */
  readonly lines: readonly NewProjectEvent[]
}

interface ClosedTurn extends EndedTurn {
  readonly evidence: TurnEvidence
}

interface LinkedAttempt extends TurnLink {
  readonly taskId: Extract<CaptureEvent, { kind: 'attempt.linked' }>['taskId']
  readonly missionId: Extract<CaptureEvent, { kind: 'attempt.linked' }>['missionId']
}

interface SessionReduction {
  readonly steps: readonly SessionChange[]
  readonly located: readonly LocatedHookEvent[]
  readonly snapshots: SessionSnapshots
}

/** Records the states that turns begin and end with, and measures those that end. */
async function gather(source: HookEventSource, reduction: SessionReduction): Promise<TurnUpdates> {
  const { context, view, measure } = source
  const { steps, located, snapshots } = reduction
  const before = [...snapshots.talking.values(), ...snapshots.idle.values()].flatMap(
    (snapshot) => snapshot?.turns ?? [],
  )
  const turnsBefore = new Map(before.map(({ turn }) => [turn.id, turn]))
  const drafts = steps.flatMap((step) => (step.kind === 'turn opened' ? [step.draft] : []))
  const endings = new Map<TurnId, TurnEnd>(
    steps.flatMap((step) => (step.kind === 'turn closed' ? [[step.draft.id, step.ending] as const] : [])),
  )
  const ending = [...endings.keys()].flatMap((id) => turnsBefore.get(id) ?? [])
  const tops = [
    ...drafts.map(({ top }) => top),
    ...ending.filter((turn) => isOfThisMachine(context, turn)).map(({ top }) => top),
  ]
  const states = await source.statesOf([...new Set(tops)])
  const opened = new Map<TurnId, Turn>()
  for (const draft of drafts)
    opened.set(draft.id, await view((reads) => turnAtStart(reads, draft, { located, states })))
  const turns = new Map<TurnId, Turn>([...turnsBefore, ...opened])
  const links = await view((reads) => linksOfSteps(reads, context, steps))
  const hookEvents = new Map<TurnId, LocatedHookEvent[]>(
    before.map(({ turn, hookEvents: own }) => [turn.id, [...own]]),
  )
  for (const step of steps) {
    if (step.kind !== 'hook event' || step.turnId === null) continue
    const own = hookEvents.get(step.turnId) ?? []
    own.push(step.hookEvent)
    hookEvents.set(step.turnId, own)
  }
  const fresh = [...turns.values()].map((turn): FreshTurn => {
    const end = endings.get(turn.id)
    const ended: Turn = end ? { ...turn, status: end.status, closedAt: end.at } : turn
    return { turn: ended, hookEvents: hookEvents.get(turn.id) ?? [] }
  })
  const ended = fresh.flatMap((one): EndedState[] => {
    const end = endings.get(one.turn.id)
    if (end === undefined) return []
    const elsewhere = {
      place: null,
      takenAt: end.at,
      error: 'The machine that it worked on reported nothing more.',
    }
    const state = isOfThisMachine(context, one.turn) ? states.get(one.turn.top) : undefined
    const { place, takenAt, error } = state ?? elsewhere
    const isLate = located.some(
      (hookEvent) =>
        canWriteFiles(hookEvent) && hookEvent.reportedAt > end.at && isWritingIn(hookEvent, one.turn.top),
    )
    const ends = { ending: end, end: place ?? unrecordedEndNote(new Error(error)), isLate }
    return [{ ...one, ...ends, at: takenAt }]
  })
  const closing = { fresh, links }
  const begun = ended.map((one) => ({ one, brief: turnChangesBrief(one) }))
  const measurable = begun.flatMap(({ one, brief }) => (typeof brief === 'string' ? [] : [{ one, brief }]))
  const { changes } = await measure({ changes: listOrNothing(measurable.map(({ brief }) => brief)) })
  const changed = new Map<TurnId, TurnWithChanges>()
  for (const [at, { one }] of measurable.entries()) {
    const span = changes?.[at]
    if (span === undefined) continue
    const between = {
      ...span,
      from: withMachine(context, span.from),
      to: withMachine(context, span.to),
    }
    changed.set(one.turn.id, await view((reads) => readTurnChanges(reads, one, between, closing)))
  }
  const bounds = await boundariesOf(source, { steps, opened, ended, changed, closing })
  const measured = await measure({
    details: listOrNothing([...changed.values()].map(turnDetailsBrief)),
    reported: listOrNothing(bounds.map(({ around, now }) => reportedBrief(around, now))),
  })
  const attributed = [...changed.values()].map((one, at) => attributedTurn(one, measured.details?.[at]))
  const shared = attributed.flatMap((turn) =>
    [...sharedFiles(turn)].map(([name, brief]) => ({ turn, name, brief })),
  )
  const spans = bounds.flatMap((bound, at) => {
    const reported = measured.reported?.[at]
    return reported === undefined ? [] : [{ ...bound, reported }]
  })
  const isOn = spans.every(({ around }) => around.isOn)
  const losses = await view((reads) => Promise.all(spans.map(({ around }) => lossContext(reads, around))))
  const last = await measure({
    own: listOrNothing(shared.map(({ brief }) => brief)),
    lines: isOn
      ? listOrNothing(spans.map(({ around, now, reported }) => linesBrief(around, now, reported)))
      : undefined,
    lost: listOrNothing(
      spans.flatMap(({ now }, at) => {
        const context = losses[at]
        return context === undefined ? [] : [lostBrief(context, now)]
      }),
    ),
  })
  const evidence = new Map<TurnId, TurnEvidence>(
    begun.flatMap(({ one, brief }) =>
      typeof brief === 'string' ? [[one.turn.id, unknownEvidence(brief)] as const] : [],
    ),
  )
  for (const turn of attributed) {
    const own = shared.flatMap((file, at) =>
      file.turn === turn ? [[file.name, last.own?.[at] ?? null] as const] : [],
    )
    evidence.set(turn.ended.turn.id, turnEvidence(turn, new Map(own)))
  }
  const closed = new Map<TurnId, ClosedTurn>(
    ended.flatMap((one) => {
      const own = evidence.get(one.turn.id)
      return own === undefined ? [] : [[one.turn.id, { ...one, evidence: own }] as const]
    }),
  )
  const lines = spans.flatMap(({ around, now, reported }, at) =>
    recordedLines(around, now, { reported, lines: last.lines?.[at] ?? null }),
  )
  const setting = { at: context.clock.now(), ids: source.ids }
  const lost = await view(async (reads) => {
    const all: NewProjectEvent[] = []
    for (const [at, { around, now }] of spans.entries()) {
      const own = losses[at]
      if (own === undefined) continue
      all.push(
        ...(await recordedLosses(reads, { lines: around, losses: own }, last.lost?.[at], { now, setting })),
      )
    }
    return all
  })
  return { opened, closed, links, lines: [...lines, ...lost] }
}

interface EndedState extends EndedTurn {
  /** When the state that it ends with was recorded. */
  readonly at: number
}

/** Undefined for an empty list: then nothing is measured. */
function listOrNothing<Item>(items: readonly Item[]): Item[] | undefined {
  return items.length === 0 ? undefined : [...items]
}

/** A state that a turn began or ended with, and the context of its lines since the state before. */
interface LineBoundary {
  readonly now: SnapshotBoundary
  readonly around: LineRecordContext
}

/** The states of work trees that turns began and ended with, in order. */
async function boundariesOf(
  { view }: HookEventSource,
  {
    steps,
    opened,
    ended,
    changed,
    closing,
  }: {
    readonly steps: readonly SessionChange[]
    readonly opened: ReadonlyMap<TurnId, Turn>
    readonly ended: readonly EndedState[]
    readonly changed: ReadonlyMap<TurnId, TurnWithChanges>
    readonly closing: NonNullable<SnapshotBoundary['unrecorded']>
  },
): Promise<readonly LineBoundary[]> {
  const last = new Map<string, TreeBoundary>()
  const boundaries: LineBoundary[] = []
  const endOf = new Map(ended.map((one) => [one.turn.id, one]))
  const until = async (now: TreeBoundary, first: TreeBoundary | null) => {
    const tree = treeOf(now.place)
    const before = last.get(tree) ?? (await view(({ lines }) => lines.lastBoundary(tree))) ?? first
    last.set(tree, now)
    if (before === null) return
    const boundary = { ...now, unrecorded: closing, last: before }
    const around = await view((reads) => changedLineContext(reads, boundary))
    if (around !== null) boundaries.push({ now: boundary, around })
  }
  for (const step of steps) {
    if (step.kind === 'turn opened') {
      const turn = opened.get(step.draft.id)
      const place = turn?.snapshot ?? null
      if (turn === undefined || place === null || turn.baseline !== 'at_start') continue
      await until({ at: turn.baselineAt, place }, null)
    }
    if (step.kind === 'turn closed') {
      const { id } = step.draft
      const [one, change] = [endOf.get(id), changed.get(id)]
      if (one === undefined || change === undefined) continue
      const first = { at: one.turn.openedAt, place: change.from }
      await until({ at: one.at, place: change.to }, first)
    }
  }
  return boundaries
}

function isWritingIn({ what, top }: LocatedHookEvent, tree: string): boolean {
  if (what.kind === 'edit_began' || what.kind === 'edit_ended')
    return what.edits.some((edit) => edit.top === tree)
  return top === tree
}

/** A turn with its first state: the current one, unless something may have been written since. */
async function turnAtStart(
  { capture }: Reads,
  draft: TurnDraft,
  {
    located,
    states,
  }: {
    readonly located: readonly LocatedHookEvent[]
    readonly states: ReadonlyMap<string, TreeStateResult>
  },
): Promise<Turn> {
  const isLate = located.some(
    (hookEvent) =>
      canWriteFiles(hookEvent) && hookEvent.reportedAt >= draft.openedAt && isWritingIn(hookEvent, draft.top),
  )
  const unknown = { place: null, takenAt: draft.openedAt, error: '' }
  const now = states.get(draft.top) ?? unknown
  if (isLate) {
    const tree = now.place === null ? draft.top : treeOf(now.place)
    const before = now.takenAt <= draft.openedAt ? now : null
    const last = before ?? (await capture.lastState(tree, draft.openedAt))
    if (last !== null)
      return { ...draft, snapshot: last.place, baseline: 'previous', baselineAt: last.takenAt }
  }
  return { ...draft, snapshot: now.place, baseline: isLate ? 'late' : 'at_start', baselineAt: now.takenAt }
}

/** The attempts that calls of Waymark's own tools named. */
async function linksOfSteps(
  { tasks, capture }: Reads,
  { machine }: Pick<Context, 'machine'>,
  steps: readonly SessionChange[],
): Promise<readonly LinkedAttempt[]> {
  const calls = steps.flatMap((step) => {
    if (step.kind !== 'hook event' || step.hookEvent.what.kind !== 'own_tool') return []
    const { attempt } = step.hookEvent.what
    return attempt === null ? [] : [{ ...step, attempt }]
  })
  if (calls.length === 0) return []
  const linked = new Set(
    (await capture.linksOf(calls.map(({ attempt }) => attempt as AttemptId)))
      .filter(({ link }) => link === 'answer')
      .map(({ attemptId }) => attemptId),
  )
  const links = new Map<string, LinkedAttempt>()
  for (const { attempt: id, sessionId, turnId, hookEvent } of calls) {
    if (linked.has(id as AttemptId) || links.has(id)) continue
    const attempt = await tasks.attempt(id)
    // An attempt on another machine is no work of a session here.
    if (attempt === null || attempt.snapshot.machineId !== machine?.id) continue
    const agentId = hookEvent.agent?.id ?? null
    const { taskId, missionId } = attempt
    links.set(id, { attemptId: attempt.id, taskId, missionId, sessionId, turnId, agentId, link: 'answer' })
  }
  return [...links.values()]
}

const perEvent = 200

/** Turns hook events and measurements into log entries, in the order in which they happened. */
export async function decideHookEvents(
  capture: Reads['capture'],
  { updates: { opened, closed, links, lines }, steps, now }: PreparedHookEvents,
): Promise<{
  readonly events: readonly NewProjectEvent[]
  readonly sideWrites: readonly CaptureSideWrite[]
}> {
  const projectEvents: NewProjectEvent[] = []
  const sideWrites: CaptureSideWrite[] = []
  const linked = new Set<string>()
  const ingested: Extract<CaptureSideWrite, { kind: 'hook events ingested' }>['hookEvents'][number][] = []
  const heard = new Map<string, number>()
  for (const step of steps) {
    if (step.kind === 'session opened') projectEvents.push({ kind: 'session.opened', session: step.session })
    if (step.kind === 'session continued') {
      const { session, source, reportedAt } = step
      projectEvents.push({
        kind: 'session.continued',
        sessionId: session.id,
        client: session.client,
        source,
        reportedAt,
      })
    }
    if (step.kind === 'turn opened') {
      const turn = opened.get(step.draft.id)
      if (turn === undefined) continue
      projectEvents.push({ kind: 'turn.opened', turn })
      if (step.text !== null) sideWrites.push({ kind: 'prompt kept', turnId: turn.id, text: step.text })
    }
    if (step.kind === 'hook event') {
      const { hookEvent, sessionId, turnId } = step
      const isOpen = turnId !== null && !closed.has(turnId)
      ingested.push({ hookEvent: withoutText(hookEvent), sessionId, turnId, isOpen })
      heard.set(sessionId, (heard.get(sessionId) ?? 0) + 1)
      if (hookEvent.what.kind === 'lost') {
        const { count, why } = hookEvent.what
        projectEvents.push({
          kind: 'capture.lost',
          sessionId,
          turnId,
          from: hookEvent.reportedAt,
          to: hookEvent.reportedAt,
          count,
          why,
        })
      }
      if (hookEvent.what.kind === 'own_tool') {
        const link = links.find(
          ({ attemptId }) => attemptId === (hookEvent.what as { attempt?: string }).attempt,
        )
        if (link && !linked.has(link.attemptId)) {
          linked.add(link.attemptId)
          projectEvents.push({ kind: 'attempt.linked', ...link })
        }
      }
    }
    if (step.kind === 'turn closed') {
      const turn = closed.get(step.draft.id)
      if (turn) projectEvents.push(...closingEvents(turn))
    }
    if (step.kind === 'session closed') {
      const { session, reason, reportedAt } = step
      const line = await capture.session(session.id)
      const own = [...opened.values()].filter(({ sessionId }) => sessionId === session.id).length
      const lost = [...closed.values()].reduce(
        (sum, { turn, hookEvents }) => sum + (turn.sessionId === session.id ? countLost(hookEvents) : 0),
        0,
      )
      projectEvents.push({
        kind: 'session.closed',
        sessionId: session.id,
        client: session.client,
        reason,
        turns: (line?.turns ?? 0) + own,
        events: (line?.events ?? 0) + (heard.get(session.id) ?? 0),
        lost: (line?.lost ?? 0) + lost,
        reportedAt,
      })
    }
  }
  projectEvents.push(...lines)
  if (ingested.length > 0) sideWrites.push({ kind: 'hook events ingested', hookEvents: ingested })
  if (closed.size > 0) {
    sideWrites.push({ kind: 'turns recorded', turnIds: [...closed.keys()] })
    sideWrites.push({ kind: 'hook events forgotten', before: now - keysKept })
  }
  return { events: projectEvents, sideWrites }
}

/** The text of a prompt is kept only in its own table. */
function withoutText(hookEvent: LocatedHookEvent): LocatedHookEvent {
  return hookEvent.what.kind === 'prompted'
    ? { ...hookEvent, what: { ...hookEvent.what, text: null } }
    : hookEvent
}

function closingEvents({ turn, hookEvents, ending, evidence }: ClosedTurn): readonly NewProjectEvent[] {
  const { id: turnId, sessionId, client, top } = turn
  const edits = seenEdits(hookEvents, top)
  const commands = seenCommands(hookEvents, top)
  const models = hookEvents.map(({ model }) => model).filter((model) => model !== null)
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
      items: itemsOf(hookEvents),
      coverage: coverageOf(hookEvents),
      lost: countLost(hookEvents),
      evidence,
    },
  ]
}

function parts<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const count = Math.ceil(items.length / perEvent)
  return Array.from({ length: count }, (_, at) => items.slice(at * perEvent, (at + 1) * perEvent))
}

import type { CaptureSessionId, IdSource, TurnId } from '../../kernel/id.ts'
import type { Coverage, HookEvent, HookEventBody, TokenUsage } from './hook-event.ts'
import type {
  CapturedSession,
  HookCommandWindow,
  HookEdit,
  SessionSource,
  Turn,
  TurnStatus,
} from './session.ts'

/** A hook event with the tops of the work trees that it concerns, and with what its copies hold. */
export interface LocatedHookEvent extends Omit<HookEvent, 'what'> {
  /** Of its folder. */
  readonly top: string
  readonly what: LocatedHookEventBody
}

export type LocatedHookEventBody =
  | Exclude<HookEventBody, { readonly kind: 'edit_began' | 'edit_ended' }>
  | {
      readonly kind: 'edit_began' | 'edit_ended'
      readonly call: string | null
      readonly tool: string
      readonly failed: boolean
      readonly edits: readonly LocatedEdit[]
    }

export interface LocatedEdit {
  readonly top: string
  /** From the top. */
  readonly path: string
  /** An id, null for no file, undefined where no copy was made. */
  readonly content?: string | null
  /** When that content was written, in milliseconds, if it is the one before the edit. */
  readonly modifiedAt?: number
  readonly explained: boolean | null
  /** The id of the content that the tool's edit alone would leave, if something else was written as well. */
  readonly meant?: string
  /** The content at the time of the write, if another call wrote after this one had begun. */
  readonly onto?: string
}

/** A session before a batch of hook events. */
export interface SessionSnapshot {
  readonly session: CapturedSession
  readonly turns: readonly OpenTurn[]
  /** The number of its last turn. */
  readonly lastNumber: number
}

export interface OpenTurn {
  readonly turn: Turn
  /** Its hook events so far, in order. */
  readonly hookEvents: readonly LocatedHookEvent[]
}

export type TurnDraft = Omit<Turn, 'snapshot' | 'baseline' | 'baselineAt'>

export interface TurnEnd {
  readonly status: Exclude<TurnStatus, 'open'>
  readonly at: number
  readonly note: string | null
  readonly error: string | null
  readonly usage: TokenUsage | null
}

/** The changes that a batch of hook events makes, in order. */
export type SessionChange =
  | { readonly kind: 'session opened'; readonly session: CapturedSession }
  | {
      readonly kind: 'session continued'
      readonly session: CapturedSession
      readonly source: SessionSource
      readonly reportedAt: number
    }
  | {
      readonly kind: 'session closed'
      readonly session: CapturedSession
      readonly reason: string | null
      readonly reportedAt: number
    }
  | { readonly kind: 'turn opened'; readonly draft: TurnDraft; readonly text: string | null }
  | {
      readonly kind: 'turn closed'
      readonly draft: TurnDraft
      readonly hookEvents: readonly LocatedHookEvent[]
      readonly ending: TurnEnd
    }
  | {
      readonly kind: 'hook event'
      readonly hookEvent: LocatedHookEvent
      readonly sessionId: CaptureSessionId
      readonly turnId: TurnId | null
    }

interface TurnProgress {
  draft: TurnDraft
  readonly hookEvents: LocatedHookEvent[]
  /** Set when it stopped while a shell of it still runs. */
  ending: TurnEnd | null
}

export interface SessionReducerContext {
  readonly ids: IdSource
  /** Sessions that were forked, by their client's own ids. */
  readonly parents: ReadonlyMap<string, CaptureSessionId>
}

/** A session without a hook event for half an hour is over, in milliseconds. */
export const sessionIdleMs = 30 * 60 * 1000

/** Derives the changes of one session from its hook events, in the order of their keys. */
export function reduceSession(
  snapshot: SessionSnapshot | null,
  hookEvents: readonly LocatedHookEvent[],
  { ids, parents }: SessionReducerContext,
): readonly SessionChange[] {
  const reducer = new SessionReducer(snapshot, ids, parents)
  for (const hookEvent of hookEvents) reducer.apply(hookEvent)
  return reducer.steps
}

/** Ends an idle session. */
export function endSession(snapshot: SessionSnapshot, at: number, ids: IdSource): readonly SessionChange[] {
  const reducer = new SessionReducer(snapshot, ids)
  reducer.end(at, 'idle')
  return reducer.steps
}

class SessionReducer {
  readonly steps: SessionChange[] = []
  readonly #ids: IdSource
  readonly #parents: ReadonlyMap<string, CaptureSessionId>
  #session: CapturedSession | null
  #turns: TurnProgress[]
  #lastNumber: number
  /** Types of subagents, as named at their start. */
  readonly #types = new Map<string, string>()

  constructor(
    snapshot: SessionSnapshot | null,
    ids: IdSource,
    parents: ReadonlyMap<string, CaptureSessionId> = new Map(),
  ) {
    this.#ids = ids
    this.#parents = parents
    this.#session = snapshot?.session ?? null
    this.#lastNumber = snapshot?.lastNumber ?? 0
    this.#turns = (snapshot?.turns ?? []).map(({ turn, hookEvents }) => ({
      draft: turn,
      hookEvents: [...hookEvents],
      ending: endingOf(hookEvents),
    }))
  }

  apply(hookEvent: LocatedHookEvent): void {
    const session = this.#sessionOf(hookEvent)
    const { what, agent, reportedAt } = hookEvent
    if (agent !== null && agent.type !== null) this.#types.set(agent.id, agent.type)
    switch (what.kind) {
      case 'session_started':
      case 'agent_started':
        this.#note(hookEvent, null)
        break
      case 'prompted':
        this.#note(hookEvent, this.#beginTurn(session, hookEvent, what))
        break
      case 'edit_began':
      case 'edit_ended':
        this.#note(hookEvent, this.#turnIn(session, hookEvent, what.edits[0]?.top ?? hookEvent.top))
        break
      case 'command_began':
      case 'command_ended':
        this.#note(hookEvent, this.#turnIn(session, hookEvent, hookEvent.top))
        break
      case 'own_tool':
      case 'items':
      case 'model_switched':
      case 'lost':
        this.#note(hookEvent, this.#current(hookEvent))
        break
      case 'agent_stopped':
        this.#note(hookEvent, this.#current(hookEvent))
        // The tokens are those of all its turns: only one turn gets them.
        for (const [n, turn] of (agent === null ? [] : this.#of(agent.id)).entries())
          this.#close(turn, { ...plainEnding(reportedAt), usage: n === 0 ? what.usage : null })
        break
      case 'stopped':
        this.#stop(hookEvent, what)
        break
      case 'session_ended':
        this.#note(hookEvent, null)
        this.end(reportedAt, what.reason)
        break
    }
  }

  end(at: number, reason: string | null): void {
    const session = this.#session
    if (session === null) return
    for (const turn of this.#turns.slice().reverse()) {
      const note = reason === 'idle' ? 'No hook event for half an hour.' : 'Its session ended.'
      this.#close(turn, turn.ending ?? { ...plainEnding(at), note })
    }
    if (session.status === 'closed') return
    this.#session = { ...session, status: 'closed' }
    this.steps.push({ kind: 'session closed', session, reason, reportedAt: at })
  }

  #sessionOf(hookEvent: LocatedHookEvent): CapturedSession {
    const { what, reportedAt: openedAt, client, model } = hookEvent
    const current = this.#session
    const started = what.kind === 'session_started' ? what : null
    if (current !== null && started?.source === 'clear' && this.#lastNumber > 0) this.end(openedAt, 'clear')
    else if (current?.status === 'open') {
      if (started !== null && started.source !== 'startup')
        this.steps.push({
          kind: 'session continued',
          session: current,
          source: started.source,
          reportedAt: openedAt,
        })
      return current
    } else if (current !== null && started?.source !== 'clear') {
      // A late end or loss does not open the session again.
      if (what.kind === 'session_ended' || what.kind === 'lost') return current
      const session: CapturedSession = { ...current, status: 'open' }
      this.#session = session
      this.steps.push({
        kind: 'session continued',
        session,
        source: started?.source ?? 'resume',
        reportedAt: openedAt,
      })
      return session
    }
    const session: CapturedSession = {
      id: this.#ids.next('captureSession'),
      client: client.name,
      version: client.version,
      clientSession: hookEvent.session,
      top: hookEvent.top,
      source: started?.source ?? 'startup',
      parentId: current?.id ?? this.#parents.get(started?.parent ?? '') ?? null,
      model,
      transcript: started?.transcript ?? null,
      status: 'open',
      openedAt,
    }
    this.#session = session
    this.#lastNumber = 0
    this.steps.push({ kind: 'session opened', session })
    return session
  }

  #beginTurn(
    session: CapturedSession,
    hookEvent: LocatedHookEvent,
    { length, wake, text }: Extract<HookEventBody, { readonly kind: 'prompted' }>,
  ): TurnId {
    const open = this.#main().at(-1)
    // A woken client continues its open turn.
    if (open && wake) {
      open.ending = null
      return open.draft.id
    }
    if (open && hookEvent.turn !== null && open.draft.clientTurn === hookEvent.turn) return open.draft.id
    for (const turn of this.#main()) {
      if (turn.ending === null)
        this.#close(turn, { ...plainEnding(hookEvent.reportedAt), note: 'Interrupted by the next prompt.' })
    }
    return this.#open(session, hookEvent, { top: hookEvent.top, prompt: { length, wake }, text }).draft.id
  }

  #stop(hookEvent: LocatedHookEvent, what: Extract<HookEventBody, { readonly kind: 'stopped' }>): void {
    const { error, interrupted, background, usage } = what
    const ending: TurnEnd = {
      status: error === null ? 'ended' : 'failed',
      at: hookEvent.reportedAt,
      note: interrupted ? 'Interrupted by a person.' : null,
      error,
      usage,
    }
    const turns = this.#main()
    const current = turns.at(-1)
    this.#note(hookEvent, current ?? null)
    for (const turn of turns) {
      if (turn === current) turn.ending = ending
      if (background > 0) continue
      this.#close(turn, turn === current ? ending : { ...(turn.ending ?? ending), at: hookEvent.reportedAt })
    }
  }

  #main(): readonly TurnProgress[] {
    return this.#turns.filter(({ draft }) => draft.agent === null && draft.parentId === null)
  }

  #of(agentId: string): readonly TurnProgress[] {
    return this.#turns.filter(({ draft }) => draft.agent?.id === agentId)
  }

  /** The turn of an event without a path: the agent's own, else its session's. */
  #current({ agent }: LocatedHookEvent): TurnProgress | null {
    const own = agent === null ? undefined : this.#of(agent.id).at(-1)
    return own ?? this.#main().at(-1) ?? null
  }

  #turnIn(session: CapturedSession, hookEvent: LocatedHookEvent, top: string): TurnProgress {
    const { agent } = hookEvent
    const isMeant = ({ draft }: TurnProgress): boolean => draft.top === top
    const found = (
      agent === null ? this.#turns.filter(({ draft }) => draft.agent === null) : this.#of(agent.id)
    ).findLast(isMeant)
    if (found) return found
    const main = this.#main().at(-1) ?? null
    // The client reports no prompts, or its session goes on after its turn was closed.
    if (main === null && agent === null)
      return this.#open(session, hookEvent, { top, prompt: null, text: null })
    const parent = main ?? this.#open(session, hookEvent, { top: hookEvent.top, prompt: null, text: null })
    return this.#open(session, hookEvent, { top, prompt: null, text: null, parent: parent.draft.id })
  }

  #open(
    session: CapturedSession,
    { reportedAt: openedAt, turn, agent, model }: LocatedHookEvent,
    options: {
      readonly top: string
      readonly prompt: Turn['prompt']
      readonly text: string | null
      readonly parent?: TurnId
    },
  ): TurnProgress {
    this.#lastNumber += 1
    const isOfAgent = options.parent !== undefined && agent !== null
    const draft: TurnDraft = {
      id: this.#ids.next('turn'),
      sessionId: session.id,
      number: this.#lastNumber,
      clientTurn: turn,
      agent: isOfAgent ? { id: agent.id, type: agent.type ?? this.#types.get(agent.id) ?? null } : null,
      parentId: options.parent ?? null,
      client: session.client,
      model,
      prompt: options.prompt,
      top: options.top,
      status: 'open',
      endSnapshot: null,
      openedAt,
      closedAt: null,
    }
    const turnProgress: TurnProgress = { draft, hookEvents: [], ending: null }
    this.#turns.push(turnProgress)
    this.steps.push({ kind: 'turn opened', draft, text: options.text })
    return turnProgress
  }

  #close(turn: TurnProgress, ending: TurnEnd): void {
    // Turns in other trees that belong to this turn end with it.
    for (const inner of this.#turns.filter(
      ({ draft }) => draft.parentId === turn.draft.id && draft.agent === null,
    ))
      this.#close(inner, { ...ending, usage: null })
    this.#turns = this.#turns.filter((one) => one !== turn)
    this.steps.push({ kind: 'turn closed', draft: turn.draft, hookEvents: turn.hookEvents, ending })
  }

  #note(hookEvent: LocatedHookEvent, to: TurnProgress | TurnId | null): void {
    const turn = typeof to === 'string' ? this.#turns.find(({ draft }) => draft.id === to) : to
    turn?.hookEvents.push(hookEvent)
    if (this.#session === null) return
    const sessionId = this.#session.id
    this.steps.push({ kind: 'hook event', hookEvent, sessionId, turnId: turn?.draft.id ?? null })
  }
}

function plainEnding(at: number): TurnEnd {
  return { status: 'ended', at, note: null, error: null, usage: null }
}

/** The end of a turn that stopped before this batch while a shell ran on. */
function endingOf(hookEvents: readonly LocatedHookEvent[]): TurnEnd | null {
  const last = hookEvents.findLast(({ what }) => what.kind === 'stopped' || what.kind === 'prompted')
  if (last?.what.kind !== 'stopped') return null
  const { error, usage } = last.what
  return { ...plainEnding(last.reportedAt), status: error === null ? 'ended' : 'failed', error, usage }
}

interface OpenEdit {
  readonly at: number
  readonly edit: LocatedEdit
  readonly call: string | null
  readonly tool: string
}

/** The edits that hook events report, in the order in which they were done. */
export function seenEdits(hookEvents: readonly LocatedHookEvent[], top: string): readonly HookEdit[] {
  const began = new Map<string, OpenEdit>()
  const seen: HookEdit[] = []
  for (const { reportedAt, agent, what } of hookEvents) {
    if (what.kind !== 'edit_began' && what.kind !== 'edit_ended') continue
    for (const edit of what.edits.filter((one) => one.top === top)) {
      const key = `${agent?.id ?? ''} ${what.call ?? what.tool} ${edit.path}`
      if (what.kind === 'edit_began') {
        began.set(key, { at: reportedAt, edit, call: what.call, tool: what.tool })
        continue
      }
      const before = began.get(key)
      began.delete(key)
      if (what.failed) continue
      const contentBefore = edit.onto ?? before?.edit.content
      const modifiedAt = edit.onto === undefined ? before?.edit.modifiedAt : undefined
      seen.push({
        path: edit.path,
        call: what.call,
        tool: what.tool,
        from: before?.at ?? null,
        reportedAt,
        ...(contentBefore !== undefined && { before: contentBefore }),
        ...(modifiedAt !== undefined && { modifiedAt }),
        ...(edit.content !== undefined && { after: edit.content }),
        explained: edit.explained,
        ...(edit.meant !== undefined && { meant: edit.meant }),
        ended: true,
      })
    }
  }
  const last = hookEvents.at(-1)?.reportedAt ?? 0
  for (const { at, edit, call, tool } of began.values()) {
    const { path, content: before } = edit
    const unended = { path, call, tool, from: at, reportedAt: last, explained: null, ended: false }
    seen.push({ ...unended, ...(before !== undefined && { before }) })
  }
  return seen.toSorted((a, b) => a.reportedAt - b.reportedAt)
}

/** The command windows of a turn. A foreground command without a reported end ends with its agent's next event. */
export function seenCommands(
  hookEvents: readonly LocatedHookEvent[],
  top: string,
): readonly HookCommandWindow[] {
  const open = new Map<string, HookCommandWindow & { readonly owner: string }>()
  const seen: HookCommandWindow[] = []
  const close = ({ owner: _, ...command }: HookCommandWindow & { readonly owner: string }): void => {
    seen.push(command)
  }
  for (const hookEvent of hookEvents) {
    const { reportedAt, agent, what } = hookEvent
    const owner = agent?.id ?? ''
    if (what.kind === 'command_ended') {
      const key = `${owner} ${what.call ?? `${what.tool} ${what.program ?? ''}`}`
      const began = open.get(key)
      open.delete(key)
      const { call, tool, program, failed } = what
      const background = what.background || began?.background === true
      const from = began?.from ?? reportedAt
      if (background && !failed)
        open.set(key, { call, tool, program, from, to: null, background, failed, owner })
      else close({ call, tool, program, from, to: reportedAt, background, failed, owner })
      continue
    }
    for (const [key, command] of open) {
      if (command.owner !== owner || command.background) continue
      // If the client reports every end, calls that overlap run in parallel.
      const isOver = ['stopped', 'prompted', 'agent_stopped'].includes(what.kind)
      if (hookEvent.coverage.failures && !isOver) continue
      open.delete(key)
      close({ ...command, to: reportedAt, failed: true })
    }
    if (what.kind !== 'command_began') continue
    if (hookEvent.top !== top) continue
    const { call, tool, program, background } = what
    const key = `${owner} ${call ?? `${tool} ${program ?? ''}`}`
    open.set(key, { call, tool, program, from: reportedAt, to: null, background, failed: false, owner })
  }
  for (const command of open.values()) close(command)
  return seen.toSorted((a, b) => a.from - b.from)
}

/** The coverage that all hook events of a turn have. */
export function coverageOf(hookEvents: readonly LocatedHookEvent[]): Coverage {
  const every = (key: keyof Coverage): boolean =>
    hookEvents.length > 0 && hookEvents.every(({ coverage }) => coverage[key])
  return {
    edits: every('edits'),
    failures: every('failures'),
    subagents: every('subagents'),
    ids: every('ids'),
  }
}

export function itemsOf(
  hookEvents: readonly LocatedHookEvent[],
): { readonly total: number; readonly done: number } | null {
  const items = new Map<string, boolean>()
  for (const { what } of hookEvents) {
    if (what.kind !== 'items') continue
    if (what.isWhole) items.clear()
    for (const { key, done } of what.items) items.set(key, done)
  }
  if (items.size === 0) return null
  return { total: items.size, done: [...items.values()].filter((done) => done).length }
}

export function countLost(hookEvents: readonly LocatedHookEvent[]): number {
  return hookEvents.reduce((sum, { what }) => sum + (what.kind === 'lost' ? what.count : 0), 0)
}

/** Whether an event may have written files: their earlier content is unknown from then on. */
export function canWriteFiles({ what }: LocatedHookEvent): boolean {
  return ['edit_began', 'edit_ended', 'command_began', 'command_ended'].includes(what.kind)
}

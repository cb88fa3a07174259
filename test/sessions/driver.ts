import { copyFileSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Context } from '../../src/kernel/operations/operation.ts'
import type { Coverage, HookEvent, HookEventBody, ToolEdit } from '../../src/sessions/domain/hook-event.ts'
import {
  type HookEventSummary,
  recordMachineEvents,
} from '../../src/sessions/operations/record-hook-events.ts'
import { type Answer, openProject, type ProjectOptions, type TestProject } from '../support/project.ts'

export const full: Coverage = { edits: true, failures: true, subagents: true, ids: true }

/** What plays sessions of clients: really writes files, and makes the hook events that their hooks would have told. */
export interface Stage {
  readonly session: (id: string, more?: SessionOptions) => Player
  /** Hands over what was told since, as a drain does. */
  readonly drain: () => Promise<HookEventSummary>
  /** What was told and not handed over yet. */
  readonly told: () => readonly HookEvent[]
  /** The same, taken away for who hands it over in another way. */
  readonly taken: () => readonly HookEvent[]
  readonly tell: (hookEvents: readonly HookEvent[]) => void
  readonly write: (path: string, content: string) => void
  /** Where copies lie. */
  readonly spool: string
}

export interface SessionOptions {
  readonly client?: string
  readonly coverage?: Coverage
  readonly model?: string
  /** Absolute; the project's folder when left out. */
  readonly folder?: string
  /** Its hooks tell of no edit and no command. */
  readonly silent?: boolean
}

export interface Player {
  readonly start: (source?: 'startup' | 'resume' | 'clear' | 'compact' | 'fork', parent?: string) => void
  readonly prompt: (more?: {
    readonly length?: number
    readonly text?: string
    readonly wake?: boolean
  }) => void
  /** An edit tool writes a file: told before and after. */
  readonly edit: (path: string, content: string | null, more?: EditOptions) => void
  /** The two halves of an edit, for those that overlap. */
  readonly beginEdit: (path: string, call: string) => void
  readonly endEdit: (path: string, call: string, explained: boolean | null, onto?: string) => void
  /** A shell, in which anything is done. */
  readonly shell: (
    work: () => void,
    more?: { readonly program?: string; readonly background?: boolean },
  ) => void
  readonly beginShell: (call: string, background?: boolean) => void
  readonly endShell: (call: string) => void
  readonly own: (tool: string, attempt: string | null) => void
  readonly agent: (id: string, type?: string, folder?: string) => Player
  readonly agentStart: () => void
  readonly agentStop: () => void
  readonly stop: (more?: {
    readonly error?: string
    readonly interrupted?: boolean
    readonly background?: number
  }) => void
  readonly end: (reason?: string) => void
  readonly tell: (what: HookEventBody) => void
}

export interface EditOptions {
  readonly explained?: boolean | null
  /** What a formatter makes of it before the hook has copied it. */
  readonly formatted?: string
  /** A file with what the tool alone would have left. */
  readonly meant?: string
  readonly failed?: boolean
  readonly withoutCopies?: boolean
}

/** Copies lie in a folder beside the project, until the test is over; or in one that somebody else removes. */
export function openStage(context: Context, spool = spoolBeside(context.folder)): Stage {
  const { folder } = context
  mkdirSync(spool, { recursive: true })
  const queue: HookEvent[] = []
  let count = 0
  let last = 0

  const write = (path: string, content: string): void => {
    const place = path.startsWith('/') ? path : join(folder, path)
    mkdirSync(dirname(place), { recursive: true })
    writeFileSync(place, content)
  }
  const now = (): number => {
    last = Math.max(context.clock.now(), last + 1)
    return last
  }

  const player = (
    id: string,
    options: SessionOptions,
    agent: { readonly id: string; readonly type: string | null } | null,
  ): Player => {
    const where = options.folder ?? folder
    const placed = (path: string): string => (path.startsWith('/') ? path : join(where, path))
    const tell = (what: HookEventBody): void => {
      const isQuiet = ['edit_began', 'edit_ended', 'command_began', 'command_ended'].includes(what.kind)
      if (options.silent && isQuiet) return
      count += 1
      const at = now()
      queue.push({
        key: `${at}-${process.pid}-${String(count).padStart(6, '0')}`,
        reportedAt: at,
        client: { name: options.client ?? 'claude-code', version: '2.1.300' },
        session: id,
        turn: null,
        agent,
        model: options.model ?? null,
        folder: where,
        coverage: options.coverage ?? full,
        what,
      })
    }
    const copied = (path: string, explained: boolean | null, isCopied = true): ToolEdit => {
      const place = placed(path)
      if (!existsSync(place)) return { path: place, copy: null, absent: true, explained }
      const before = explained === null ? { modifiedAt: statSync(place).mtimeMs } : {}
      if (!isCopied) return { path: place, copy: null, absent: false, ...before, explained }
      count += 1
      const copy = join(spool, `copy-${count}`)
      copyFileSync(place, copy)
      return { path: place, copy, absent: false, ...before, explained }
    }
    const callOf = (): string => `${id}-${agent?.id ?? 'main'}-${count}`
    const self: Player = {
      tell,
      start: (source = 'startup', parent) =>
        tell({ kind: 'session_started', source, parent: parent ?? null, transcript: null }),
      prompt: ({ length = 40, text, wake = false } = {}) =>
        tell({ kind: 'prompted', length, text: text ?? null, wake }),
      edit: (path, content, more = {}) => {
        const call = callOf()
        const isCopied = more.withoutCopies !== true
        tell({ kind: 'edit_began', call, tool: 'Edit', edits: [copied(path, null, isCopied)] })
        if (!more.failed) {
          if (content === null) rmSync(placed(path), { force: true })
          else write(placed(path), content)
          if (more.formatted !== undefined) write(placed(path), more.formatted)
        }
        const explained = more.explained === undefined ? more.formatted === undefined : more.explained
        const after = copied(path, explained, isCopied)
        const edits = [{ ...after, ...(more.meant !== undefined && { meant: more.meant }) }]
        tell({ kind: 'edit_ended', call, tool: 'Edit', edits, failed: more.failed === true })
      },
      beginEdit: (path, call) =>
        tell({ kind: 'edit_began', call, tool: 'Edit', edits: [copied(path, null)] }),
      endEdit: (path, call, explained, onto) => {
        const edits = [{ ...copied(path, explained), ...(onto !== undefined && { onto }) }]
        tell({ kind: 'edit_ended', call, tool: 'Edit', edits, failed: false })
      },
      shell: (work, { program = 'sh', background = false } = {}) => {
        const call = callOf()
        tell({ kind: 'command_began', call, tool: 'Bash', program, background })
        work()
        tell({ kind: 'command_ended', call, tool: 'Bash', program, background, failed: false })
      },
      beginShell: (call, background = false) =>
        tell({ kind: 'command_began', call, tool: 'Bash', program: 'sh', background }),
      endShell: (call) =>
        tell({ kind: 'command_ended', call, tool: 'Bash', program: 'sh', background: false, failed: false }),
      own: (tool, attempt) => tell({ kind: 'own_tool', call: callOf(), tool, attempt }),
      agent: (agentId, type = 'general-purpose', agentFolder = where) =>
        player(id, { ...options, folder: agentFolder }, { id: agentId, type }),
      agentStart: () => tell({ kind: 'agent_started' }),
      agentStop: () => tell({ kind: 'agent_stopped', usage: null }),
      stop: ({ error, interrupted = false, background = 0 } = {}) =>
        tell({ kind: 'stopped', error: error ?? null, interrupted, background, usage: null }),
      end: (reason = 'exit') => tell({ kind: 'session_ended', reason }),
    }
    return self
  }

  return {
    session: (id, more = {}) => player(id, more, null),
    drain: () => recordMachineEvents(context, queue.splice(0)),
    told: () => [...queue],
    taken: () => queue.splice(0),
    tell: (hookEvents) => void queue.push(...hookEvents),
    write,
    spool,
  }
}

function spoolBeside(folder: string): string {
  const spool = join(folder, '..', `spool-${Math.random().toString(36).slice(2)}`)
  onTestFinished(() => rmSync(spool, { recursive: true, force: true }))
  return spool
}

export interface Case extends Stage {
  readonly project: TestProject
  /** The turns of a client's session, the one last opened where its id came again. */
  readonly turns: (session: string) => Promise<readonly Answer[]>
  readonly sessions: () => Promise<readonly Answer[]>
}

/** A project in which sessions are played. */
export async function openCase(options: ProjectOptions = {}): Promise<Case> {
  const project = await openProject({ isOnMachine: false, ...options })
  const stage = openStage(project.context)
  const sessions = async (): Promise<readonly Answer[]> => (await project.call('sessions')).sessions
  return {
    ...stage,
    project,
    sessions,
    turns: async (session) => {
      const found = (await sessions()).find(({ client_session: clientSession }) => clientSession === session)
      if (!found) throw new Error(`no session ${session} was recorded`)
      return (await project.call('sessions_show', { id: found.session_id, all: true })).turns
    },
  }
}

const letters: Readonly<Record<string, string>> = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R' }

/** `M src/api.ts certain`, one for each change of a turn. */
export function brief(turn: Answer): readonly string[] {
  return turn.changes.map(
    ({ change, path, from, attribution }: Answer) =>
      `${letters[change]} ${from === undefined ? path : `${from}>${path}`} ${attribution}`,
  )
}

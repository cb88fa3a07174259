import { lstatSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { checkedClients } from '../../clients/hooks/client-checks.ts'
import { readOwn } from '../../kernel/files/regular-file.ts'
import { setNewest } from '../../kernel/limited-map.ts'
import {
  type Coverage,
  type HookEvent,
  type HookEventBody,
  maxTokens,
  type TokenUsage,
  type ToolEdit,
} from '../domain/hook-event.ts'
import { placeInProject } from './captured-project.ts'
import { contentAfterEdit, isExplained } from './edit-explanation.ts'
import { type HookQueue, queueFileNames, writeOwn } from './hook-queue.ts'
import { maxEventBytes } from './limits.ts'
import { type QueuedEdit, type QueuedEvent, queuedKinds } from './queued-event.ts'

const text = (longest: number) =>
  z.string().transform((value) => withoutControlCharacters(value).slice(0, longest))
const textOrNull = (longest: number) => text(longest).nullable().catch(null)
const amount = z.int().nonnegative()
const tokens = amount.max(maxTokens).nullable()
const flag = z.boolean().catch(false)

const Edit = z.object({
  path: z.string().max(4096),
  copy: z.string().max(200).nullable().catch(null),
  absent: flag,
  modifiedAt: z.number().min(0).exactOptional(),
  does: z
    .union([
      z.object({ kind: z.literal('content'), content: z.string() }),
      z.object({
        kind: z.literal('strings'),
        strings: z.array(z.object({ from: z.string(), to: z.string(), all: z.boolean() })).max(1000),
      }),
      z.object({ kind: z.literal('patch'), patch: z.string() }),
    ])
    .nullable()
    .catch(null),
})

/** The schema of an event file, which is not trusted: anyone in the project can write one. */
const QueuedFile = z.object({
  v: z.literal(1),
  kind: z.enum(queuedKinds),
  client: z.string().regex(/^[a-z]{1,40}$/),
  version: textOrNull(40),
  event: text(80).catch(''),
  session: text(200).pipe(z.string().min(1)),
  turn: textOrNull(200),
  agent: z
    .object({ id: text(200), type: textOrNull(80) })
    .nullable()
    .catch(null),
  model: textOrNull(120),
  folder: z.string().max(4096),
  hash: z.string().max(40).catch(''),
  transcript: z.string().max(4096).nullable().catch(null),
  call: textOrNull(200),
  pair: textOrNull(40),
  tool: textOrNull(120),
  program: textOrNull(400),
  background: flag,
  failed: flag,
  edits: z.array(Edit).max(200).catch([]),
  source: textOrNull(40),
  parent: textOrNull(200),
  length: amount.catch(0),
  text: z
    .string()
    .transform((value) => cleanedLines(value).slice(0, 20_000))
    .nullable()
    .catch(null),
  wake: flag,
  running: amount.catch(0),
  error: textOrNull(80),
  interrupted: flag,
  attempt: z
    .string()
    .regex(/^a-[\w-]{1,80}$/)
    .nullable()
    .catch(null),
  items: z
    .array(z.object({ key: text(40), done: flag }))
    .catch([])
    .transform((all) => all.slice(0, 200)),
  usage: z.object({ input: tokens, output: tokens, cached: tokens }).nullable().catch(null),
  count: amount.optional().catch(undefined),
  why: textOrNull(200),
})

/** An event with the name of its file, which is its key. */
export interface ReadEvent {
  readonly key: string
  readonly at: number
  readonly event: QueuedEvent
}

/** Reads one event file; null if it is not one. */
export function readEvent(queue: HookQueue, name: string): ReadEvent | null {
  try {
    const content = readOwn(join(queue.events, name), maxEventBytes)
    if (content === null) return null
    const parsed = QueuedFile.safeParse(JSON.parse(content.toString('utf8')))
    if (!parsed.success) return null
    const { count, ...event } = parsed.data
    const key = name.replace(/\.json$/, '')
    return { key, at: Number(key.slice(0, 13)), event: { ...event, ...(count !== undefined && { count }) } }
  } catch {
    return null
  }
}

/** A session's information besides the event that is read. */
export interface SessionInfo {
  readonly client: string
  readonly version: string | null
  readonly usage: TokenUsage | null
  readonly model: string | null
}

export interface HookEventBatch {
  readonly hookEvents: readonly HookEvent[]
  /** Paths outside the project: counted, never read. */
  readonly outside: number
  readonly unknown: boolean
}

/** The hook events of a queued event. */
export function hookEventsOf(
  read: ReadEvent,
  {
    queue,
    info,
    written,
  }: {
    readonly queue: HookQueue
    readonly info: SessionInfo
    readonly written: RecentCopies
  },
): HookEventBatch {
  const { event, key, at } = read
  const base: Omit<HookEvent, 'what' | 'key'> = {
    reportedAt: at,
    client: { name: info.client, version: info.version },
    session: event.session,
    turn: event.turn,
    agent: event.agent,
    model: event.model ?? info.model,
    folder: placeInProject(event.folder, queue.root, queue) ?? queue.root,
    coverage: coverageOf(info),
  }
  if (event.kind === 'unknown') return { hookEvents: [], outside: 0, unknown: true }
  const edits = editsOf(read, { queue, written })
  const outside = event.edits.length - edits.length
  // All edited files are outside the project.
  if (event.edits.length > 0 && edits.length === 0) return { hookEvents: [], outside, unknown: false }
  const missing = edits.filter(({ isMissing }) => isMissing).length
  const whats = eventContents(event, { edits: edits.map(({ edit }) => edit), usage: info.usage })
  const hookEvents = whats.map((what, n) => ({ ...base, key: n === 0 ? key : `${key}.${n}`, what }))
  if (missing === 0) return { hookEvents, outside, unknown: false }
  const why = 'copies of edited files were removed before they were read'
  const lost: HookEvent = { ...base, key: `${key}.lost`, what: { kind: 'lost', count: missing, why } }
  return { hookEvents: [...hookEvents, lost], outside, unknown: false }
}

function eventContents(
  event: QueuedEvent,
  { edits, usage }: { readonly edits: readonly ToolEdit[]; readonly usage: TokenUsage | null },
): readonly HookEventBody[] {
  const { kind, failed, program, background } = event
  const tool = event.tool ?? event.event
  const call = event.call ?? (event.pair === null ? null : `~${event.pair}`)
  switch (kind) {
    case 'session_started': {
      const source = sources.find((one) => one === event.source) ?? 'startup'
      return [{ kind, source, parent: event.parent, transcript: event.transcript }]
    }
    case 'prompted':
      return [{ kind, length: event.length, text: event.text, wake: event.wake }]
    case 'edit_began':
      return edits.length === 0
        ? [{ ...command, kind: 'command_began', call, tool }]
        : [{ kind, call, tool, edits }]
    case 'edit_ended':
      // A call without files may have changed any.
      return edits.length === 0
        ? [{ ...command, kind: 'command_ended', call, tool, failed }]
        : [{ kind, call, tool, edits, failed }]
    case 'command_began':
      return [{ kind, call, tool, program, background }]
    case 'command_ended':
      return [{ kind, call, tool, program, background, failed }]
    case 'own_tool':
      return [{ kind, call, tool, attempt: event.attempt }]
    case 'agent_started':
      return [{ kind }]
    case 'agent_stopped':
      return [{ kind, usage }]
    case 'items':
      return [{ kind, isWhole: event.tool !== null, items: event.items }]
    case 'model_switched':
      return [{ kind }]
    case 'stopped':
      return [{ kind, error: event.error, interrupted: event.interrupted, background: event.running, usage }]
    case 'session_ended':
      return [{ kind, reason: event.why }]
    case 'lost':
      return [{ kind, count: event.count ?? 1, why: event.why ?? 'not known' }]
    case 'unknown':
      return []
  }
}

const sources = ['startup', 'resume', 'clear', 'compact', 'fork'] as const
const command = { program: null, background: false } as const

/**
 * A version counts as checked up to its second number, because some clients are released daily. An unknown version
 * counts as checked: the transcript gives it later, if there is one.
 */
function coverageOf({ client, version }: SessionInfo): Coverage {
  const checks = checkedClients[client]
  const none = { edits: false, failures: false, subagents: false, ids: false }
  if (checks === undefined) return none
  return isNewer(version, checks.checked.version) ? none : checks.coverage
}

export function isNewer(version: string | null, checked: string | null): boolean {
  if (version === null || checked === null) return false
  const numbers = (label: string) => (label.match(/\d+/g) ?? []).map(Number)
  const [major = 0, minor = 0] = numbers(version)
  const [most = 0, least = 0] = numbers(checked)
  return major > most || (major === most && minor > least)
}

interface ReadEdit {
  readonly edit: ToolEdit
  readonly isMissing: boolean
}

/** Recent copies from after edits, by path and in order: they show other writes between two edits. */
export type RecentCopies = Map<string, EditCopies>
export type EditCopies = readonly EditCopy[]

interface EditCopy {
  readonly key: string
  /** As its event names it. */
  readonly copy: string
}

const maxPaths = 200
const maxOfPath = 8

function recordWrittenCopy(written: RecentCopies, path: string, one: EditCopy) {
  const before = written.get(path) ?? []
  setNewest(written, maxPaths, path, [...before, one].slice(-maxOfPath))
}

function editsOf(
  { key, event }: ReadEvent,
  { queue, written }: { readonly queue: HookQueue; readonly written: RecentCopies },
): readonly ReadEdit[] {
  const isAfter = event.kind === 'edit_ended'
  const read: ReadEdit[] = []
  for (const edit of event.edits) {
    const path = edit.path === '' ? null : placeInProject(edit.path, queue.root, queue)
    if (path === null) continue
    const copy = copyOf(queue, edit)
    const explained =
      isAfter && !event.failed ? contentExplainedBy(edit, { path, copy, queue, written }) : notKnown
    if (isAfter && copy !== null && edit.copy !== null)
      recordWrittenCopy(written, path, { key, copy: edit.copy })
    const isMissing = edit.copy !== null && copy === null
    const time = edit.modifiedAt === undefined ? {} : { modifiedAt: edit.modifiedAt }
    read.push({ edit: { path, copy, absent: edit.absent, ...time, ...explained }, isMissing })
  }
  return read
}

const copyName = /^[\w-]{1,64}\/\d{13}-[\d-]{1,30}\.\d{1,3}\.(?:before|after)-[0-9a-f]{16}$/

function copyOf(queue: HookQueue, { copy }: Pick<QueuedEdit, 'copy'>): string | null {
  if (copy === null || !copyName.test(copy)) return null
  const file = join(queue.copies, copy)
  return lstatSync(file, { throwIfNoEntry: false })?.isFile() ? file : null
}

type Explanation = Pick<ToolEdit, 'explained' | 'meant' | 'onto'>

const notKnown: Explanation = { explained: null }

/** Whether an edit's payload explains the content, based on its first content or on another call's later one. */
function contentExplainedBy(
  { does, absent }: QueuedEdit,
  {
    path,
    copy,
    queue,
    written,
  }: {
    readonly path: string
    readonly copy: string | null
    readonly queue: HookQueue
    readonly written: RecentCopies
  },
): Explanation {
  if (does === null || (copy === null && !absent)) return notKnown
  if (copy === null) return { explained: isExplained(does, { path, before: null, after: null }) }
  const after = textOf(copy)
  if (after === null) return notKnown
  const began = contentAtBeginning(copy, queue)
  const before = began && textOf(began)
  const explained = isExplained(does, { path, before, after })
  if (explained !== false || began === null) return { explained }
  const between = (written.get(path) ?? []).filter(({ key }) => key > basename(began).replace(/\..*/, ''))
  for (const one of between.toReversed()) {
    const onto = copyOf(queue, one)
    if (onto !== null && isExplained(does, { path, before: textOf(onto), after }))
      return { explained: true, onto }
  }
  const alone = contentAfterEdit(does, { path, before })
  if (typeof alone !== 'string') return { explained }
  const content = before?.includes('\r\n') ? alone.replace(/\r?\n/g, '\r\n') : alone
  writeOwn(queue.base, `${copy}.meant`, content)
  return { explained, meant: `${copy}.meant` }
}

const maxCopyBytes = 1024 * 1024

function textOf(copy: string): string | null {
  return readOwn(copy, maxCopyBytes)?.toString('utf8') ?? null
}

/** The copy from before the same call, if one was made. */
function contentAtBeginning(copy: string, queue: HookQueue): string | null {
  const sign = copy.slice(-16)
  const folder = dirname(copy)
  if (dirname(folder) !== queue.copies) return null
  const earlier = queueFileNames(folder)
    .filter((name) => name.endsWith(`.before-${sign}`) && name < basename(copy))
    .sort()
    .at(-1)
  return earlier === undefined ? null : join(folder, earlier)
}

/** A text in one line, without control characters and changes of text direction. */
function withoutControlCharacters(value: string): string {
  return value.replace(/[\p{Cc}\p{Bidi_Control}]+/gu, ' ')
}

function cleanedLines(value: string): string {
  return value.replace(/[[\p{Cc}\p{Bidi_Control}]--[\n\t]]+/gv, ' ')
}

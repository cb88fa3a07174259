import {
  type ClientAdapter,
  type EventMeaning,
  isToolNamed,
  payloadValue,
  textAt,
} from '../../../clients/hooks/client.ts'
import { redactSecrets } from '../../../kernel/redaction.ts'
import type { CaptureSettings } from '../captured-project.ts'
import { hashText } from '../hash.ts'
import type { QueuedEvent, QueuedItem, QueuedKind } from '../queued-event.ts'
import { type EditPayload, type NamedEdit, namedEdits } from './edits.ts'
import { programOf } from './program.ts'

/** An event before its files are copied. */
export interface QueuedEventDraft {
  readonly event: Omit<QueuedEvent, 'edits' | 'folder' | 'hash' | 'count'>
  readonly edits: readonly NamedEdit[]
}

/** The event in a payload, or null if it is not recorded. */
export function hookEventOf(
  payload: EditPayload,
  client: ClientAdapter,
  settings: CaptureSettings,
): QueuedEventDraft | null {
  const { fields } = client
  const event = textAt(payload, fields.event) ?? ''
  const session = textAt(payload, fields.session)
  if (session === null) return null
  const meaning = Object.hasOwn(client.events, event) ? client.events[event] : undefined
  if (meaning === 'ignored') return null
  const tool = textAt(payload, fields.tool)
  const input = parseToolInput(payloadValue(payload, fields.input))
  const kind = meaning === undefined ? 'unknown' : kindOf(meaning, client, { tool, payload })
  if (kind === null) return null
  const agent = textAt(payload, fields.agent)
  const agentType = textAt(payload, fields.agentType)
  // The end of an agent without a type is that of a compaction.
  if (kind === 'agent_stopped' && agentType === null) return null
  const items = kind === 'items' ? itemsOf(payload, input, meaning) : null
  if (items?.length === 0) return null
  const call = textAt(payload, fields.call)
  const prompt = textAt(payload, fields.prompt) ?? ''
  const isCommand = kind.startsWith('command_')
  return {
    event: {
      v: 1,
      kind,
      client: client.name,
      version: textAt(payload, fields.version),
      event,
      session,
      turn: textAt(payload, fields.turn),
      agent:
        agent === null && kind !== 'agent_started'
          ? null
          : { id: agent ?? agentType ?? 'agent', type: agentType },
      model: textAt(payload, fields.model),
      transcript:
        kind === 'agent_stopped'
          ? textAt(payload, 'agent_transcript_path')
          : textAt(payload, fields.transcript),
      call,
      pair: tool === null || call !== null ? null : hashText(`${tool} ${JSON.stringify(input) ?? ''}`),
      tool,
      program: isCommand ? commandProgram(input, settings) : null,
      background: isCommand && isInBackground(input),
      failed: meaning === 'tool_failed' || hasFailed(payloadValue(payload, fields.answer)),
      source: textAt(payload, 'source|trigger') ?? (event === 'TaskResume' ? 'resume' : null),
      parent: textAt(payload, 'parent_session_id|parentID'),
      length: prompt.length,
      text: kind === 'prompted' && settings.prompts === 'local' ? redactSecrets(prompt) : null,
      wake: /^\s*<task-notification>[\s\S]*<\/task-notification>\s*$/.test(prompt),
      running: countRunning(payloadValue(payload, 'background_tasks')),
      error: meaning === 'turn_failed' ? errorOf(payload) : payload['status'] === 'error' ? 'error' : null,
      interrupted: meaning === 'interrupted' || payload['status'] === 'aborted',
      attempt: kind === 'own_tool' ? attemptIn(payloadValue(payload, fields.answer)) : null,
      items: items ?? [],
      usage: (payloadValue(payload, 'usage') ?? null) as QueuedEvent['usage'], // checked when it is read
      why: kind === 'session_ended' ? textAt(payload, 'reason') : null,
    },
    edits: kind.startsWith('edit_') ? namedEdits(meaning === 'edited' ? payload : input) : [],
  }
}

function kindOf(
  meaning: Exclude<EventMeaning, 'ignored'>,
  client: ClientAdapter,
  { tool, payload }: { readonly tool: string | null; readonly payload: EditPayload },
): QueuedKind | null {
  if (meaning === 'edited') return 'edit_ended'
  if (meaning === 'item_added' || meaning === 'item_done') return 'items'
  if (meaning === 'turn_failed') return payload['recoverable'] === true ? null : 'stopped'
  if (meaning === 'interrupted') return 'stopped'
  if (meaning !== 'before_tool' && meaning !== 'after_tool' && meaning !== 'tool_failed') return meaning
  if (tool === null) return null
  const isBefore = meaning === 'before_tool'
  if (isWaymarkTool(tool)) return isBefore ? null : 'own_tool'
  // The tools of other servers are unknown.
  if (!tool.startsWith('mcp')) {
    if (listTool.test(tool)) return meaning === 'after_tool' ? 'items' : null
    if (isToolNamed(tool, client.reads)) return null
  }
  return `${isToolNamed(tool, client.edits) ? 'edit' : 'command'}_${isBefore ? 'began' : 'ended'}`
}

// The tools by which agents keep their own to-do list.
const listTool = /todo|^update_plan$/i

/** A tool of Waymark's own server, by the names that clients make of it. */
function isWaymarkTool(tool: string): boolean {
  return /^(?:MCP:|mcp__?)?(?:plugin_\w+?_)?waymark(?:[_.:/-]+)[a-z]/i.test(tool)
}

/** Some clients hand over an object as its text. */
function parseToolInput(input: unknown): unknown {
  if (typeof input !== 'string' || !input.startsWith('{')) return input
  try {
    return JSON.parse(input)
  } catch {
    return input
  }
}

function commandProgram(input: unknown, { commands }: CaptureSettings): string | null {
  const line = payloadValue(input, 'command|commandLine|cmd')
  if (commands === 'program') return programOf(line)
  const whole = Array.isArray(line) ? line.join(' ') : line
  return typeof whole === 'string' ? redactSecrets(whole).slice(0, 400) : null
}

function isInBackground(input: unknown): boolean {
  const value = payloadValue(input, 'run_in_background|is_background|isBackground')
  return value === true || value === 'true' || payloadValue(input, 'mode') === 'async'
}

function hasFailed(answer: unknown): boolean {
  const type = payloadValue(answer, 'result_type|resultType')
  return (
    (typeof type === 'string' && type !== 'success') ||
    Boolean(payloadValue(answer, 'error')) ||
    payloadValue(answer, 'success') === false
  )
}

/** Shells that go on after the turn. */
function countRunning(tasks: unknown): number {
  if (!Array.isArray(tasks)) return 0
  return tasks.filter((task) => {
    const type = textAt(task, 'type|kind') ?? 'shell'
    return (
      /shell|bash|command/i.test(type) &&
      !/^(?:completed|failed|killed|stopped|done)$/.test(textAt(task, 'status') ?? '')
    )
  }).length
}

// The kind of an error, which is one word; never its text, which may hold anything.
function errorOf(payload: EditPayload): string {
  const errorName = textAt(payload, 'error.name|error.data.name|error|error_type') ?? ''
  return /^[A-Za-z_]{1,40}$/.test(errorName) ? errorName : 'error'
}

function attemptIn(answer: unknown): string | null {
  const text = (JSON.stringify(answer) ?? '').slice(0, 200_000)
  return /attempt_id\\*"\s*:\s*\\*"(a-[\w-]{1,80})/.exec(text)?.[1] ?? null
}

// The name of a task can hold a prompt, so only its hash or its index is kept.
function itemsOf(
  payload: EditPayload,
  input: unknown,
  meaning: EventMeaning | undefined,
): readonly QueuedItem[] {
  const task = textAt(payload, 'task_id|task_subject')
  if (task !== null) return [{ key: hashText(task), done: meaning === 'item_done' }]
  const list = payloadValue(input, 'todos|plan|todoList')
  const states =
    typeof list === 'string'
      ? [...list.matchAll(/^\s*[-*] \[(.)\]/gm)].map(([, mark]) => mark)
      : Array.isArray(list)
        ? list.map((item) => textAt(item, 'status'))
        : []
  return states.map((state, n) => ({ key: `${n}`, done: /^(?:x|done|completed)$/i.test(state ?? '') }))
}

import { homedir } from 'node:os'
import { join } from 'node:path'
import { payloadValue } from '../../clients/hooks/client.ts'
import { containedPath } from '../../kernel/files/contained-file.ts'
import { openRegular } from '../../kernel/files/regular-file.ts'
import { maxTokens, type TokenUsage } from '../domain/hook-event.ts'

/** The figures of one turn in a client's transcript: numbers and names only, never its text. */
export interface TurnUsage {
  readonly usage: TokenUsage | null
  readonly model: string | null
  readonly version: string | null
}

/** The time of a turn: from its prompt to its end, in milliseconds since the epoch. */
export interface TurnTime {
  readonly from: number | null
  readonly to: number
}

const nothing: TurnUsage = { usage: null, model: null, version: null }
// The end of a long transcript is enough for one turn.
const maxReadBytes = 16 * 1024 * 1024
// Clients write some lines after they report the end of a turn.
const lag = 5000

/** The folders of clients' transcripts: no file outside them is opened, whatever a payload names. */
function homesOf(client: string, environment: Readonly<NodeJS.ProcessEnv>): readonly string[] {
  const home = environment['HOME'] ?? environment['USERPROFILE'] ?? homedir()
  const folderOf = (variable: string, folder: string) => environment[variable] || join(home, folder)
  if (client === 'claude' || client === 'devin') return [folderOf('CLAUDE_CONFIG_DIR', '.claude')]
  if (client === 'codex') return [folderOf('CODEX_HOME', '.codex')]
  if (client === 'copilot') return [folderOf('COPILOT_HOME', '.copilot')]
  return []
}

/** Reads a turn's figures from a transcript; all null if it cannot be read. */
export async function turnUsage(
  { client, transcript, session }: { client: string; transcript: string | null; session: string },
  turn: TurnTime,
  environment: Readonly<NodeJS.ProcessEnv>,
): Promise<TurnUsage> {
  const homes = homesOf(client, environment)
  const file = transcript ?? (client === 'copilot' ? copilotEvents(homes, session) : null)
  if (file === null || homes.length === 0) return nothing
  try {
    const [place] = homes.flatMap((home) => {
      const found = containedPath(home, file, { secrets: 'allowed', git: 'allowed' })
      return 'reason' in found ? [] : [found]
    })
    if (!place?.absolute.endsWith('.jsonl')) return nothing
    const lines = await lastLines(place.absolute)
    if (client === 'codex') return codexUsage(lines, turn)
    return client === 'copilot' ? copilotUsage(lines, turn) : claudeUsage(lines, turn)
  } catch {
    return nothing
  }
}

function copilotEvents(homes: readonly string[], session: string): string | null {
  const [home] = homes
  return home !== undefined && /^[\w-]{1,80}$/.test(session)
    ? join(home, 'session-state', session, 'events.jsonl')
    : null
}

// A payload names the file: a pipe or a device is not opened.
async function lastLines(path: string): Promise<readonly unknown[]> {
  const file = await openRegular(path)
  try {
    const { size } = await file.stat()
    const from = Math.max(0, size - maxReadBytes)
    const buffer = Buffer.allocUnsafe(size - from)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, from)
    const lines = buffer.subarray(0, bytesRead).toString('utf8').split('\n')
    return (from > 0 ? lines.slice(1) : lines).flatMap((line) => {
      try {
        return line === '' ? [] : [JSON.parse(line) as unknown]
      } catch {
        return []
      }
    })
  } finally {
    await file.close()
  }
}

function timeOf(line: unknown): number {
  const timestamp = payloadValue(line, 'timestamp')
  return typeof timestamp === 'number'
    ? timestamp
    : Date.parse(typeof timestamp === 'string' ? timestamp : '')
}

function isInTurnTime(line: unknown, { from, to }: TurnTime): boolean {
  const at = timeOf(line)
  return from !== null && at >= from - 1000 && at <= to + lag
}

function numberAt(line: unknown, paths: string): number | null {
  const value = payloadValue(line, paths)
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxTokens
    ? value
    : null
}

function nameAt(line: unknown, paths: string): string | null {
  const value = payloadValue(line, paths)
  // Claude Code uses this name for its own messages.
  return typeof value === 'string' && /^[\w.:/@[\]-]{1,120}$/.test(value) && value !== '<synthetic>'
    ? value
    : null
}

function sumUsage(all: readonly TokenUsage[]): TokenUsage | null {
  if (all.length === 0) return null
  const sum = (amountOf: (one: TokenUsage) => number | null) => {
    const amounts = all.map(amountOf).filter((value) => value !== null)
    const total = amounts.reduce((one, other) => one + other, 0)
    return amounts.length === 0 || total > maxTokens ? null : total
  }
  return {
    input: sum(({ input }) => input),
    output: sum(({ output }) => output),
    cached: sum(({ cached }) => cached),
  }
}

/** An answer has several lines, each with the usage so far: the last one counts. */
function claudeUsage(lines: readonly unknown[], turn: TurnTime): TurnUsage {
  const answers = new Map<string, TokenUsage>()
  let model: string | null = null
  let version: string | null = null
  for (const line of lines) {
    version = nameAt(line, 'version') ?? version
    const usage = payloadValue(line, 'message.usage')
    if (usage === undefined || !isInTurnTime(line, turn)) continue
    const cacheCreation = numberAt(usage, 'cache_creation_input_tokens')
    const input = numberAt(usage, 'input_tokens')
    const id = payloadValue(line, 'message.id|uuid')
    answers.set(String(id), {
      input: input === null ? null : input + (cacheCreation ?? 0),
      output: numberAt(usage, 'output_tokens'),
      cached: numberAt(usage, 'cache_read_input_tokens'),
    })
    model = nameAt(line, 'message.model') ?? model
  }
  return { usage: sumUsage([...answers.values()]), model, version }
}

/** Codex counts the whole session so far. */
function codexUsage(lines: readonly unknown[], turn: TurnTime): TurnUsage {
  let before: TokenUsage = { input: 0, output: 0, cached: 0 }
  let last: TokenUsage | null = null
  let model: string | null = null
  let version: string | null = null
  for (const line of lines) {
    version = nameAt(line, 'payload.cli_version') ?? version
    if (timeOf(line) > turn.to + lag) break
    if (payloadValue(line, 'type') === 'turn_context') model = nameAt(line, 'payload.model') ?? model
    const total = payloadValue(line, 'payload.info.total_token_usage')
    if (total === undefined) continue
    const now = {
      input: numberAt(total, 'input_tokens'),
      output: numberAt(total, 'output_tokens'),
      cached: numberAt(total, 'cached_input_tokens'),
    }
    if (isInTurnTime(line, turn)) last = now
    else before = now
  }
  if (last === null) return { usage: null, model, version }
  const less = (one: number | null, other: number | null) =>
    one === null || other === null ? one : Math.max(0, one - other)
  const usage = {
    input: less(last.input, before.input),
    output: less(last.output, before.output),
    cached: less(last.cached, before.cached),
  }
  return { usage, model, version }
}

function copilotUsage(lines: readonly unknown[], turn: TurnTime): TurnUsage {
  const answers: TokenUsage[] = []
  let model: string | null = null
  let version: string | null = null
  for (const line of lines) {
    version = nameAt(line, 'data.copilotVersion') ?? version
    if (timeOf(line) > turn.to + lag) break
    model = nameAt(line, 'data.newModel|data.selectedModel|data.model') ?? model
    const output = numberAt(line, 'data.outputTokens')
    if (output === null || !isInTurnTime(line, turn)) continue
    const input = numberAt(line, 'data.inputTokens')
    answers.push({ input, output, cached: numberAt(line, 'data.cacheReadTokens') })
  }
  return { usage: sumUsage(answers), model, version }
}

import { isNotable, type NotedFile, ownAttribute, writtenNote } from './notes.ts'

/** The lines that a commit brought, in the open formats of others: Agent Trace 0.1.0 and git-ai's notes. */

export interface TracedRange {
  readonly start: number
  readonly end: number
  readonly kind: 'agent' | 'outside' | 'author' | 'before' | 'uncommitted'
  readonly certainty: string
  readonly how: string
  readonly attempt: string | null
  /** Several where it is not known which of them. */
  readonly attempts?: readonly string[] | undefined
  readonly tasks?: readonly string[] | undefined
  readonly task: string | null
  readonly mission: string | null
  readonly agent: string | null
  readonly model: string | null
  /** The client and its own name of the session, where hooks told of one; else the agent and the attempt. */
  readonly tool: string | null
  readonly conversation: string | null
  /** By the word of a person that every agent is recorded. */
  readonly isHuman: boolean
  readonly author: string | null
  /** Of the lines joined by LF; absent where their text is on another machine. */
  readonly contentHash?: string
}

export interface TracedFile {
  readonly path: string
  readonly ranges: readonly TracedRange[]
}

export interface TracedCommit {
  readonly id: string
  /** RFC 3339, by its committer's clock. */
  readonly at: string
  readonly files: readonly TracedFile[]
}

export interface Tracing {
  readonly version: string
  /** The last fact of the record that it rests on. */
  readonly head: number
  readonly uuid: (name: string) => string
}

const traceVersion = '0.1.0'

/** One record for a commit; null where nothing is known of its lines. */
export function agentTrace(commit: TracedCommit, { version, head, uuid }: Tracing): object | null {
  const files = commit.files.filter(({ ranges }) =>
    ranges.some((range) => range.kind === 'agent' || range.isHuman),
  )
  if (files.length === 0) return null
  return {
    version: traceVersion,
    id: uuid(commit.id),
    timestamp: commit.at,
    vcs: { type: 'git', revision: commit.id },
    tool: { name: 'waymark', version },
    files: files.map(({ path, ranges }) => ({ path, conversations: conversationsOf(ranges) })),
    metadata: {
      'dev.waymark': {
        head,
        ranges: files.flatMap(({ path, ranges }) =>
          ranges.map(({ start, end, certainty, how }) => ({ path, start, end, certainty, how })),
        ),
      },
    },
  }
}

function conversationsOf(ranges: readonly TracedRange[]): object[] {
  const byAttempt = Map.groupBy(ranges, (range) =>
    range.kind === 'agent' ? (range.attempts?.join(' ') ?? range.attempt) : range.isHuman ? human : null,
  )
  return [...byAttempt].map(([attempt, own]) => {
    const [first] = own
    const spans = own.map(({ start, end, contentHash }) => ({
      start_line: start,
      end_line: end,
      ...(contentHash !== undefined && { content_hash: `sha256:${contentHash}` }),
    }))
    if (attempt === human) return { contributor: { type: 'human' }, ranges: spans }
    if (attempt === null || first === undefined) return { contributor: { type: 'unknown' }, ranges: spans }
    const model = modelId(first.model)
    if (isContested(first)) {
      // An agent's, and it is not known which one's.
      const related = (first.tasks ?? []).map((task) => ({ type: 'task', url: `waymark://tasks/${task}` }))
      return {
        contributor: { type: 'ai', ...(model !== null && { model_id: model }) },
        ranges: spans,
        related,
      }
    }
    return {
      url: `waymark://tasks/${first.task}/attempts/${attempt}`,
      contributor: { type: 'ai', ...(model !== null && { model_id: model }) },
      ranges: spans,
      related: [
        { type: 'task', url: `waymark://tasks/${first.task}` },
        ...(first.mission === null ? [] : [{ type: 'mission', url: `waymark://missions/${first.mission}` }]),
      ],
    }
  })
}

function isContested({ attempts = [] }: TracedRange): boolean {
  return attempts.length > 1
}

/** In the place of an attempt. */
const human = 'a person'

const longestModel = 250

const providers: readonly (readonly [RegExp, string])[] = [
  [/^claude/, 'anthropic'],
  [/^(gpt|o\d|codex)/, 'openai'],
  [/^gemini/, 'google'],
  [/^(mistral|devstral|codestral)/, 'mistral'],
  [/^deepseek/, 'deepseek'],
  [/^grok/, 'xai'],
]

/** As models.dev names it; null for one whose provider is not known. */
export function modelId(model: string | null): string | null {
  if (model === null) return null
  if (model.includes('/')) return model.length <= longestModel ? model : null
  const provider = providers.find(([pattern]) => pattern.test(model.toLowerCase()))?.[1]
  const id = `${provider}/${model}`
  return provider === undefined || id.length > longestModel ? null : id
}

function sessionName({ tool, conversation }: TracedRange): string {
  return `${tool ?? 'unknown'}:${conversation}`
}

function personName({ author }: TracedRange): string {
  return author ?? 'unknown'
}

/** What a note names by a digest. */
export function noteNames({ files }: TracedCommit): readonly string[] {
  const all = files.flatMap((file) => file.ranges)
  const ranges = all.filter(isAttested)
  const persons = all.flatMap((range) => (range.isHuman ? personName(range) : []))
  return [...new Set([...ranges.flatMap((range) => [sessionName(range), traceName(range)]), ...persons])]
}

/** The format knows one owner of a line: what is contested between several is left out. */
function isAttested(range: TracedRange): boolean {
  return range.kind === 'agent' && range.attempt !== null && !isContested(range)
}

/** What is only probable has a key of its own, which says so beside it. */
function traceName({ attempt, certainty }: TracedRange): string {
  return `${attempt}${certainty === probable ? ` ${probable}` : ''}`
}

const probable = 'probable'

interface NotedSession {
  readonly agent_id: { readonly tool: string; readonly id: string; readonly model: string }
  readonly custom_attributes: { readonly [ownAttribute]: string }
}

/** A note as git-ai reads it; null where no agent is known for any line. */
export function gitAiNote({ id, files }: TracedCommit, digest: (text: string) => string): string | null {
  const sessions: Record<string, NotedSession> = {}
  const humans: Record<string, { readonly author: string; readonly [ownAttribute]: string }> = {}
  const noted = files
    .filter(({ path }) => isNotable(path))
    .map(({ path, ranges }): NotedFile => {
      const byTrace = Map.groupBy(ranges.filter(isAttested), traceName)
      const entries = [...byTrace].flatMap(([name, own]) => {
        const [first] = own
        if (first === undefined) return []
        const session = `s_${digest(sessionName(first)).slice(0, 14)}`
        const { attempt, certainty } = first
        const trace = `t_${digest(name).slice(0, 14)}`
        const doubt = certainty === probable ? `@${probable}` : ''
        const agent = {
          tool: first.tool ?? 'unknown',
          id: first.conversation ?? `${attempt}`,
          model: first.model ?? 'unknown',
        }
        const written = sessions[session]?.custom_attributes[ownAttribute].split(' ') ?? []
        const attempts = new Set([...written, `${trace}=${attempt}@${first.task}${doubt}`])
        sessions[session] = {
          agent_id: agent,
          custom_attributes: { [ownAttribute]: [...attempts].join(' ') },
        }
        return [{ key: `${session}::${trace}`, ranges: own.map(({ start, end }) => [start, end] as const) }]
      })
      const byPerson = Map.groupBy(
        ranges.filter((range) => range.isHuman),
        personName,
      )
      const persons = [...byPerson].map(([author, own]) => {
        const key = `h_${digest(author).slice(0, 14)}`
        humans[key] = { author, [ownAttribute]: 'by every_agent_captured' }
        return { key, ranges: own.map(({ start, end }) => [start, end] as const) }
      })
      return { path, entries: [...entries, ...persons] }
    })
  if (noted.every(({ entries }) => entries.length === 0)) return null
  const facts = { schema_version: 'authorship/3.0.0', base_commit_sha: id, prompts: {}, sessions, humans }
  return writtenNote({ files: noted, facts: JSON.stringify(facts, null, 2) })
}

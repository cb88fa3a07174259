import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { type GitEnvironment, runGit } from './process.ts'

/** A commit whose trailers name a coding agent. */
export interface AgentCommit {
  /** Its common name: `Claude`. */
  readonly agent: string
  readonly subject: string
  /** The committer's time, milliseconds since the epoch. */
  readonly committedAt: number
}

export interface RecentCommits {
  /** How many commits were read. */
  readonly total: number
  /** Newest first. */
  readonly byAgents: readonly AgentCommit[]
}

const maxRecent = 200
const maxName = 40

/** The last commits of a work tree, and which of them agents made by their trailers. */
export async function readRecentCommits(top: string, environment: GitEnvironment): Promise<RecentCommits> {
  // rev-list, and not log: a repository can configure that log runs a program.
  const question = [
    'rev-list',
    '--no-merges',
    `--max-count=${maxRecent}`,
    '--format=%ct%x00%s%x00%(trailers:only=true,unfold=true)%x00',
    'HEAD',
    '--',
  ]
  const { code, output } = await runGit(question, { folder: top, environment, onlyReads: true })
  if (code !== 0) return { total: 0, byAgents: [] } // no commit yet
  const fields = output.toString('utf8').split('\0')
  const byAgents: AgentCommit[] = []
  let total = 0
  for (let at = 0; at + 3 < fields.length; at += 3) {
    const [time = '', subject = '', trailers = ''] = fields.slice(at, at + 3)
    total += 1
    const agent = agentOfTrailers(trailers)
    // A line with the commit's id precedes the time.
    if (agent !== null)
      byAgents.push({ agent, subject, committedAt: Number(time.trim().split('\n').at(-1)) * 1000 })
  }
  return { total, byAgents }
}

const agents: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Claude', /\bclaude\b/i],
  ['Codex', /\bcodex\b/i],
  ['Copilot', /\bcopilot\b/i],
  ['Cursor', /\bcursor(?:agent| agent)?\b/i],
  ['Gemini', /\bgemini\b/i],
  ['Antigravity', /\bantigravity\b/i],
  ['Devin', /\bdevin\b/i],
  ['OpenCode', /\bopencode\b/i],
  ['aider', /\baider\b/i],
  ['Amp', /\bamp\b/i],
  ['Cline', /\bcline\b/i],
  ['Windsurf', /\bwindsurf\b/i],
  ['Zed', /\bzed\b/i],
  ['Qwen', /\bqwen\b/i],
  ['Jules', /\bjules\b/i],
]

// Claude and Devin are also names of people, so a co-author needs the address of a program.
const programAddress =
  /no-?reply|\[bot\]|@(?:anthropic|openai|cursor|aider|opencode|ampcode|devin|windsurf)\./i

/** The agent that the trailers of a commit name, or null. */
export function agentOfTrailers(trailers: string): string | null {
  let isWaymark = false
  for (const line of trailers.split('\n')) {
    const [, key = '', value = ''] = /^([\w-]+)\s*:\s*(.*)$/.exec(line) ?? []
    if (/^waymark-/i.test(key)) isWaymark = true
    const isCoAuthor = /^co-authored-by$/i.test(key)
    if (isCoAuthor && !programAddress.test(value)) continue
    if (!isCoAuthor && !/^(?:assisted|generated)-(?:by|with)$/i.test(key)) continue
    const match = agents.find(([, pattern]) => pattern.test(value))
    if (match) return match[0]
    // The other trailers name only programs.
    if (!isCoAuthor && value !== '') return value.split(/[:<(]/)[0]?.trim().slice(0, maxName) || null
  }
  return isWaymark ? 'Waymark task' : null
}

const maxNamed = 2_000

/** The agents that the trailers of commits name, by the commits' ids. */
export async function agentsOfCommits(
  place: PrivateDirectory,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const question = ['rev-list', '--no-walk', '--stdin', '--format=%(trailers:only=true,unfold=true)%x00']
  const input = Buffer.from(`${ids.slice(0, maxNamed).join('\n')}\n`)
  const { code, output } = await runGit(question, privateCall(place, input))
  if (code !== 0) return new Map()
  const records = output.toString('utf8').split('\0')
  return new Map(
    records.flatMap((record) => {
      const [, id, trailers = ''] = /^\s*commit ([0-9a-f]+)\n(.*)$/s.exec(record) ?? []
      const agent = agentOfTrailers(trailers)
      return id === undefined || agent === null ? [] : [[id, agent] as const]
    }),
  )
}

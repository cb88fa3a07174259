import { z } from 'zod'
import type { LineClaim } from '../../domain/provenance/claims.ts'
import { ownAttribute, parseNote } from '../../domain/provenance/notes.ts'
import type { ForeignWords } from '../../ports/line-history.ts'

/** What a text of others says of lines, and what of it could not be read, as sentences. */
export interface ReadClaims {
  readonly claims: readonly LineClaim[]
  readonly troubles: readonly string[]
}

/** Reads what others left: the notes of git-ai, and records of Agent Trace, one a line or as one JSON text. */
export function readClaims(words: readonly ForeignWords[]): ReadClaims {
  const claims: LineClaim[] = []
  const troubles: string[] = []
  for (const one of words) {
    const read = isNote(one.text) ? noteClaims(one) : traceClaims(one)
    claims.push(...read.claims)
    troubles.push(...read.troubles)
  }
  return { claims, troubles }
}

function isNote(text: string): boolean {
  return /^---$/m.test(text) && !/^\s*[[{]/.test(text)
}

const Agent = z.object({ tool: z.string(), id: z.string(), model: z.string().nullish() })
const Told = z.object({
  agent_id: Agent,
  custom_attributes: z.record(z.string(), z.string()).nullish(),
})
const NoteFacts = z.object({
  prompts: z.record(z.string(), Told).nullish(),
  sessions: z.record(z.string(), Told).nullish(),
  humans: z.record(z.string(), z.object({ author: z.string() })).nullish(),
})

function noteClaims({ source, commit, text }: ForeignWords): ReadClaims {
  const note = parseNote(text)
  const facts = note === null ? undefined : NoteFacts.safeParse(jsonOf(note.facts)).data
  const where = commit === null ? source : `The note of ${commit.slice(0, 12)} in ${source}`
  if (note === null || facts === undefined || commit === null) {
    return { claims: [], troubles: [`${where} is not as git-ai writes it, and was passed over.`] }
  }
  const claims = note.files.flatMap(({ path, entries }) => {
    // Of two that name a line the later one is meant.
    const taken = new Set<number>()
    return entries
      .toReversed()
      .map(({ key, ranges }): LineClaim => {
        const [session = '', trace = ''] = key.split('::')
        const own = ranges.flatMap(([first, last]) => free(first, last, taken))
        const person = facts.humans?.[key]
        const told = facts.sessions?.[session] ?? facts.prompts?.[key]
        const written = told?.custom_attributes?.[ownAttribute]?.split(' ') ?? []
        const [attempt, task] =
          written
            .find((one) => one.startsWith(`${trace}=`))
            ?.slice(trace.length + 1)
            .split('@') ?? []
        return {
          source,
          commit,
          path,
          ranges: own,
          by: person !== undefined || key.startsWith('h_') ? 'person' : 'agent',
          name: person?.author ?? told?.agent_id.tool ?? null,
          model: modelOf(told?.agent_id.model),
          conversation: person === undefined ? (told?.agent_id.id ?? session) : null,
          attempt: attempt ?? null,
          task: task ?? null,
        }
      })
      .filter(({ ranges }) => ranges.length > 0)
      .toReversed()
  })
  return { claims, troubles: [] }
}

const mostLines = 200_000

/** The parts of a range that nobody has taken, which are taken with it. */
function free(first: number, last: number, taken: Set<number>): [number, number][] {
  const parts: [number, number][] = []
  for (let line = first; line <= Math.min(last, first + mostLines); line += 1) {
    if (taken.has(line)) continue
    taken.add(line)
    const part = parts.at(-1)
    if (part !== undefined && part[1] === line - 1) part[1] = line
    else parts.push([line, line])
  }
  return parts
}

function modelOf(model: string | null | undefined): string | null {
  return model === undefined || model === '' || model === 'unknown' ? null : (model ?? null)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const Contributor = z.object({ type: z.string(), model_id: z.string().nullish() })
const Trace = z.object({
  vcs: z.object({ type: z.string(), revision: z.string() }).nullish(),
  tool: z.object({ name: z.string().nullish() }).nullish(),
  files: z.array(
    z.object({
      path: z.string(),
      conversations: z.array(
        z.object({
          url: z.string().nullish(),
          contributor: Contributor.nullish(),
          ranges: z.array(
            z.object({
              start_line: z.int().min(1),
              end_line: z.int().min(1),
              contributor: Contributor.nullish(),
            }),
          ),
        }),
      ),
    }),
  ),
})

function traceClaims({ source, commit, text }: ForeignWords): ReadClaims {
  const claims: LineClaim[] = []
  let unread = 0
  let loose = 0
  for (const record of recordsIn(text)) {
    const { data } = Trace.safeParse(record)
    if (data === undefined) {
      unread += 1
      continue
    }
    const revision = commit ?? (data.vcs?.type === 'git' ? data.vcs.revision : null)
    if (revision === null || !/^[0-9a-f]{40,64}$/.test(revision)) {
      loose += 1
      continue
    }
    for (const { path, conversations } of data.files) {
      claims.push(...conversations.flatMap((one) => claimsOf(one, { source, commit: revision, path, data })))
    }
  }
  const counts = (many: number) => (many === 1 ? '1 record' : `${many} records`)
  const was = (many: number) => (many === 1 ? 'was' : 'were')
  return {
    claims,
    troubles: [
      ...(unread > 0
        ? [`${counts(unread)} in ${source} ${was(unread)} not as Agent Trace describes them.`]
        : []),
      ...(loose > 0
        ? [`${counts(loose)} in ${source} ${loose === 1 ? 'names' : 'name'} no commit of git.`]
        : []),
    ],
  }
}

function claimsOf(
  { url, contributor, ranges }: z.output<typeof Trace>['files'][number]['conversations'][number],
  {
    source,
    commit,
    path,
    data,
  }: {
    readonly source: string
    readonly commit: string
    readonly path: string
    readonly data: z.output<typeof Trace>
  },
): LineClaim[] {
  const [, task, attempt] = /^waymark:\/\/tasks\/([^/]+)\/attempts\/([^/]+)$/.exec(url ?? '') ?? []
  const byWho = Map.groupBy(ranges, (range) => JSON.stringify(range.contributor ?? contributor ?? null))
  return [...byWho].flatMap(([who, own]): LineClaim[] => {
    const read = Contributor.safeParse(JSON.parse(who)).data
    if (read?.type !== 'ai' && read?.type !== 'mixed' && read?.type !== 'human') return []
    return [
      {
        source,
        commit,
        path,
        ranges: own.map(({ start_line, end_line }) => [start_line, end_line]),
        by: read.type === 'human' ? 'person' : 'agent',
        name: read.type === 'human' ? null : (data.tool?.name ?? null),
        model: modelOf(read.model_id),
        conversation: url ?? null,
        attempt: attempt ?? null,
        task: task ?? null,
      },
    ]
  })
}

/** A JSON text, a list in one, or one a line. */
function recordsIn(text: string): unknown[] {
  const whole = jsonOf(text)
  if (Array.isArray(whole)) return whole
  if (whole !== undefined) return [whole]
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(jsonOf)
}

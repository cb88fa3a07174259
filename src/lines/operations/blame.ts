import { z } from 'zod'
import { displayName } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import { text } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { prepareSteps, requireMeasured } from '../../kernel/operations/measurement-protocol.ts'
import { type Answer, defineOperation } from '../../kernel/operations/operation.ts'
import { excerpt, formatCount } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import { BroughtEntry } from '../../track/operations/attempt-answer.ts'
import type { LineFinding } from '../domain/blame.ts'
import type { LineAuthor, TurnAuthor } from '../ports/line-reads.ts'
import { findLineOrigins, type LineLookupResult, lineMeasurements } from './line-origins.ts'

const lineKinds = ['agent', 'outside', 'author', 'before', 'uncommitted'] as const

/** Adjacent lines with the same origin. */
export const LineRange = z.object({
  start: z.int(),
  end: z.int(),
  kind: z.enum(lineKinds),
  /** exact: by the content itself. matched: by the same text in the same order, as after retyping. probable, contested: found, but with an uncertain author. */
  certainty: z.enum([
    'exact',
    'matched',
    'probable',
    'contested',
    'not recorded',
    'before Waymark',
    'not committed',
  ]),
  how: z.enum(['exact', 'aligned', 'matched', 'git']),
  /** How certain the author of the change is. */
  attribution: z.enum(['certain', 'probable', 'contested']).optional(),
  /** Lines of few characters, which count because of the adjacent lines. */
  rests: z.literal(true).optional(),
  attempt: z.string().nullable(),
  /** The turn of an agent, and its session, that made them without a task. */
  turn: z.string().optional(),
  session: z.string().optional(),
  /** All attempts that may have made them; `attempt` and `task` are then the first ones. */
  attempts: strings.optional(),
  tasks: strings.optional(),
  task: z.string().nullable(),
  task_name: z.string().nullable(),
  goal: z.string().nullable(),
  mission: z.string().nullable(),
  /** All that may have made them: `ada or ben`. */
  agent: z.string().nullable(),
  model: z.string().nullable(),
  author: z.string().nullable(),
  /** Of a line from before Waymark: the agent that the commit's trailers name. */
  committed_with: z.string().optional(),
  commit: z.string().nullable(),
  reformatted_by: strings.optional(),
  moved_by: strings.optional(),
  /** Git brought them into the file, by this command and from this commit as far as they are known. */
  brought_by: BroughtEntry.optional(),
})
export type LineRange = z.output<typeof LineRange>

export const blame = defineOperation({
  name: 'blame',
  command: 'blame',
  toolset: 'track',
  audience: 'both',
  title: 'Show who wrote each line of a file',
  description:
    'Show the attempt, task, agent and mission behind each line. Follows amend, rebase, squash, renames and moves. Lines of people and lines of unknown origin are marked. Writes nothing to the repository.',
  kind: 'query',
  positional: ['file'],
  paths: { file: [] },
  input: z.strictObject({
    file: text('The file, from the folder you are in'),
    lines: text('Only these lines: 3,7 or 3 (short: -L)').optional(),
    rev: text('The file as it was in this commit').optional(),
    copies: z.boolean().describe('Also find lines copied from any other file; much slower').optional(),
    porcelain: z.boolean().describe('One record per line, for programs').optional(),
  }),
  output: z.object({
    path: z.string(),
    commit: z.string().nullable(),
    lines: z.int(),
    ranges: list(LineRange),
    /** The lines themselves, of the ranges in order; absent if the file is on another machine. */
    text: strings.optional(),
    notes: strings,
  }),
  print: (answer, { porcelain, asked }) =>
    porcelain === true && asked !== 'json' ? [porcelainOf(answer)] : null,
})
  .measure(lineMeasurements)
  .prepare((reads, { file, rev, copies }, { machine }, measured) =>
    prepareSteps(measured, async (measure) => {
      const request = { files: [{ path: file, rev }], copies, text: machine === undefined }
      return (await findLineOrigins(reads, measure, request))[0]
    }),
  )
  .answer(async ({ reads, ...deciding }, input) => {
    const origins = requireMeasured(deciding.found)
    const total = origins.lines.length
    const { first, last } = requestedLines(input.lines, total)
    const makers = await lineAuthorsOf(reads, origins)
    const ranges = rangesOf(origins, makers, await turnsOf(reads, origins))
      .filter(({ start, end }) => end >= first && start <= last)
      .map((range) => ({ ...range, start: Math.max(range.start, first), end: Math.min(range.end, last) }))
    return {
      path: origins.file.path,
      commit: origins.file.commit,
      lines: total,
      ranges,
      ...(origins.file.text && { text: origins.file.text.slice(first - 1, last) }),
      notes: origins.notes,
    }
  })

function requestedLines(
  wanted: string | undefined,
  total: number,
): { readonly first: number; readonly last: number } {
  if (wanted === undefined) return { first: 1, last: total }
  const parts = /^(\d{1,9})(?:,(\+?)(\d{1,9}))?$/.exec(wanted.trim())
  if (parts === null) {
    throw new Failure('INVALID_INPUT', `"${wanted}" is not a range of lines.`, {
      reason: 'lines_invalid',
      hint: 'Use first and last, as in -L 3,7, or a count, as in -L 3,+5.',
    })
  }
  const first = Number(parts[1])
  const second = parts[3] === undefined ? first : Number(parts[3])
  const last = parts[2] === '+' ? first + second - 1 : second
  if (first >= 1 && first <= total && last >= first) return { first, last: Math.min(last, total) }
  throw new Failure('INVALID_INPUT', `The file has ${formatCount(total, 'line')}, so no lines ${wanted}.`, {
    reason: 'lines_out_of_range',
  })
}

/** The authors of lines, by the ids of their attempts. */
export async function lineAuthorsOf(
  reads: Reads,
  origins: Pick<LineLookupResult, 'lines'>,
): Promise<ReadonlyMap<string, LineAuthor>> {
  const ids = new Set(origins.lines.flatMap(({ origin }) => origin?.owners ?? []))
  const makers: LineAuthor[] = []
  const all = [...ids]
  for (let at = 0; at < all.length; at += 400) {
    makers.push(...(await reads.lines.makers(all.slice(at, at + 400))))
  }
  const byId = new Map<string, LineAuthor>(makers.map((maker) => [maker.attempt.id, maker]))
  // In the order in which the lines name them.
  return new Map(
    all.flatMap((id) => {
      const maker = byId.get(id)
      return maker === undefined ? [] : [[id, maker] as const]
    }),
  )
}

/** The turns of agents that made lines without a task, by their ids. */
export async function turnsOf(
  reads: Reads,
  origins: Pick<LineLookupResult, 'lines'>,
): Promise<ReadonlyMap<string, TurnAuthor>> {
  const ids = [...new Set(origins.lines.flatMap(({ origin }) => origin?.turns ?? []))]
  if (ids.length === 0) return new Map()
  const makers = await reads.lines.turnMakers(ids)
  return new Map(makers.map((maker) => [maker.turnId, maker]))
}

/** Groups adjacent lines with the same origin. */
export function rangesOf(
  { lines, commits }: LineLookupResult,
  makers: ReadonlyMap<string, LineAuthor>,
  turns: ReadonlyMap<string, TurnAuthor>,
): LineRange[] {
  const ranges: LineRange[] = []
  const stories = new Map<string, { readonly story: LineSource; readonly key: string }>()
  let before = ''
  for (const [at, finding] of lines.entries()) {
    const { birth: _, seq: __, span: ___, ...origin } = finding.origin ?? { birth: '', seq: 0, span: null }
    const { kind, how, rests, commit, brought } = finding
    const inputKey = JSON.stringify([kind, how, rests, commit, origin, brought])
    const keyed = stories.get(inputKey) ?? withStoryKey(lineStory(finding, commits, { makers, turns }))
    stories.set(inputKey, keyed)
    const last = ranges.at(-1)
    if (last !== undefined && keyed.key === before) ranges[ranges.length - 1] = { ...last, end: at + 1 }
    else ranges.push({ start: at + 1, end: at + 1, ...keyed.story })
    before = keyed.key
  }
  return ranges
}

type LineSource = Omit<LineRange, 'start' | 'end'>

function withStoryKey(story: LineSource): { readonly story: LineSource; readonly key: string } {
  return { story, key: JSON.stringify(story) }
}

function lineStory(
  { kind, how, origin, rests, commit, brought }: LineFinding,
  commits: LineLookupResult['commits'],
  {
    makers,
    turns,
  }: {
    readonly makers: ReadonlyMap<string, LineAuthor>
    readonly turns: ReadonlyMap<string, TurnAuthor>
  },
): LineSource {
  const owners = origin?.owners ?? []
  const unnamed = owners.length > 0 ? [] : (origin?.turns ?? []).flatMap((id) => turns.get(id) ?? [])
  const [turn] = unnamed
  const clients = turn && [...new Set(unnamed.map(({ client }) => client))].join(' or ')
  const maker = makers.get(owners[0] ?? '')
  const committed = commit === null ? undefined : commits.get(commit)
  const all = owners.flatMap((id) => makers.get(id) ?? [])
  const models = new Set(all.map((one) => one.model))
  return {
    kind,
    certainty: certaintyOf(kind, how, origin),
    how,
    ...(origin !== null && { attribution: origin.certainty }),
    ...(rests && { rests }),
    attempt: owners[0] ?? null,
    ...(turn && { turn: turn.turnId, session: turn.sessionId }),
    ...(owners.length > 1 && {
      attempts: owners,
      tasks: [...new Set<string>(all.map((one) => one.attempt.taskId))],
    }),
    task: maker?.attempt.taskId ?? null,
    task_name: maker?.taskName ?? null,
    goal: maker === undefined ? null : excerpt(maker.goal ?? maker.taskName, 120),
    mission: maker?.attempt.missionId ?? null,
    agent: maker === undefined ? (clients ?? null) : agentsOf(all),
    model: models.size > 1 ? null : (maker?.model ?? turn?.model ?? null),
    author: committed?.author ?? null,
    ...(kind === 'before' && committed?.agent !== undefined && { committed_with: committed.agent }),
    commit,
    ...(origin?.reformattedBy && { reformatted_by: [...origin.reformattedBy] }),
    ...(origin?.movedBy && { moved_by: [...origin.movedBy] }),
    ...(brought && { brought_by: brought }),
  }
}

/** The names of the agents that may have made a line: `ada or ben`. */
export function agentsOf(makers: readonly LineAuthor[]): string {
  return [...new Set(makers.map(({ attempt }) => displayName(attempt)))].join(' or ')
}

function certaintyOf(
  kind: LineFinding['kind'],
  how: LineFinding['how'],
  origin: LineFinding['origin'],
): LineRange['certainty'] {
  if (kind === 'agent' && origin !== null && origin.certainty !== 'certain') return origin.certainty
  if (kind === 'author') return 'not recorded'
  if (kind === 'before') return 'before Waymark'
  if (kind === 'uncommitted') return 'not committed'
  return how === 'exact' ? 'exact' : 'matched'
}

/** One line for each: number, kind, certainty, attempts, tasks, agents, commit and the text, with tabs between. */
function porcelainOf(answer: Answer): string {
  const { ranges, text = [] } = printed.parse(answer)
  const first = ranges[0]?.start ?? 1
  return ranges
    .flatMap(({ start, end, kind, certainty, commit, ...made }) =>
      Array.from({ length: end - start + 1 }, (_, more) => {
        const attempt = made.attempts?.join(',') ?? made.attempt
        const task = made.tasks?.join(',') ?? made.task
        const own = text[start + more - first]
        const columns = [start + more, kind, certainty, attempt, task, made.agent, commit, own]
        return columns.map((part) => String(part ?? '-').replace(/[\t\n\r]/g, ' ')).join('\t')
      }),
    )
    .join('\n')
}

const printed = z.object({ ranges: list(LineRange), text: strings.optional() })

import { z } from 'zod'
import { dateIn, settingOf } from '../../gate/domain/settings.ts'
import { displayName } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import { choice, text } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { prepareSteps } from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import type { Reads } from '../../store/ports/store.ts'
import { isHuman } from '../domain/blame.ts'
import { blankHash } from '../domain/line-hashes.ts'
import { firstLosses, type LineLoss, lossesAt, type Rework, reworkStats } from '../domain/rework.ts'
import type { ListedCommit } from '../ports/line-history.ts'
import type { LineAuthor, TurnAuthor } from '../ports/line-reads.ts'
import { agentsOf, lineAuthorsOf, turnsOf } from './blame.ts'
import {
  findLineOrigins,
  historyMeasurements,
  type LineLookupResult,
  lineMeasurements,
  maxFiles,
  recordOf,
} from './line-origins.ts'

const bys = ['agent', 'model', 'mission', 'author'] as const

const definitions = {
  share:
    'Lines by recorded agents, of all lines with a known author (`known`). Blank and `unknown` lines are not counted. Lines count as human only if the setting `every_agent_captured` says that each agent is recorded.',
  survival:
    'Lines that an attempt added and that still exist at the commit. Moved and reformatted lines still exist; changed ones do not.',
  after_14_days: 'Counts attempts that ended at least 14 days ago.',
  reworked:
    'Lines of an attempt that were changed or removed within 14 days of its end: by another attempt or turn of an agent, or outside of recorded work. Later: after those days. Unseen: removed by git, or not measured since. Counts attempts that ended at least 14 days ago.',
} as const

/** The longest age of each class, in days. */
const ages = [1, 7, 30, 90, null] as const
const settledDays = 14

const Count = z.object({
  name: z.string(),
  /** The mission of the lines, if they are grouped by mission and it is only one. */
  mission_id: z.string().optional(),
  lines: z.int(),
  files: z.int(),
})

/** The lost lines of several attempts together. */
const Reworked = z.object({
  n: z.int(),
  added: z.int(),
  by_agent: z.int(),
  by_outside: z.int(),
  later: z.int(),
  unseen: z.int(),
  share_by_agent: z.number().nullable(),
  share_by_outside: z.number().nullable(),
})

/** Several attempts together: their number, added lines and surviving lines. */
const Survived = z.object({ n: z.int(), added: z.int(), alive: z.int(), share: z.number().nullable() })

export const provenanceStats = defineOperation({
  name: 'provenance_stats',
  command: 'provenance stats',
  toolset: 'track',
  audience: 'both',
  title: 'Count lines by agent, and those that survive',
  description:
    'Count the lines that agents made in a commit, by agent, mission or author, and how many of each attempt survive.',
  kind: 'query',
  positional: ['rev'],
  input: z.strictObject({
    rev: text(
      'A commit; default HEAD. Or a range, main..HEAD: only the lines that its commits added',
    ).optional(),
    path: text('Only below this folder, or this file, from the top of the work tree').optional(),
    group_by: choice(bys, 'Group the lines by this; default agent').optional(),
    survival: z.boolean().describe('Also count the surviving lines of each attempt').optional(),
    explain: z.boolean().describe('Also explain the figures, in text').optional(),
  }),
  output: z.object({
    commit: z.string(),
    /** The number of commits in the requested range; null without a range. */
    commits: z.int().nullable(),
    files: z.int(),
    /** All but blank ones. */
    lines: z.int(),
    /** `human`: by the setting every_agent_captured. */
    kinds: z.object({
      agent: z.int(),
      outside: z.int(),
      human: z.int(),
      author: z.int(),
      before: z.int(),
    }),
    /** Lines with a known author, of which `share` is a part, and all others. */
    known: z.int(),
    unknown: z.int(),
    /** Null if no line has a known author. */
    share: z.number().nullable(),
    group_by: z.enum(bys),
    groups: list(Count),
    survival: list(
      z.object({
        attempt: z.string(),
        task: z.string(),
        agent: z.string(),
        added: z.int(),
        alive: z.int(),
        share: z.number().nullable(),
        age_days: z.int(),
      }),
    ).optional(),
    /** By the time since the attempts ended; the last class has no upper end. */
    ages: list(Survived.extend({ up_to_days: z.int().nullable() })).optional(),
    after_14_days: Survived.optional(),
    reworked_within_14_days: Reworked.optional(),
    definitions: z.object({
      share: z.string(),
      survival: z.string(),
      after_14_days: z.string(),
      reworked: z.string(),
    }),
    left_out: strings,
  }),
})
  .measure({ ...lineMeasurements, ...historyMeasurements })
  .prepare((reads, input, _, measured) =>
    prepareSteps(measured, async (measure) => {
      const rev = input.rev ?? 'HEAD'
      if (input.survival && rev.includes('..')) {
        throw new Failure(
          'INVALID_INPUT',
          `Survival is counted at a commit, not for a range such as "${rev}".`,
          { reason: 'commit_needed', hint: `Use its end: ${endOf(rev)}` },
        )
      }
      const isRange = rev.includes('..')
      const { listed, commits } = await measure({
        listed: { rev: endOf(rev), under: input.path ?? null },
        commits: isRange ? { range: rev, limit: maxCommits + 1 } : undefined,
      })
      const range = isRange ? rangeOf(commits) : null
      const { commit, files: all } = listed
      if (input.path !== undefined && all.length === 0) throw pathNotFoundFailure(input.path, rev)
      const files = range === null ? all : all.filter(({ path }) => range.paths.has(path))
      const wanted = files
        .filter(({ bytes, generated }) => bytes <= maxBytes && !generated)
        .slice(0, maxFiles)
      const origins = await findLineOrigins(reads, measure, {
        files: wanted.map(({ path }) => ({ path: `:/${path}`, rev: commit })),
      })
      return { commit, range, origins, left: files.length - wanted.length }
    }),
  )
  .answer(async ({ reads, found: { commit, range, origins, left }, context }, input) => {
    const by = input.group_by ?? 'agent'
    const tally = new LineTally({
      groupBy: by,
      allSince: await captureStart(reads),
      commits: range?.ids ?? null,
    })
    for (const origin of origins)
      tally.add(origin, await lineAuthorsOf(reads, origin), await turnsOf(reads, origin))
    const { kinds, groups, alive, living } = tally
    const lines = Object.values(kinds).reduce((sum, each) => sum + each, 0)
    const knownLines = kinds.agent + kinds.outside + kinds.human
    const survival = input.survival ? await survivalOf(reads, alive, context.clock.now()) : null
    const settled = survival?.filter(({ age_days }) => age_days >= settledDays) ?? []
    return {
      commit,
      commits: range?.ids.size ?? null,
      files: origins.length,
      lines,
      kinds,
      known: knownLines,
      unknown: lines - knownLines,
      share: knownLines === 0 ? null : kinds.agent / knownLines,
      group_by: by,
      groups: [...groups.values()]
        .map(({ name, missionId, lines, paths }) => ({
          name,
          ...(missionId !== null && { mission_id: missionId }),
          lines,
          files: paths.size,
        }))
        .sort((a, b) => b.lines - a.lines || (a.name < b.name ? -1 : 1))
        .slice(0, maxGroups),
      ...(survival !== null && {
        survival: survival.map(({ ended_at: _, ...entry }) => entry),
        ages: groupByAge(survival),
        after_14_days: sumSurvival(settled),
        reworked_within_14_days: await reworkOfSettled(reads, settled, living),
      }),
      definitions,
      left_out: [
        ...(left === 0
          ? []
          : [`${left === 1 ? '1 file' : `${left} files`} above 1 MB, generated or vendored.`]),
        ...(range?.isCut ? [`Only the newest ${maxCommits} commits of the range were counted.`] : []),
      ],
    }
  })

function pathNotFoundFailure(path: string, rev: string): Failure {
  return new Failure('NOT_FOUND', `There is no file or folder ${path} in ${endOf(rev)}.`, {
    reason: 'path_not_in_commit',
    hint: 'Use its path from the top of the work tree in that commit.',
  })
}

const maxCommits = 20_000

/** The commits of a range and the paths that they changed. */
function rangeOf(listed: readonly ListedCommit[]) {
  const some = listed.slice(0, maxCommits)
  return {
    ids: new Set(some.map(({ id }) => id)),
    paths: new Set(some.flatMap(({ paths }) => paths)),
    isCut: listed.length > some.length,
  }
}

function endOf(rev: string): string {
  const end = rev.split(/\.{2,3}/).at(-1) ?? ''
  return end === '' ? 'HEAD' : end
}

const maxBytes = 1_000_000
const maxGroups = 100
interface LineStatsQuery {
  readonly groupBy: (typeof bys)[number]
  /** The time since which all agents are recorded, so other lines are people's; null if not declared. */
  readonly allSince: number | null
  /** Only lines from these commits count; null for all. */
  readonly commits: ReadonlySet<string> | null
}

interface LineGroup {
  readonly name: string
  /** Null for lines of several missions, and for other groups. */
  readonly missionId: string | null
  lines: number
  readonly paths: Set<string>
}

class LineTally {
  readonly kinds = { agent: 0, outside: 0, human: 0, author: 0, before: 0 }
  /** By name; missions also by id, since names may be equal. */
  readonly groups = new Map<string, LineGroup>()
  /** Surviving lines by attempt, and the id of each, wherever it moved. */
  readonly alive = new Map<string, number>()
  readonly living = new Set<string>()
  readonly #by: (typeof bys)[number]
  readonly #commits: ReadonlySet<string> | null

  readonly #allSince: number | null

  constructor({ groupBy, allSince, commits }: LineStatsQuery) {
    this.#by = groupBy
    this.#allSince = allSince
    this.#commits = commits
  }

  add(
    { file, lines, commits }: LineLookupResult,
    makers: ReadonlyMap<string, LineAuthor>,
    turns: ReadonlyMap<string, TurnAuthor>,
  ): void {
    for (const [at, { kind, origin, commit }] of lines.entries()) {
      if (file.hashes[at] === blankHash) continue
      if (this.#commits !== null && (commit === null || !this.#commits.has(commit))) continue
      const committedAt = commits.get(commit ?? '')?.committedAt ?? null
      const isPersons = isHuman({ kind }, committedAt, this.#allSince)
      const counted = isPersons ? 'human' : kind === 'uncommitted' ? 'author' : kind
      this.kinds[counted] += 1
      const among = (origin?.owners ?? []).flatMap((owner) => makers.get(owner) ?? [])
      const author = commit === null ? undefined : commits.get(commit)?.author
      const turn = turns.get(origin?.turns?.[0] ?? '')
      const name = this.#name(among, turn, author ?? null)
      if (name !== null) {
        const missions = this.#by === 'mission' ? missionIdsOf(among) : []
        const key = [...missions, name].join(' ')
        const missionId = missions.length === 1 ? (missions[0] ?? null) : null
        const group = this.groups.get(key) ?? { name, missionId, lines: 0, paths: new Set() }
        group.lines += 1
        group.paths.add(file.path)
        this.groups.set(key, group)
      }
      if (origin !== null) this.living.add(origin.birth)
      for (const owner of origin?.owners ?? []) this.alive.set(owner, (this.alive.get(owner) ?? 0) + 1)
    }
  }

  /** Names all that may have made a line. */
  #name(makers: readonly LineAuthor[], turn: TurnAuthor | undefined, author: string | null): string | null {
    if (this.#by === 'author') return author
    if (makers.length === 0) return turn === undefined ? null : this.#nameOfTurn(turn)
    if (this.#by === 'agent') return agentsOf(makers)
    const names = makers.flatMap(({ attempt, missionName, model }) => {
      if (this.#by === 'model') return model ?? 'unknown'
      return attempt.missionId === null ? [] : (missionName ?? attempt.missionId)
    })
    return names.length === 0 ? null : [...new Set(names)].join(' or ')
  }

  /** Work without a task is in no mission. */
  #nameOfTurn({ client, model }: TurnAuthor): string | null {
    if (this.#by === 'mission') return null
    return this.#by === 'model' ? (model ?? 'unknown') : client
  }
}

function missionIdsOf(makers: readonly LineAuthor[]): readonly string[] {
  return [...new Set(makers.flatMap(({ attempt }) => attempt.missionId ?? []))]
}

/** The time since which every agent is recorded, as a person declared; null if nobody did. */
async function captureStart({ runs }: Reads): Promise<number | null> {
  const settings = await runs.settings()
  return dateIn(settingOf(settings, 'every_agent_captured'))
}

type LineSurvival = Awaited<ReturnType<typeof survivalOf>>[number]

function groupByAge(survival: readonly LineSurvival[]) {
  return ages.map((limit, at) => {
    const least = ages[at - 1] ?? -1
    const inClass = survival.filter(
      ({ age_days }) => age_days > least && (limit === null || age_days <= limit),
    )
    return { up_to_days: limit, ...sumSurvival(inClass) }
  })
}

function sumSurvival(some: readonly LineSurvival[]): z.output<typeof Survived> {
  const added = some.reduce((sum, one) => sum + one.added, 0)
  const alive = some.reduce((sum, one) => sum + one.alive, 0)
  return { n: some.length, added, alive, share: added === 0 ? null : alive / added }
}

/** Counts how attempts lost the lines that are gone from the commit, over all recorded files. */
async function reworkOfSettled(
  reads: Reads,
  settled: readonly LineSurvival[],
  living: ReadonlySet<string>,
): Promise<z.output<typeof Reworked>> {
  const ends = new Map(settled.map(({ attempt, ended_at }) => [attempt, ended_at]))
  const losses: LineLoss[] = []
  const paths = settled.length === 0 ? [] : await reads.lines.paths(maxFiles)
  for (const path of paths) {
    for (const loss of lossesAt(await recordOf(reads, path), path)) {
      if (!living.has(loss.birth) && loss.owners.some((owner) => ends.has(owner))) losses.push(loss)
    }
  }
  const rework = reworkStats(firstLosses(losses), {
    endOf: (attempt) => ends.get(attempt) ?? null,
    within: settledDays * oneDay,
  })
  const total = (kind: keyof Rework) => rework.values().reduce((sum, one) => sum + one[kind], 0)
  const { n, added, alive } = sumSurvival(settled)
  const [byAgent, byOutside, later] = [total('byAgent'), total('byOutside'), total('later')]
  return {
    n,
    added,
    by_agent: byAgent,
    by_outside: byOutside,
    later,
    unseen: Math.max(0, added - alive - byAgent - byOutside - later - total('own')),
    share_by_agent: added === 0 ? null : byAgent / added,
    share_by_outside: added === 0 ? null : byOutside / added,
  }
}

const oneDay = 24 * 60 * 60 * 1000

async function survivalOf(reads: Reads, alive: ReadonlyMap<string, number>, now: number) {
  const added = await reads.lines.addedBy()
  const makers: LineAuthor[] = []
  const ids = added.map(({ attemptId }) => attemptId)
  for (let at = 0; at < ids.length; at += 400) {
    makers.push(...(await reads.lines.makers(ids.slice(at, at + 400))))
  }
  const byId = new Map<string, LineAuthor>(makers.map((maker) => [maker.attempt.id, maker]))
  return added.flatMap(({ attemptId, lines }) => {
    const attempt = byId.get(attemptId)?.attempt
    if (attempt === undefined) return []
    const living = Math.min(alive.get(attemptId) ?? 0, lines)
    return [
      {
        attempt: attemptId,
        task: attempt.taskId,
        agent: displayName(attempt),
        added: lines,
        alive: living,
        share: lines === 0 ? null : living / lines,
        ended_at: attempt.closedAt,
        age_days: Math.max(0, Math.floor((now - (attempt.closedAt ?? now)) / oneDay)),
      },
    ]
  })
}

import type { NewFact } from '../../events/domain/fact.ts'
import { settingOf } from '../../gate/domain/settings.ts'
import type { TurnId } from '../../kernel/id.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import type { TurnEvidence } from '../../sessions/domain/session.ts'
import type { SightingsWish } from '../../sessions/operations/sightings.ts'
import type { TreeBoundary } from '../../store/ports/reads.ts'
import type { Reads } from '../../store/ports/store.ts'
import { makersIn } from '../../track/domain/attribution.ts'
import { namesPackage, parseScope } from '../../track/domain/scope/scope.ts'
import { type Contender, chainIn, type Link } from '../../track/domain/sight.ts'
import { type Attempt, type SnapshotPlace, treeOf } from '../../track/domain/task.ts'
import { contendersOf, readAround, type Surroundings } from '../../track/operations/measure.ts'
import type { RecordedStep } from '../domain/step.ts'

/** A snapshot that was just taken, and when it was begun. */
export interface TakenBoundary extends TreeBoundary {
  /** The snapshot before, where it is not in the record yet. */
  readonly last?: TreeBoundary
  /** What hooks told that is not in the record yet. */
  readonly told?: Pick<SightingsWish, 'fresh' | 'links'>
  /** The turn that ends with it, and what was found of it. */
  readonly turn?: { readonly id: TurnId; readonly evidence: TurnEvidence }
}

interface Said {
  readonly attempt: string
  readonly names: (paths: readonly string[]) => ReadonlySet<string>
}

interface Around {
  readonly salt: string
  readonly last: TreeBoundary
  /** Those that were at work in the work tree since: attempts that were open all the time. */
  readonly surroundings: Surroundings
}

/**
 * Measures what became of the lines of a work tree since its last snapshot, whoever was at work in it. What cannot be
 * measured is not recorded: then a look-up finds no owner, never a wrong one.
 */
export async function measuredLines(
  { store, witness, copies }: Pick<Context, 'store' | 'witness' | 'copies'>,
  now: TakenBoundary,
  /** Who ends, and the paths that its own words name. */
  said: Said | null = null,
): Promise<readonly NewFact[]> {
  const around = await store.view((reads) => readSince(reads, now))
  if (around === null) return []
  const { salt, last, surroundings } = around
  const open = [...surroundings.neighbours.values()]
  const turns = turnsBetween(surroundings, { last, now })
  const contenders = await contendersIn({ witness }, surroundings, now.place)
  const told = await reported(copies, { contenders, surroundings, last, now })
  const measured = await witness.lines(last.place, now.place, {
    salt,
    during: open.length + turns.length > 0 ? 'attempt' : 'gap',
    chains: [...told.links]
      .filter(([, links]) => links.length > 1)
      .map(([path, links]) => ({ path, contents: contentsOf(links) })),
  })
  if (measured === null || measured.steps.length === 0) return []
  const leftOpen = new Set(
    open.flatMap(({ id, closedAt, endSnapshot }): string[] =>
      closedAt !== null && endSnapshot === null ? [id] : [],
    ),
  )
  const attempts = contenders.filter(({ seen }) => seen?.isTurn !== true)
  const { steps, notes: _, ...movement } = measured
  const recorded = steps.map((step): RecordedStep => {
    const links = told.links.get(step.path) ?? told.linksOf(step)
    const {
      owners,
      certainty,
      turns: some,
    } = madeBy(step, {
      links,
      attempts,
      claimant: claimantOf(step, said),
      turns,
      ended: now.turn,
    })
    // An attempt that was given up leaves no snapshot: what came after it is in the same stretch.
    const isDoubtful = certainty === 'certain' && owners.some((id) => leftOpen.has(id))
    return {
      ...step,
      owners,
      ...(some !== undefined && some.length > 0 && { turns: some }),
      certainty: isDoubtful ? 'probable' : certainty,
    }
  })
  const span = { ...movement, tree: treeOf(now.place), since: last.at, until: now.at, steps: recorded }
  return [{ kind: 'lines.recorded', span }]
}

function claimantOf({ path, from }: Pick<RecordedStep, 'path' | 'from'>, said: Said | null): string | null {
  if (said === null) return null
  return said.names(from === undefined ? [path] : [path, from]).size > 0 ? said.attempt : null
}

async function readSince(reads: Reads, { place, last: given, told }: TakenBoundary): Promise<Around | null> {
  const { lines, runs } = reads
  const tree = treeOf(place)
  const [settings, last, salt] = await Promise.all([
    runs.settings(),
    given === undefined ? lines.lastBoundary(tree) : given,
    lines.salt(),
  ])
  if (last === null || settingOf(settings, 'lines') === 'off') return null
  const { neighbours, sightings } = await readAround(reads, { tree, since: last.at, ...told })
  const open = [...neighbours].filter(([, { openedAt, closedAt }]) => {
    return closedAt === null ? openedAt <= last.at : openedAt <= last.at && closedAt > last.at
  })
  return { salt, last, surroundings: { neighbours: new Map(open), sightings } }
}

/** The turns of agents that were open for some of the time. */
function turnsBetween(
  { sightings }: Surroundings,
  { last, now }: Pick<Reporting, 'last' | 'now'>,
): readonly string[] {
  return [...(sightings?.turns.values() ?? [])]
    .filter(({ openedAt, closedAt, baseline, baselineAt }) => {
      const begunAt = baseline === 'at_start' ? Math.max(openedAt, baselineAt) : openedAt
      return begunAt < now.at && (closedAt === null || closedAt > last.at)
    })
    .map(({ id }) => id)
}

async function contendersIn(
  { witness }: Pick<Context, 'witness'>,
  surroundings: Surroundings,
  place: SnapshotPlace,
): Promise<readonly Contender[]> {
  const open = [...surroundings.neighbours.values()]
  const areas = open.flatMap((attempt) => attempt.areas)
  const packages = new Map(open.length > 1 && namesPackage(areas) ? await witness.packages(place) : [])
  const scopeOf = ({ areas: own, snapshot }: Attempt) =>
    parseScope(own, { prefix: snapshot.prefix, packages })
  return [...contendersOf(surroundings, scopeOf).values()]
}

interface Reporting {
  readonly contenders: readonly Contender[]
  readonly surroundings: Surroundings
  readonly last: TreeBoundary
  readonly now: TakenBoundary
}

/** What hooks told of the time, path by path. */
interface Told {
  /** The paths that edit tools told of, each with who wrote what of it in order: those one after the other together. */
  readonly links: ReadonlyMap<string, readonly Link[]>
  /** Who could write another path then; none where hooks told nothing. */
  readonly linksOf: (step: Pick<RecordedStep, 'path' | 'before' | 'after'>) => readonly Link[]
}

async function reported(
  copies: Context['copies'],
  { contenders, surroundings: { sightings }, last, now }: Reporting,
): Promise<Told> {
  if (sightings === null || copies === undefined) return { links: new Map(), linksOf: () => [] }
  const time = { from: last.at, to: now.at }
  const paths = new Set(
    [...sightings.seen.values()].flatMap(({ edits }) =>
      edits.filter(({ at, from }) => at >= time.from && (from ?? at) <= time.to).map(({ path }) => path),
    ),
  )
  const some = [...paths].slice(0, mostReported)
  const [before, after] =
    some.length === 0
      ? [new Map(), new Map()]
      : await Promise.all([copies.contents(last.place, some), copies.contents(now.place, some)])
  const contents = new Map(
    some.map((path) => {
      const end = after.get(path)
      return [path, { before: before.get(path)?.id, after: end?.id, changedAt: end?.changedAt ?? null }]
    }),
  )
  const stretch = { touched: paths, open: contenders, time }
  return {
    links: new Map(some.map((path) => [path, together(chainIn({ ...stretch, contents }, path))])),
    linksOf: ({ path, before: first, after: last }) =>
      chainIn(
        { ...stretch, contents: new Map([[path, { before: first, after: last, changedAt: null }]]) },
        path,
      ),
  }
}

const mostReported = 500
const mostLinks = 100

/** Of the same makers one after the other; only one link, of all of them, where what stood between is not known. */
function together(links: readonly Link[]): readonly Link[] {
  const joined: Link[] = []
  for (const link of links.filter(({ before, after }) => before === undefined || before !== after)) {
    const last = joined.at(-1)
    const isSame =
      last !== undefined &&
      last.isReport === link.isReport &&
      last.by.length === link.by.length &&
      last.by.every(({ id }, at) => id === link.by[at]?.id)
    if (isSame) joined[joined.length - 1] = { ...last, after: link.after, sure: last.sure && link.sure }
    else joined.push(link)
  }
  const isKnown = joined.every(({ before, after }, at) => {
    const next = joined[at + 1]
    return before !== undefined && after !== undefined && (next === undefined || next.before === after)
  })
  const [first] = joined
  if (first === undefined || (isKnown && joined.length <= mostLinks)) return joined
  const by = new Map(joined.flatMap((link) => link.by.map((one) => [one.id, one])))
  return [
    { before: first.before, after: joined.at(-1)?.after, by: [...by.values()], isReport: true, sure: false },
  ]
}

function contentsOf(links: readonly Link[]): readonly (string | null)[] {
  return [links[0]?.before ?? null, ...links.map(({ after }) => after ?? null)]
}

interface Makers extends Pick<RecordedStep, 'owners' | 'certainty'> {
  readonly turns?: readonly string[]
}

/** Who made a step: attempts; or turns of agents without a task, by what was found of the one that ends. */
function madeBy(
  step: Pick<RecordedStep, 'path' | 'from' | 'link'>,
  {
    turns,
    ended,
    ...told
  }: Parameters<typeof makersOf>[1] & {
    readonly turns: readonly string[]
    readonly ended: TakenBoundary['turn']
  },
): Makers {
  const made = makersOf(step, told)
  const change = ended?.evidence.changes.find(({ path }) => path === step.path)
  if (made.owners.length > 0) return made
  if (made.turns !== undefined && made.turns.length > 0) {
    const isFound = made.turns.length === 1 && made.turns[0] === ended?.id && change?.with === undefined
    return isFound && change !== undefined ? { ...made, certainty: change.attribution } : made
  }
  if (ended !== undefined && change !== undefined) {
    const { attribution, with: rivals = [] } = change
    return { ...made, turns: [ended.id], certainty: rivals.length > 0 ? 'contested' : attribution }
  }
  const others = turns.filter((id) => id !== ended?.id)
  if (others.length === 0 || ended?.evidence.outside.includes(step.path)) return made
  return { ...made, turns: others, certainty: others.length > 1 || ended ? 'contested' : 'probable' }
}

/** Who made a step: by what tools told of its path, else by who was there and their areas. */
function makersOf(
  step: Pick<RecordedStep, 'path' | 'from' | 'link'>,
  {
    links,
    attempts,
    claimant,
  }: {
    readonly links: readonly Link[]
    readonly attempts: readonly Contender[]
    readonly claimant: string | null
  },
): Makers {
  const link = step.link === undefined ? (links.length === 1 ? links[0] : undefined) : links[step.link]
  const able = link?.by ?? [...new Map(links.flatMap(({ by }) => by.map((one) => [one.id, one]))).values()]
  // Nobody of whom hooks told: then it is as if they had told nothing.
  if (able.length === 0) {
    const { owners, certainty } = makersIn(attempts, step, claimant)
    return { owners, certainty: links.length > 0 && certainty === 'certain' ? 'probable' : certainty }
  }
  const owners = able.filter(({ seen }) => seen?.isTurn !== true).map(({ id }) => id)
  const turns = able.filter(({ seen }) => seen?.isTurn === true).map(({ id }) => id)
  if (able.length > 1) return { owners, turns, certainty: 'contested' }
  const isAlone = attempts.length <= 1 && owners.length > 0
  return { owners, turns, certainty: isAlone || link?.sure === true ? 'certain' : 'probable' }
}

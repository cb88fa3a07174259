import { z } from 'zod'
import { isAmong, type Measure, measurement } from '../../kernel/operations/measurement.ts'
import type { QueryContext } from '../../kernel/operations/operation.ts'
import {
  blamed,
  foundFile,
  lineHashes,
  list,
  oid,
  oidOrNull,
  path,
  salt,
} from '../../kernel/operations/shapes.ts'
import type { StoreReader } from '../../store/ports/store.ts'
import {
  alignedLines,
  type BlameInput,
  type CommitOfLines,
  committedLines,
  exactLines,
  isBefore,
  type LineFinding,
  unexplainedHashes,
} from '../domain/blame.ts'
import { LineRecord, lineOf } from '../domain/record.ts'
import { isSolid, type LineStep } from '../domain/step.ts'
import type { BlamedCommit, BlameResult, LineHistoryFile } from '../ports/line-history.ts'

const mostContents = 200

export interface LineLookupRequest {
  readonly path: string
  readonly rev?: string | undefined
  readonly copies?: boolean | undefined
}

/** What is known of a file's lines. */
export interface LineLookupResult {
  readonly file: LineHistoryFile
  /** One for each line. */
  readonly lines: readonly LineFinding[]
  readonly commits: ReadonlyMap<string, BlamedCommit>
  /** What could not be looked at, as sentences. */
  readonly notes: readonly string[]
}

/** What git knows of the lines of a file. */
export const lineMeasurements = {
  file: measurement({
    brief: z.strictObject({ path, rev: z.string().max(300).nullable(), salt, text: z.boolean() }),
    measured: foundFile.extend({ text: list(z.string()).exactOptional() }),
    measure: ({ witness, folder }, { rev, ...wanted }) =>
      witness.history.file({ ...wanted, folder, ...(rev !== null && { rev }) }),
  }),
  blame: measurement({
    brief: z.strictObject({ path, commit: oidOrNull, oid: z.string().max(64), copies: z.boolean() }),
    measured: blamed,
    measure: ({ witness, folder }, wanted) => witness.history.blame({ ...wanted, folder }),
  }),
  /** The hashes of the lines of contents that commits had. */
  contents: measurement({
    brief: z.strictObject({ oids: list(oid, mostContents), salt }),
    measured: list(z.tuple([oid, lineHashes]), mostContents),
    fits: ({ oids }, found) =>
      isAmong(
        found.map(([id]) => id),
        oids,
      ),
    measure: ({ witness, folder }, { oids, salt: begun }) => witness.history.hashes(folder, oids, begun),
  }),
}

type LineLookupContext = Pick<QueryContext, 'store'>
type MeasureLines = Measure<typeof lineMeasurements>

/** Looks up whose each line of a file is: by the record first, by git where the record says nothing. */
export async function findLineOrigins(
  context: LineLookupContext & Partial<Pick<QueryContext, 'edge'>>,
  measure: MeasureLines,
  asked: LineLookupRequest,
): Promise<LineLookupResult> {
  const { store } = context
  const [ofProject, head] = await store.view(async ({ lines, journal }) => [
    await lines.salt(),
    await journal.head(),
  ])
  // The text of a line stays on the machine where it is.
  const text = context.edge === undefined
  const { file } = await measure({
    file: { path: asked.path, rev: asked.rev ?? null, salt: ofProject, text },
  })
  if (file.withoutLines !== undefined) {
    return { file, lines: [], commits: new Map(), notes: [file.withoutLines] }
  }
  const key = JSON.stringify([
    head,
    file.top,
    file.path,
    file.oid,
    file.commit,
    file.head,
    file.stamp,
    asked.copies ?? false,
  ])
  const known = cachedAnswers(store)
  const earlier = known.get(key)
  if (earlier !== undefined) return { ...earlier, file }
  const found = await findOrigins(context, measure, {
    file,
    salt: ofProject,
    copies: asked.copies ?? false,
  })
  known.set(key, found)
  const [oldest] = known.keys()
  if (known.size > mostRemembered && oldest !== undefined) known.delete(oldest)
  return { ...found, file }
}

type LineFindings = Omit<LineLookupResult, 'file'>

const mostRemembered = 50
const answers = new WeakMap<StoreReader, Map<string, LineFindings>>()

function cachedAnswers(store: StoreReader): Map<string, LineFindings> {
  const known = answers.get(store) ?? new Map<string, LineFindings>()
  answers.set(store, known)
  return known
}

interface LineLookupTarget {
  readonly file: LineHistoryFile
  readonly salt: string
  readonly copies: boolean
}

async function findOrigins(
  { store }: LineLookupContext,
  measure: MeasureLines,
  { file, salt: ofProject, copies }: LineLookupTarget,
): Promise<LineFindings> {
  const steps = new StepLoader(store)
  await steps.load([file.path])
  const since = await store.view(({ lines }) => lines.since())
  const isCommitted = file.commit !== null || (file.head !== null && file.oid === file.head.oid)
  let known: BlameInput = { record: steps.record(), since, elsewhere: [] }
  const exact = exactLines(known, file)
  const blamed =
    isCommitted || exact === null || exact.includes(null)
      ? (await measure({ blame: { path: file.path, commit: file.commit, oid: file.oid, copies } })).blame
      : null
  const commits = new Map((blamed?.commits ?? []).map((commit) => [commit.id, commit]))
  const inCommits = committedPlaces(blamed)
  await steps.load([...new Set((blamed?.lines ?? []).map(({ path }) => path))])
  known = { ...known, record: steps.record() }
  const aligned = exact ?? (isCommitted ? null : alignedLines(known, file))
  // What is in a recent commit, or in none, may have been recorded elsewhere.
  const open = (aligned ?? file.hashes.map(() => null)).map((line, at) => {
    const place = inCommits.get(at + 1)
    const commit = place && commits.get(place.commit)
    return line !== null || (commit !== undefined && isBefore(known, commit)) ? (line ?? before) : null
  })
  const marks = since === null ? [] : unexplainedHashes(file.hashes, open)
  if (marks.length > 0) {
    const elsewhere = await store.view(({ lines }) => lines.stepsMarked(marks, mostElsewhere))
    await steps.load([...new Set(elsewhere.map(({ path }) => path))])
    known = { record: steps.record(), since, elsewhere: steps.same(elsewhere) }
  }
  const again = isCommitted ? null : alignedLines(known, file)
  const needed = file.hashes.map((_, at) => {
    const line = exact?.[at] ?? null
    // What is in no commit can be known by nothing else.
    if (line !== null || (exact !== null && inCommits.has(at + 1))) return line
    return again?.[at] ?? null
  })
  const history = { blamed, inCommits, needed, hashes: file.hashes }
  const contents = await missingContents(measure, { known, salt: ofProject, history, commits })
  const byCommit = findingsOf(known, { blamed, commits, contents, file })
  const lines = needed.map((line, at): LineFinding => {
    const place = inCommits.get(at + 1)
    if (line !== null) return place === undefined ? line : { ...line, commit: place.commit }
    return byCommit.get(at + 1) ?? { ...uncommitted, kind: isCommitted ? 'before' : 'uncommitted' }
  })
  const cut = (blamed?.commits ?? []).some(({ isCut, id }) => {
    return isCut && lines.some(({ commit, origin }) => commit === id && origin === null)
  })
  const notes = [
    ...(blamed?.trouble === undefined ? [] : [blamed.trouble]),
    ...(cut ? ['The history is cut off (a shallow clone): older commits may have brought some lines.'] : []),
  ]
  return { lines, commits, notes }
}

const uncommitted = { how: 'git', origin: null, rests: false, commit: null } as const
const before: LineFinding = { ...uncommitted, kind: 'before' }
const mostElsewhere = 50

interface CommittedLocation {
  readonly commit: string
  readonly path: string
  readonly line: number
}

/** Where git says that each line is from, by its number. */
function committedPlaces(blamed: BlameResult | null): ReadonlyMap<number, CommittedLocation> {
  const places = new Map<number, CommittedLocation>()
  for (const { commit, path, line, at, count } of blamed?.lines ?? []) {
    if (commit === null) continue
    for (let more = 0; more < count; more += 1) places.set(at + more, { commit, path, line: line + more })
  }
  return places
}

interface LineLookupNeeds {
  readonly known: BlameInput
  readonly salt: string
  readonly commits: ReadonlyMap<string, BlamedCommit>
  readonly history: {
    readonly blamed: BlameResult | null
    readonly inCommits: ReadonlyMap<number, CommittedLocation>
    readonly needed: readonly (LineFinding | null)[]
    readonly hashes: readonly string[]
  }
}

/** The contents of commits whose lines some recorded state may have, though not the whole content. */
async function missingContents(
  measure: MeasureLines,
  { known, salt: ofProject, commits, history: { blamed, inCommits, needed, hashes } }: LineLookupNeeds,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const oids = new Map((blamed?.contents ?? []).map(([commit, path, oid]) => [`${commit} ${path}`, oid]))
  const wanted = new Set<string>()
  for (const [at, { commit, path: name, line }] of inCommits) {
    const hash = hashes[at - 1] ?? ''
    const made = commits.get(commit)
    if (needed[at - 1] !== null || !isSolid(hash) || !known.record.hasAdded(hash)) continue
    if (made === undefined || isBefore(known, made)) continue
    const content = oids.get(`${commit} ${name}`)
    const state = content === undefined ? null : known.record.stateOf(name, content)
    const isKnown = state !== null && lineOf(state, line)?.origin != null
    if (content !== undefined && !isKnown) wanted.add(content)
  }
  if (wanted.size === 0) return new Map()
  const { contents } = await measure({
    contents: { oids: [...wanted].slice(0, mostContents), salt: ofProject },
  })
  return new Map(contents)
}

function findingsOf(
  known: BlameInput,
  {
    blamed,
    commits,
    contents,
    file,
  }: {
    readonly blamed: BlameResult | null
    readonly commits: ReadonlyMap<string, BlamedCommit>
    readonly contents: ReadonlyMap<string, readonly string[]>
    readonly file: LineHistoryFile
  },
): ReadonlyMap<number, LineFinding> {
  const found = new Map<number, LineFinding>()
  const oids = Map.groupBy(blamed?.contents ?? [], ([commit]) => commit)
  const byCommit = Map.groupBy(blamed?.lines ?? [], ({ commit }) => commit)
  for (const [id, groups] of byCommit) {
    const commit = id === null ? undefined : commits.get(id)
    if (id === null || commit === undefined) continue
    const lines = groups.flatMap(({ path, line, at, count }) =>
      Array.from({ length: count }, (_, more) => ({ commit: id, path, line: line + more, at: at + more })),
    )
    const asked: CommitOfLines = {
      id,
      committedAt: commit.committedAt,
      contents: new Map(
        (oids.get(id) ?? []).map(([, path, oid]) => [path, { oid, hashes: contents.get(oid) ?? null }]),
      ),
    }
    const wanted = new Set(lines.map(({ at }) => file.hashes[at - 1] ?? ''))
    const findings = committedLines(known, asked, { lines, wanted })
    for (const [index, { at }] of lines.entries()) {
      const finding = findings[index]
      if (finding !== undefined) found.set(at, finding)
    }
  }
  return found
}

const mostPaths = 200

/** What is recorded of a file, with the files that renames and moves lead to. */
export async function recordOf(store: StoreReader, path: string): Promise<LineRecord> {
  const steps = new StepLoader(store)
  await steps.load([path])
  return steps.record()
}

/** The steps of the paths that a look-up needs, with those that renames and moves lead to. */
class StepLoader {
  readonly #store: StoreReader
  readonly #steps = new Map<string, LineStep>()
  readonly #loaded = new Set<string>()
  #record: LineRecord | null = null

  constructor(store: StoreReader) {
    this.#store = store
  }

  async load(paths: readonly string[]): Promise<void> {
    let wanted = paths.filter((path) => !this.#loaded.has(path))
    while (wanted.length > 0 && this.#loaded.size < mostPaths) {
      const some = wanted.slice(0, mostPaths)
      for (const path of some) this.#loaded.add(path)
      const steps = await this.#store.view(({ lines }) => lines.stepsOf(some))
      const next = new Set<string>()
      for (const step of steps) {
        const key = `${step.seq} ${step.position}`
        if (this.#steps.has(key)) continue
        this.#steps.set(key, step)
        this.#record = null
        for (const name of [step.path, step.from ?? step.path]) next.add(name)
        for (const [from] of step.moved ?? []) next.add(from)
      }
      wanted = [...next].filter((path) => !this.#loaded.has(path))
    }
  }

  record(): LineRecord {
    this.#record ??= new LineRecord([...this.#steps.values()])
    return this.#record
  }

  /** The same steps, as they are in the record. */
  same(steps: readonly LineStep[]): readonly LineStep[] {
    return steps.map((step) => this.#steps.get(`${step.seq} ${step.position}`) ?? step)
  }
}

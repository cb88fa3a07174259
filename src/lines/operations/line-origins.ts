import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import { setNewest } from '../../kernel/limited-map.ts'
import {
  blamed,
  foundFile,
  lineHashes,
  measuredList,
  names,
  oid,
  oidOrNull,
  path,
  salt,
} from '../../kernel/operations/fields.ts'
import {
  isAmong,
  type Measure,
  measurement,
  requireMeasured,
} from '../../kernel/operations/measurement-protocol.ts'
import type { Reads } from '../../store/ports/store.ts'
import {
  alignedLines,
  type BlameInput,
  broughtLines,
  type CommitOfLines,
  committedLines,
  exactLines,
  isBefore,
  type LineFinding,
  unexplainedHashes,
} from '../domain/blame.ts'
import { isSolid, type LineStep } from '../domain/line-hashes.ts'
import { LineRecord, lineOf } from '../domain/record.ts'
import type { BlamedCommit, BlameResult, LineHistoryFile } from '../ports/line-history.ts'

const maxContents = 20_000

export interface LineLookupRequest {
  readonly files: readonly NamedFile[]
  readonly copies?: boolean | undefined
  /** Whether to return the text of the lines, on the machine that has the file. */
  readonly text?: boolean
  /** A missing file has no lines; otherwise it is refused. */
  readonly mayLack?: boolean
}

export interface NamedFile {
  readonly path: string
  /** A revision as git takes it; the file on disk if absent. */
  readonly rev?: string | undefined
}

/** The origins of a file's lines. */
export interface LineLookupResult {
  readonly file: LineHistoryFile
  /** One for each line. */
  readonly lines: readonly LineFinding[]
  readonly commits: ReadonlyMap<string, BlamedCommit>
  /** What could not be read, as sentences. */
  readonly notes: readonly string[]
}

/** The most files of one look-up. */
export const maxFiles = 20_000

/** Measurements of the lines of files by git. */
export const lineMeasurements = {
  /** A file of a commit comes with git's blame; the file on disk may not need it. */
  files: measurement({
    brief: z.strictObject({
      wanted: measuredList(z.strictObject({ path, rev: z.string().max(300).exactOptional() }), maxFiles),
      copies: z.boolean(),
      salt,
      text: z.boolean(),
      mayLack: z.boolean(),
    }),
    measured: measuredList(
      z
        .strictObject({
          file: foundFile.extend({ text: measuredList(z.string()).exactOptional() }),
          blamed: blamed.nullable(),
        })
        .nullable(),
      maxFiles,
    ),
    fits: ({ wanted }, results) => wanted.length === results.length,
    measure: async ({ witness: { history }, folder }, { wanted, copies, salt, text, mayLack }) =>
      Promise.all(
        wanted.map(async (name) => {
          const file = await history.file({ ...name, salt, text, folder }).catch((error: unknown) => {
            if (mayLack && error instanceof Failure && error.code === 'NOT_FOUND') return null
            throw error
          })
          if (file === null) return null
          const { commit, oid: content } = file
          const isAsked = commit !== null && file.withoutLines === undefined
          const request = { folder, path: file.path, commit, oid: content, copies }
          return { file, blamed: isAsked ? await history.blame(request) : null }
        }),
      ),
  }),
  blame: measurement({
    brief: z.strictObject({ path, commit: oidOrNull, oid: z.string().max(64), copies: z.boolean() }),
    measured: blamed,
    measure: ({ witness, folder }, wanted) => witness.history.blame({ ...wanted, folder }),
  }),
  /** The hashes of the lines of contents that commits had. */
  contents: measurement({
    brief: z.strictObject({ oids: measuredList(oid, maxContents), salt }),
    measured: measuredList(z.tuple([oid, lineHashes]), maxContents),
    fits: ({ oids }, results) =>
      isAmong(
        results.map(([id]) => id),
        oids,
      ),
    measure: ({ witness, folder }, { oids, salt }) => witness.history.hashes(folder, oids, salt),
  }),
}

/** Commits and their files, for further look-ups. */
export const historyMeasurements = {
  commits: measurement({
    brief: z.strictObject({ range: z.string().max(1_000), limit: z.int().min(1).max(20_001) }),
    measured: measuredList(z.strictObject({ id: oid, committedAt: z.number(), paths: names }), 20_001),
    measure: ({ witness, folder }, { range, limit }) => witness.history.commits(folder, range, limit),
  }),
  listed: measurement({
    brief: z.strictObject({ rev: z.string().max(300), under: z.string().max(4_096).nullable() }),
    measured: z.strictObject({
      commit: oid,
      files: measuredList(
        z.strictObject({ path: z.string(), bytes: z.int().min(0), generated: z.boolean() }),
      ),
    }),
    measure: ({ witness, folder }, { rev, under }) => witness.history.files(folder, rev, under),
  }),
}

type MeasureLines = Measure<typeof lineMeasurements>

/** Finds the origin of each line of some files: by the record first, then by git. */
export async function findLineOrigins(
  reads: Reads,
  measure: MeasureLines,
  { files: requested, copies = false, text = false, mayLack = false }: LineLookupRequest,
): Promise<readonly LineLookupResult[]> {
  const [ofProject, head] = [await reads.lines.salt(), await reads.eventLog.head()]
  const wanted = requested.map(({ path: name, rev }) => ({ path: name, ...(rev !== undefined && { rev }) }))
  const brief = { wanted, copies, salt: ofProject, text, mayLack }
  const measured = (await measure({ files: brief })).files
  const files = measured.filter((one) => one !== null)
  const lookups = files.map(({ file }) => {
    const { top, path: name, oid: content, commit, stamp } = file
    const key = JSON.stringify([ofProject, head, top, name, content, commit, file.head, stamp, copies])
    return { key, earlier: answers.get(key) }
  })
  const open: LineLookup[] = []
  for (const [at, { file, blamed }] of files.entries()) {
    if (lookups[at]?.earlier !== undefined || file.withoutLines !== undefined) continue
    open.push(await beginLookup(reads, { file, blamed, at }))
  }
  const [alone] = open
  // A single file on disk with lines that the record does not have.
  if (alone?.needsBlame) {
    const { path: name, commit, oid: content } = alone.file
    alone.blamed = (await measure({ blame: { path: name, commit, oid: content, copies } })).blame
  }
  for (const lookup of open) await readCommitted(reads, lookup)
  const contents = await missingContents(measure, open, ofProject)
  const findingsByIndex = new Map(open.map((lookup) => [lookup.at, findingsOfLookup(lookup, contents)]))
  return files.map(({ file }, at) => {
    if (file.withoutLines !== undefined)
      return { file, lines: [], commits: new Map(), notes: [file.withoutLines] }
    const { key = '', earlier } = lookups[at] ?? {}
    const findings = earlier ?? requireMeasured(findingsByIndex.get(at))
    if (earlier === undefined) rememberFindings(key, findings)
    return { ...findings, file }
  })
}

type LineFindings = Omit<LineLookupResult, 'file'>

const maxRemembered = 50
const answers = new Map<string, LineFindings>()

/** Empties the cache of findings. */
export function forgetFindings(): void {
  answers.clear()
}

function rememberFindings(key: string, findings: LineFindings): void {
  setNewest(answers, maxRemembered, key, findings)
}

/** A file whose lines are looked up, with the findings so far. */
interface LineLookup {
  readonly at: number
  readonly file: LineHistoryFile
  readonly steps: StepLoader
  readonly since: number | null
  readonly isCommitted: boolean
  readonly exact: readonly (LineFinding | null)[] | null
  readonly needsBlame: boolean
  blamed: BlameResult | null
  /** The recorded steps; the commit of each line by git; and the findings before git's are used. */
  input: BlameInput
  commits: ReadonlyMap<string, BlamedCommit>
  inCommits: ReadonlyMap<number, CommittedLocation>
  needed: readonly (LineFinding | null)[]
}

async function beginLookup(
  { lines }: Reads,
  { file, blamed, at }: Pick<LineLookup, 'file' | 'blamed' | 'at'>,
): Promise<LineLookup> {
  const steps = new StepLoader(lines)
  await steps.load([file.path])
  const since = await lines.since()
  const isCommitted = file.commit !== null || (file.head !== null && file.oid === file.head.oid)
  const input: BlameInput = { record: steps.record(), since, elsewhere: [] }
  const exact = exactLines(input, file)
  const needsBlame = blamed === null && (isCommitted || exact === null || exact.includes(null))
  const rest = { commits: new Map(), inCommits: new Map(), needed: [] }
  return { at, file, steps, since, isCommitted, exact, needsBlame, blamed, input, ...rest }
}

/** Reads the record of the commits that git's blame names. */
async function readCommitted({ lines }: Reads, lookup: LineLookup): Promise<void> {
  const { file, steps, since, isCommitted, exact, blamed } = lookup
  const commits = new Map((blamed?.commits ?? []).map((commit) => [commit.id, commit]))
  const inCommits = committedPlaces(blamed)
  await steps.load([...new Set((blamed?.lines ?? []).map((line) => line.path))])
  let input: BlameInput = { ...lookup.input, record: steps.record() }
  const aligned = exact ?? (isCommitted ? null : alignedLines(input, file))
  // A line of a recent commit, or of none, may be recorded in another file.
  const open = (aligned ?? file.hashes.map(() => null)).map((line, at) => {
    const committed = inCommits.get(at + 1)
    const commit = committed && commits.get(committed.commit)
    return line !== null || (commit !== undefined && isBefore(input, commit)) ? (line ?? before) : null
  })
  const marks = since === null ? [] : unexplainedHashes(file.hashes, open)
  if (marks.length > 0) {
    const elsewhere = await lines.stepsMarked(marks, maxElsewhere)
    await steps.load([...new Set(elsewhere.map((step) => step.path))])
    input = { record: steps.record(), since, elsewhere: steps.same(elsewhere) }
  }
  const again = isCommitted ? null : alignedLines(input, file)
  const needed = file.hashes.map((_, at) => {
    const line = exact?.[at] ?? null
    // A line without a commit has no other source.
    if (line !== null || (exact !== null && inCommits.has(at + 1))) return line
    return again?.[at] ?? null
  })
  Object.assign(lookup, { input, commits, inCommits, needed })
}

function findingsOfLookup(
  lookup: LineLookup,
  contents: ReadonlyMap<string, readonly string[]>,
): LineFindings {
  const { needed, inCommits, isCommitted, blamed, commits } = lookup
  const byCommit = findingsOf(lookup, contents)
  const broughtByLine = broughtLines(lookup.input, lookup.file)
  const lines = needed.map((line, at): LineFinding => {
    const committed = inCommits.get(at + 1)
    const brought = broughtByLine.get(at + 1)
    const found = line ??
      byCommit.get(at + 1) ?? { ...uncommitted, kind: isCommitted ? 'before' : 'uncommitted' }
    const commit = line === null ? found.commit : (committed?.commit ?? line.commit)
    return { ...found, commit, ...(brought && { brought }) }
  })
  const cut = (blamed?.commits ?? []).some(({ isCut, id }) => {
    return isCut && lines.some(({ commit, origin }) => commit === id && origin === null)
  })
  const notes = [
    ...(blamed?.error === undefined ? [] : [blamed.error]),
    ...(cut ? ['The clone is shallow: some lines may come from older commits.'] : []),
  ]
  return { lines, commits, notes }
}

const uncommitted = { how: 'git', origin: null, rests: false, commit: null } as const
const before: LineFinding = { ...uncommitted, kind: 'before' }
const maxElsewhere = 50

interface CommittedLocation {
  readonly commit: string
  readonly path: string
  readonly line: number
}

/** The commit and line that git's blame gives for each line, by its number. */
function committedPlaces(blamed: BlameResult | null): ReadonlyMap<number, CommittedLocation> {
  const places = new Map<number, CommittedLocation>()
  for (const { commit, path: name, line, currentLine, count } of blamed?.lines ?? []) {
    if (commit === null) continue
    for (let more = 0; more < count; more += 1)
      places.set(currentLine + more, { commit, path: name, line: line + more })
  }
  return places
}

/** Reads contents of commits that are not recorded whole but may share lines with recorded states. */
async function missingContents(
  measure: MeasureLines,
  lookups: readonly LineLookup[],
  ofProject: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const wanted = new Set(lookups.flatMap((lookup) => [...missingContentsOf(lookup)].slice(0, maxOfFile)))
  if (wanted.size === 0) return new Map()
  const { contents } = await measure({
    contents: { oids: [...wanted].slice(0, maxContents), salt: ofProject },
  })
  return new Map(contents)
}

const maxOfFile = 200

function missingContentsOf({
  input,
  commits,
  blamed,
  inCommits,
  needed,
  file: { hashes },
}: LineLookup): ReadonlySet<string> {
  const oids = new Map((blamed?.contents ?? []).map(([commit, name, id]) => [`${commit} ${name}`, id]))
  const wanted = new Set<string>()
  for (const [at, { commit, path: name, line }] of inCommits) {
    const hash = hashes[at - 1] ?? ''
    const commitEntry = commits.get(commit)
    if (needed[at - 1] !== null || !isSolid(hash) || !input.record.hasAdded(hash)) continue
    if (commitEntry === undefined || isBefore(input, commitEntry)) continue
    const content = oids.get(`${commit} ${name}`)
    const state = content === undefined ? null : input.record.stateOf(name, content)
    const isKnown = state !== null && lineOf(state, line)?.origin != null
    if (content !== undefined && !isKnown) wanted.add(content)
  }
  return wanted
}

function findingsOf(
  { input, blamed, commits, file }: LineLookup,
  contents: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<number, LineFinding> {
  const findings = new Map<number, LineFinding>()
  const oids = Map.groupBy(blamed?.contents ?? [], ([commit]) => commit)
  const byCommit = Map.groupBy(blamed?.lines ?? [], ({ commit }) => commit)
  for (const [id, groups] of byCommit) {
    const commit = id === null ? undefined : commits.get(id)
    if (id === null || commit === undefined) continue
    const lines = groups.flatMap(({ path: name, line, currentLine, count }) =>
      Array.from({ length: count }, (_, more) => ({
        commit: id,
        path: name,
        line: line + more,
        currentLine: currentLine + more,
      })),
    )
    const commitOfLines: CommitOfLines = {
      id,
      committedAt: commit.committedAt,
      contents: new Map(
        (oids.get(id) ?? []).map(([, name, content]) => [
          name,
          { oid: content, hashes: contents.get(content) ?? null },
        ]),
      ),
    }
    const wanted = new Set(lines.map(({ currentLine }) => file.hashes[currentLine - 1] ?? ''))
    const ofCommit = committedLines(input, commitOfLines, { lines, wanted })
    for (const [index, { currentLine }] of lines.entries()) {
      const finding = ofCommit[index]
      if (finding !== undefined) findings.set(currentLine, finding)
    }
  }
  return findings
}

const maxPaths = 200

/** The record of files, with the files that renames and moves lead to. */
export async function recordOf({ lines }: Reads, ...names: readonly string[]): Promise<LineRecord> {
  const steps = new StepLoader(lines)
  await steps.load(names)
  return steps.record()
}

/** The steps of the paths that a look-up needs, with those that renames and moves lead to. */
class StepLoader {
  readonly #lines: Reads['lines']
  readonly #steps = new Map<string, LineStep>()
  readonly #loaded = new Set<string>()
  #record: LineRecord | null = null

  constructor(lines: Reads['lines']) {
    this.#lines = lines
  }

  async load(paths: readonly string[]): Promise<void> {
    let wanted = paths.filter((name) => !this.#loaded.has(name))
    while (wanted.length > 0 && this.#loaded.size < maxPaths) {
      const some = wanted.slice(0, maxPaths)
      for (const name of some) this.#loaded.add(name)
      const steps = await this.#lines.stepsOf(some)
      const next = new Set<string>()
      for (const step of steps) {
        const key = `${step.seq} ${step.position}`
        if (this.#steps.has(key)) continue
        this.#steps.set(key, step)
        this.#record = null
        for (const name of [step.path, step.from ?? step.path]) next.add(name)
        for (const [from] of step.moved ?? []) next.add(from)
      }
      wanted = [...next].filter((name) => !this.#loaded.has(name))
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

import { expect } from 'vitest'
import type { AttemptMeasurement } from '../../src/events/domain/project-event.ts'
import type { Snapshot, WorkTreeWitness } from '../../src/git/ports/work-tree.ts'
import { createWitness } from '../../src/git/witness.ts'
import type { AttemptId, CaptureSessionId, TaskId, TurnId } from '../../src/kernel/id.ts'
import type { Turn } from '../../src/sessions/domain/session.ts'
import type { WorkTreeEvidence } from '../../src/sessions/operations/hook-evidence.ts'
import type { ChangeReport, FileChange } from '../../src/track/domain/changes.ts'
import type { CandidateEvidence } from '../../src/track/domain/hook-evidence.ts'
import type { SnapshotLocation } from '../../src/track/domain/task.ts'
import { judgeReport } from '../../src/track/operations/judge-report.ts'
import {
  attributionIntervals,
  boundsOf,
  type MeasuredSpan,
  measuredSpans,
  reportedPathsOf,
  reportedPathsUntil,
  type WorkTreeActivity,
} from '../../src/track/operations/work-tree-activity.ts'
import { anAttempt } from '../support/entities.ts'
import { temporaryFolder, type WorkFolder } from '../support/git-repository.ts'
import { whenFinished } from '../support/shared.ts'
import { confinedWitness, isThroughMachine } from '../support/through-machine.ts'

export interface Watched {
  readonly witness: WorkTreeWitness
  readonly report: ChangeReport
  /** The report as the table of cases writes it. */
  readonly changes: readonly string[]
  readonly start: Snapshot
  readonly end: Snapshot
}

/** The times between the snapshots of others, as they are measured. */
async function measuredIntervals(
  witness: WorkTreeWitness,
  around: WorkTreeActivity,
  { paths, ...span }: MeasuredSpan & { readonly paths: readonly string[] },
) {
  const spans = boundsOf(around, span).map(({ from, to }) => ({ from: from.place, to: to.place }))
  const reported = around.hookEvidence && reportedPathsUntil(around.hookEvidence, span.end.at)
  return attributionIntervals(
    around,
    span,
    await measuredSpans({ witness }, { spans, reported, paths }),
    paths,
  )
}

/** A witness whose git sees no settings of this machine. */
export function testWitness(environment: NodeJS.ProcessEnv = {}): WorkTreeWitness {
  const home = temporaryFolder()
  const stateFolder = temporaryFolder()
  const witness = createWitness({
    stateFolder,
    clock: { now: () => Date.now() },
    environment: { ...process.env, HOME: home, XDG_CONFIG_HOME: home, ...environment },
  })
  // What it still writes goes with its folder.
  whenFinished(() => witness.settle())
  return isThroughMachine() ? confinedWitness(witness, stateFolder) : witness
}

/** What the witness reports of work done in a folder. */
export async function watch(
  folder: WorkFolder | string,
  work: () => void | Promise<void>,
  witness: WorkTreeWitness = testWitness(),
): Promise<Watched> {
  const project = typeof folder === 'string' ? folder : folder.top
  await makeKnown(witness, project)
  const start = await witness.snapshot({ folder: project, name: 'start' })
  await witness.settle()
  await work()
  const { engine, top } = start.ref
  const end = await witness.snapshot({ folder: project, name: 'end', engine, top })
  const report = await witness.changes(start.ref, end.ref)
  await besideAnIdleAttempt(witness, report, { start, end })
  await whileCaptured(witness, report, { start, end })
  await witness.settle()
  return { witness, report, changes: brief(report), start, end }
}

/** Lets a witness find a folder's repository twice, so that it knows also an unusual one, as a server does. */
export async function makeKnown(witness: WorkTreeWitness, folder: string): Promise<void> {
  for (let round = 0; round < 2; round += 1) await witness.locate(folder).catch(() => undefined)
}

/** The same work with a second attempt open in the tree that did nothing: the attempt's report has the same changes. */
async function besideAnIdleAttempt(
  witness: WorkTreeWitness,
  report: ChangeReport,
  { start, end }: Pick<Watched, 'start' | 'end'>,
): Promise<void> {
  const own = {
    ...anAttempt(),
    id: 'a-own' as AttemptId,
    snapshot: start.ref,
    openedAt: 2,
    above: [],
    until: 4,
  }
  const idle = { ...own, id: 'a-idle' as AttemptId, taskId: 't-idle' as TaskId, openedAt: 1 }
  const neighbors = new Map([own, idle].map((attempt) => [attempt.id as string, attempt]))
  const there = { neighbors, hookEvidence: null, writes: [] }
  const intervals = await measuredIntervals(witness, there, {
    owner: own,
    start: { at: own.openedAt, place: start.ref },
    end: { at: 3, place: end.ref },
    paths: reportedPathsOf(report),
  })
  const around = { ...there, intervals, packages: new Map() }
  const claims = { outcome: { summary: '', achievements: [] }, areas: [] }
  const evidence = judgeReport(own, report, around, { claims, endSnapshot: end.ref })
  const bare = { scope: undefined, attribution: undefined, with: undefined }
  expect(evidence.changes.map((change) => ({ ...change, ...bare }))).toEqual(report.changes)
  expect(evidence.contested).toBeUndefined()
  const doubtful = report.status === 'exact' && report.changes.length > 0
  expect(evidence.measurement).toBe(doubtful ? 'partial' : report.status)
}

/**
 * The same work by an agent whose client is captured: with what its hooks tell, and where they tell of nothing. Files,
 * counts and scope are those without capture; nothing is less certain that was told of, and the rest is said to be unseen.
 */
async function whileCaptured(
  witness: WorkTreeWitness,
  report: ChangeReport,
  { start, end }: Pick<Watched, 'start' | 'end'>,
): Promise<void> {
  const own = {
    ...anAttempt(),
    id: 'a-own' as AttemptId,
    areas: ['lib'],
    snapshot: start.ref,
    openedAt: 1,
    above: [],
    until: 4,
  }
  const neighbors = new Map([[own.id as string, own]])
  const turn = aTurn(start.ref)
  const paths = reportedPathsOf(report)
  const measured = async (seen: Pick<CandidateEvidence, 'edits' | 'windows'> | null) => {
    const told = { isTurn: false, isComplete: true, edits: [], windows: [], ...seen }
    const hookEvidence: WorkTreeEvidence | null = seen && {
      turns: new Map([[turn.id, turn]]),
      seen: new Map<string, CandidateEvidence>([
        [own.id, told],
        [turn.id, { isTurn: true, isComplete: true, edits: [], windows: [] }],
      ]),
      above: new Map<string, readonly string[]>([
        [own.id, [turn.id]],
        [turn.id, []],
      ]),
    }
    const there = { neighbors, hookEvidence, writes: [] }
    const intervals = await measuredIntervals(witness, there, {
      owner: own,
      start: { at: 1, place: start.ref },
      end: { at: 3, place: end.ref },
      paths,
    })
    const around = { ...there, intervals, packages: new Map() }
    const claims = { outcome: { summary: '', achievements: [] }, areas: [] }
    return judgeReport(own, report, around, { claims, endSnapshot: end.ref })
  }
  const edits = paths.map((path) => ({
    path,
    call: null,
    tool: 'Edit',
    from: 2,
    reportedAt: 2,
    explained: true,
    ended: true,
  }))
  const off = await measured(null)
  const reported = await measured({ edits, windows: [] })
  const inShell = await measured({ edits: [], windows: [{ from: 2, to: 2 }] })
  const suppressed = await measured({ edits: [], windows: [] })
  const bare = { attribution: undefined, unseen: undefined }
  const files = ({ changes }: AttemptMeasurement) => changes.map((change) => ({ ...change, ...bare }))
  for (const one of [reported, inShell, suppressed]) {
    expect(files(one)).toEqual(files(off))
    expect([one.scope, one.ignored, one.contested]).toEqual([off.scope, off.ignored, off.contested])
  }
  for (const one of [reported, inShell]) {
    expect(one.changes).toEqual(off.changes)
    expect(one.measurement).toBe(off.measurement)
  }
  for (const change of suppressed.changes)
    expect(change).toMatchObject({ attribution: 'probable', unseen: true })
}

function aTurn(snapshot: SnapshotLocation): Turn {
  return {
    id: 'tn-one' as TurnId,
    sessionId: 'cs-one' as CaptureSessionId,
    number: 1,
    clientTurn: null,
    agent: null,
    parentId: null,
    client: 'claude-code',
    model: null,
    prompt: null,
    top: snapshot.top,
    snapshot,
    baseline: 'at_start',
    baselineAt: 1,
    status: 'open',
    endSnapshot: null,
    openedAt: 1,
    closedAt: null,
  }
}

/** `M a`, `A b`, `D c`, `R d>e`, `T f`; then where it came from, unless from the task; then `?` if uncertain. */
export function brief(report: ChangeReport): string[] {
  return report.changes.map((change) => {
    const name = change.from === undefined ? change.path : `${change.from}>${change.path}`
    const origin = change.origin === 'task' ? '' : ` (${change.origin})`
    return `${letter(change)} ${name}${origin}${change.uncertain === undefined ? '' : ' ?'}`
  })
}

const letters = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R' }

function letter({ change, typeChanged }: FileChange): string {
  return change === 'modified' && typeChanged ? 'T' : letters[change]
}

import { expect } from 'vitest'
import type { AttemptId, TaskId } from '../../src/domain/id.ts'
import type { ChangeReport, FileChange } from '../../src/domain/track/changes.ts'
import { createWitness } from '../../src/git/witness.ts'
import { judge, neighbourhood } from '../../src/operations/task/measure.ts'
import type { Snapshot, WorkTreeWitness } from '../../src/ports/work-tree.ts'
import { anAttempt } from '../support/entities.ts'
import { temporaryFolder, type WorkFolder } from '../support/git-repository.ts'
import { isThroughEdge, witnessThroughEdge } from '../support/through-edge.ts'

export interface Watched {
  readonly witness: WorkTreeWitness
  readonly report: ChangeReport
  /** The report as the table of cases writes it. */
  readonly changes: readonly string[]
  readonly start: Snapshot
  readonly end: Snapshot
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
  return isThroughEdge() ? witnessThroughEdge(witness, stateFolder) : witness
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
  await witness.settle()
  return { witness, report, changes: brief(report), start, end }
}

/** Lets a witness find a folder's repository twice, as a server has: the third time it need not ask git. */
export async function makeKnown(witness: WorkTreeWitness, folder: string): Promise<void> {
  for (let round = 0; round < 2; round += 1) await witness.locate(folder).catch(() => undefined)
}

/** The same work with a second attempt open in the tree that did nothing: the attempt's report has the same changes. */
async function besideAnIdleAttempt(
  witness: WorkTreeWitness,
  report: ChangeReport,
  { start, end }: Pick<Watched, 'start' | 'end'>,
): Promise<void> {
  const own = { ...anAttempt(), id: 'a-own' as AttemptId, snapshot: start.ref, openedAt: 2, above: [] }
  const idle = { ...own, id: 'a-idle' as AttemptId, taskId: 't-idle' as TaskId, openedAt: 1 }
  const neighbours = new Map([own, idle].map((attempt) => [attempt.id as string, attempt]))
  const stretches = await neighbourhood(witness, own, neighbours, { at: 3, place: end.ref })
  const around = { neighbours, stretches, packages: new Map() }
  const claims = { outcome: { summary: '', achievements: [] }, areas: [] }
  const evidence = judge(own, report, around, { claims, endSnapshot: end.ref })
  const bare = { scope: undefined, attribution: undefined, with: undefined }
  expect(evidence.changes.map((change) => ({ ...change, ...bare }))).toEqual(report.changes)
  expect(evidence.contested).toBeUndefined()
  const doubtful = report.status === 'verified' && report.changes.length > 0
  expect(evidence.verification).toBe(doubtful ? 'partial' : report.status)
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

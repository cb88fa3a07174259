import type { ChangeReport, FileChange } from '../../src/domain/track/changes.ts'
import { createWitness } from '../../src/git/witness.ts'
import type { Snapshot, WorkTreeWitness } from '../../src/ports/work-tree.ts'
import { temporaryFolder, type WorkFolder } from '../support/git-repository.ts'

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
  return createWitness({
    stateFolder: temporaryFolder(),
    clock: { now: () => Date.now() },
    environment: { ...process.env, HOME: home, XDG_CONFIG_HOME: home, ...environment },
  })
}

/** What the witness reports of work done in a folder. */
export async function watch(
  folder: WorkFolder | string,
  work: () => void | Promise<void>,
  witness: WorkTreeWitness = testWitness(),
): Promise<Watched> {
  const project = typeof folder === 'string' ? folder : folder.top
  const start = await witness.snapshot({ folder: project, name: 'start' })
  await witness.settle()
  await work()
  const { engine, top } = start.ref
  const end = await witness.snapshot({ folder: project, name: 'end', engine, top })
  const report = await witness.changes(start.ref, end.ref)
  await witness.settle()
  return { witness, report, changes: brief(report), start, end }
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

import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import type { Handling } from '../context.ts'
import { defineOperation } from '../operation.ts'

interface Check {
  readonly check: string
  readonly ok: boolean
  readonly finding: string
}

export const doctor = defineOperation({
  name: 'doctor',
  command: 'doctor',
  toolset: 'track',
  audience: 'both',
  title: 'Check the installation and the record',
  description: 'Checks Node, git, the database and the hash chain of the journal, and says what to mend.',
  kind: 'query',
  input: z.strictObject({}),
  output: z.looseObject({
    healthy: z.boolean(),
    checks: z.array(z.looseObject({ check: z.string(), ok: z.boolean(), finding: z.string() })),
  }),
}).handler(async (handling) => {
  const checks = [
    programCheck(handling),
    await attempted('witness', () => witnessCheck(handling)),
    await attempted('database', () => databaseCheck(handling)),
    await attempted('journal', () => journalCheck(handling)),
  ]
  return { healthy: checks.every(({ ok }) => ok), checks: checks.map((check) => ({ ...check })) }
})

/** A check that fails is a finding, not the end of the others. */
async function attempted(check: string, run: () => Promise<Check>): Promise<Check> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { check, ok: false, finding: [error.message, error.hint].filter(Boolean).join(' ') }
  }
}

function programCheck({ program }: Handling): Check {
  const finding = `waymark ${program.version} on Node ${program.node}, ${program.platform}; snapshots in ${program.stateFolder}`
  return { check: 'program', ok: true, finding }
}

async function witnessCheck({ witness, folder }: Handling): Promise<Check> {
  const place = await witness.locate(folder)
  if (place.reason !== undefined) {
    return { check: 'witness', ok: false, finding: `${place.reason} Changes are measured by checksums.` }
  }
  return { check: 'witness', ok: true, finding: `${place.engine} in ${place.top}` }
}

async function databaseCheck({ store }: Handling): Promise<Check> {
  const health = await store.health()
  if (!health.exists) {
    return { check: 'database', ok: true, finding: `${health.location} will be made at the first write` }
  }
  const state = `${health.location}, journal mode ${health.journalMode}, schema ${health.schemaVersion}`
  return {
    check: 'database',
    ok: health.warnings.length === 0,
    finding: [state, ...health.warnings].join('. '),
  }
}

async function journalCheck({ store }: Handling): Promise<Check> {
  const chain = await store.view(({ journal }) => journal.verify())
  if (chain.brokenAt === null) {
    return { check: 'journal', ok: true, finding: `${chain.facts} facts, the hash chain holds` }
  }
  const finding = `The hash chain breaks at fact ${chain.brokenAt}: it, or one before it, was changed outside Waymark.`
  return { check: 'journal', ok: false, finding }
}

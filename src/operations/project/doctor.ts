import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import type { Handling } from '../context.ts'
import { defineOperation } from '../operation.ts'
import { type Check, chainFindings, recordFindings } from './record-findings.ts'

export const doctor = defineOperation({
  name: 'doctor',
  command: 'doctor',
  toolset: 'track',
  audience: 'both',
  title: 'Check the installation and the record',
  description:
    'Checks Node, git and the record: the database file, the chain of hashes, and every table beside what the facts make.',
  kind: 'query',
  input: z.strictObject({
    full: z.boolean().describe('Apply every fact again, instead of going on from the last check').optional(),
    chain: z.boolean().describe('Check the chain of hashes and the anchor alone').optional(),
  }),
  output: z.looseObject({
    healthy: z.boolean(),
    checks: z.array(z.looseObject({ check: z.string(), ok: z.boolean(), finding: z.string() })),
  }),
}).handler(async (handling, { full = false, chain = false }) => {
  const { store } = handling
  const checks = chain
    ? await recordChecks(async () => chainFindings(await store.inspectChain()))
    : [
        programCheck(handling),
        await attempted('witness', () => witnessCheck(handling)),
        await attempted('database', () => databaseCheck(handling)),
        ...(await recordChecks(async () => recordFindings(await store.inspect({ full })))),
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

/** What cannot be looked at is a finding too. */
async function recordChecks(look: () => Promise<readonly Check[]>): Promise<readonly Check[]> {
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return [{ check: 'journal', ok: false, finding: [error.message, error.hint].filter(Boolean).join(' ') }]
  }
}

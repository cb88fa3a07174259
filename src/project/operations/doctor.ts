import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import { words } from '../../kernel/operations/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { workTreePlace } from '../../kernel/operations/local-work-tree.ts'
import { measurement, requireMeasured, type WorkTree } from '../../kernel/operations/measurement-protocol.ts'
import { type CommandContext, defineOperation, type QueryContext } from '../../kernel/operations/operation.ts'
import { formatCount } from '../../kernel/text.ts'
import type { ChainInspection, Inspection, StoreHealth } from '../../store/ports/store.ts'

/** The result of one check. */
export const Check = z.object({ check: z.string(), ok: z.boolean(), finding: z.string() })
export type Check = z.output<typeof Check>

const witnessFinding = measurement({
  brief: z.strictObject({}),
  measured: z.strictObject({ check: z.string().max(20), ok: z.boolean(), finding: words }),
  measure: (workTree) => attemptCheck('measurement', () => witnessCheck(workTree)),
})

async function witnessCheck(workTree: WorkTree): Promise<Check> {
  const place = await workTreePlace.measure(workTree, {}, {})
  if (place === null)
    return { check: 'measurement', ok: true, finding: 'The work trees are on the machines of the agents' }
  if (place.reason !== undefined) {
    return { check: 'measurement', ok: true, finding: `${place.reason} Changes are measured by checksums.` }
  }
  return { check: 'measurement', ok: true, finding: `${place.engine} in ${place.top}` }
}

export const doctor = defineOperation({
  name: 'doctor',
  command: 'doctor',
  toolset: 'track',
  audience: 'both',
  title: 'Check the installation and the record',
  description:
    'Check Node, git and the record: the database file, the hash chain, and every table against the log.',
  kind: 'query',
  input: z.strictObject({
    chain: z.boolean().describe('Check only the hash chain and the end of the log').optional(),
  }),
  output: z.object({ healthy: z.boolean(), checks: list(Check) }),
})
  .measure({ witness: witnessFinding })
  .handler(
    ({ chain = false }) => (chain ? {} : { witness: {} }),
    async (context, { chain = false }, { witness }) => {
      const { store } = context
      const checks = chain
        ? await recordChecks(async () => chainFindings(await store.inspectChain()))
        : [
            programCheck(context),
            requireMeasured(witness),
            await attemptCheck('database', () => databaseCheck(context)),
            ...(await clientChecks(context)),
            ...captureChecks(context),
            ...(await silentSessions(context)),
            ...(await recordChecks(async () => recordFindings(await store.inspect()))),
          ]
      return { healthy: checks.every(({ ok }) => ok), checks }
    },
  )

/** A failed check is a finding; the others continue. */
async function attemptCheck(check: string, run: () => Promise<Check>): Promise<Check> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { check, ok: false, finding: [error.message, error.hint].filter(Boolean).join(' ') }
  }
}

function programCheck({ program, machine }: QueryContext): Check {
  const where = machine === undefined ? `; snapshots in ${program.stateFolder}` : ', on the server'
  const finding = `waymark ${program.version} on Node ${program.node}, ${program.platform}${where}`
  return { check: 'program', ok: true, finding }
}

async function databaseCheck({ store, team }: QueryContext): Promise<Check> {
  const health = await store.health()
  const isUnused = health.seq === 0 && health.warnings.length === 0
  const server = isUnused && team?.owner === null ? team.store : null
  const ofServer = (await server?.health()) ?? health
  if (!ofServer.exists) {
    return { check: 'database', ok: true, finding: `${health.location} will be created at the first write` }
  }
  if (server === null) return databaseFinding(health)
  const projects = await server.view(({ identities }) => identities.projects())
  const { finding, ...check } = databaseFinding(ofServer)
  const has = `It has ${formatCount(projects.length, 'project')}`
  return {
    ...check,
    finding: `${finding}. ${has}. This folder is none of them: its first write creates a project`,
  }
}

function databaseFinding(health: StoreHealth): Check {
  const mode = health.journalMode === null ? '' : `, journal mode ${health.journalMode}`
  const ended = health.ended === null ? [] : [health.ended]
  const state = `${health.location}${mode}, schema ${health.schemaVersion}`
  return {
    check: 'database',
    ok: health.warnings.length === 0,
    finding: [`${state}.`, ...ended, ...health.warnings].join(' ').replace(/\.$/, ''),
  }
}

/** A line for each client that is set up, or used here. */
async function clientChecks({ clients }: QueryContext): Promise<readonly Check[]> {
  const found = (await clients?.()) ?? []
  return found.map(({ client, ok, finding }) => ({ check: `client ${client}`, ok, finding }))
}

/** A check that cannot run is a finding too. */
async function recordChecks(look: () => Promise<readonly Check[]>): Promise<readonly Check[]> {
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return [{ check: 'log', ok: false, finding: [error.message, error.hint].filter(Boolean).join(' ') }]
  }
}

/** Reports nothing if capture was never turned on. */
export function captureChecks({ captureHealth }: Pick<CommandContext, 'captureHealth'>): readonly Check[] {
  const health = captureHealth?.() ?? null
  if (health === null) return []
  const { settings, waiting, bytes, failures, lastFailure, log } = health
  const state = settings.on ? 'on' : 'off'
  const queue = `${formatCount(waiting, 'event')} in the hook queue, ${Math.ceil(bytes / 1024)} kB`
  // One failure leaves a gap; a long queue means that nothing ingests the events.
  const isLate = waiting > lateEvents
  const remarks = [
    ...(failures > 0 ? [`${formatCount(failures, 'failure')} in ${log}, the last: ${lastFailure}`] : []),
    ...(isLate
      ? ['They are not recorded yet. `waymark sessions` records them now, or says why it cannot.']
      : []),
  ]
  return [
    {
      check: 'capture',
      ok: failures === 0 && !isLate,
      finding: [`${state}; ${queue}.`, ...remarks].join(' '),
    },
  ]
}
const lateEvents = 2000

/**
 * Sessions whose files changed although hooks reported no edit. This may be normal: a person may have edited them.
 */
async function silentSessions({ store }: QueryContext): Promise<readonly Check[]> {
  try {
    const silent = await store.view(({ capture }) => capture.silentSessions())
    if (silent.length === 0) return []
    const named = silent.map(({ id, client }) => `${id} of ${client}`).join(', ')
    const turns = silent.length === 1 ? 'its turns' : 'their turns'
    const finding = `${formatCount(silent.length, 'session')} reported no edit and no command, although files changed in ${turns}: ${named}. A person changed them, the client's hooks do not run, or the events were removed.`
    return [{ check: 'sessions', ok: true, finding }]
  } catch (error) {
    // The checks of the database and the log report read errors.
    if (error instanceof Failure) return []
    throw error
  }
}

const restoring = 'Restore a backup with `waymark backup restore <file>`.'
const maxLines = 10

/** The findings of `verify`: a missing record is a failure. */
export function verifiedFindings(found: Inspection, location: string): readonly Check[] {
  if (found.events > 0 || found.brokenAt !== null || (found.damage ?? []).length > 0)
    return recordFindings(found)
  const finding = `There is no record in ${location}: 0 log entries were read, and nothing was checked. Run it in the folder of the project, or name that folder with --project.`
  return [{ check: 'log', ok: false, finding }, ...anchorFinding(found)]
}

function recordFindings(found: Inspection): readonly Check[] {
  return [...fileFinding(found), chainFinding(found), tablesFinding(found), ...anchorFinding(found)]
}

/** The checks of the log alone, without the tables. */
function chainFindings(found: ChainInspection): readonly Check[] {
  return [chainFinding(found), ...anchorFinding(found)]
}

function anchorFinding({ anchor }: ChainInspection): readonly Check[] {
  return anchor ? [{ check: 'log end', ok: anchor.ok, finding: anchor.says }] : []
}

function fileFinding({ damage }: Inspection): readonly Check[] {
  if (damage === null) return []
  if (damage.length === 0) return [{ check: 'file', ok: true, finding: 'SQLite finds no damage in the file' }]
  const finding = `The database file is damaged: ${joinLines(damage)}. \`waymark doctor --repair\` rebuilds what the log still holds. Or restore a backup with \`waymark backup restore <file>\`.`
  return [{ check: 'file', ok: false, finding }]
}

function chainFinding({ events, brokenAt }: ChainInspection): Check {
  if (brokenAt === null && events === 0)
    return {
      check: 'log',
      ok: true,
      finding: 'Nothing is recorded yet in this project: 0 log entries were read',
    }
  if (brokenAt === null)
    return { check: 'log', ok: true, finding: `${events} log entries, the hash chain is intact` }
  const finding = `The hash chain is broken at log entry ${brokenAt}: this entry, or one before it, was changed or removed outside Waymark. ${restoring}`
  return { check: 'log', ok: false, finding }
}

function tablesFinding({ brokenAt, error, tables, rows, differing, differences }: Inspection): Check {
  if (error !== null) return { check: 'tables', ok: false, finding: `${error} ${restoring}` }
  if (brokenAt !== null) {
    return { check: 'tables', ok: false, finding: 'Not compared, because the log is broken.' }
  }
  if (differing === 0) {
    return {
      check: 'tables',
      ok: true,
      finding: `${rows} rows in ${tables} tables match the log`,
    }
  }
  const first = differences.slice(0, maxLines).map(({ says }) => says)
  const rest = differing > first.length ? [`And ${differing - first.length} more.`] : []
  const many = differing === 1 ? '1 row is' : `${differing} rows are`
  return {
    check: 'tables',
    ok: false,
    finding: [
      `${many} not match the log: changed outside Waymark.`,
      ...first,
      ...rest,
      '`waymark doctor --repair` rebuilds them from the log.',
    ].join(' '),
  }
}

function joinLines(lines: readonly string[]): string {
  const first = lines.slice(0, maxLines).map((line) => line.replace(/\s+/g, ' ').trim())
  return lines.length > maxLines ? `${first.join('; ')}; and more` : first.join('; ')
}

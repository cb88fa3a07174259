import type { Briefing } from '../domain/gate/hook/brief.ts'
import type { HookSituation } from '../domain/gate/hook/judge.ts'
import type { SettingName } from '../domain/gate/run.ts'
import { namesPackage, parseScope } from '../domain/track/scope/scope.ts'
import type { Attempt, SnapshotPlace } from '../domain/track/task.ts'
import { contractVersion } from '../operations/edge/contract.ts'
import type { Packages } from '../ports/work-tree.ts'
import type { EdgeDatabase } from './edge-database.ts'
import type { OwnMachine } from './origins.ts'
import type { Asking, ServerClient } from './server-client.ts'

/** The brief of a work tree as the server wrote it. */
export interface KeptBrief {
  readonly attempts: readonly { readonly attempt: Attempt; readonly task: string }[]
  readonly runs: HookSituation['runs']
  readonly settings: Readonly<Record<string, string>>
  readonly missions: Briefing['missions']
  readonly said: readonly { readonly run: string; readonly words: readonly string[] }[]
  readonly holds: Briefing['holds']
  readonly more_holds: number
  readonly comments?: readonly string[]
}

export interface EdgeHookParts {
  readonly database: EdgeDatabase
  readonly client: ServerClient
  readonly edge: OwnMachine
  readonly version: string
  readonly packages: (place: SnapshotPlace) => Promise<Packages>
  readonly now: () => number
}

/** A brief this old is asked for again; a hook waits for that no longer than this. Milliseconds. */
const fresh = 5_000
const patience = 80

/** What a hook judges by: the brief that is kept here, and a newer one where the server says it at once. */
export async function hookBrief(parts: EdgeHookParts, top: string): Promise<KeptBrief | null> {
  const { database, now } = parts
  const copy = database.copyOf(nameOf(top))
  const kept = copy && (copy.body as KeptBrief) // as it was kept below
  if (copy && now() - copy.at < fresh) return kept
  return (await keepBrief(parts, top, { connect: patience, answer: patience })) ?? kept
}

/** Asks for the brief of a work tree and keeps it; null where the server does not say it. */
export async function keepBrief(
  { database, client, edge, version, now }: Omit<EdgeHookParts, 'packages'>,
  top: string,
  asking: Asking = {},
): Promise<KeptBrief | null> {
  const request = {
    contract: contractVersion,
    version,
    edge: { key: edge.key, name: edge.name },
    queue: { ...database.queueToTell() },
    // It asks and records nothing, so it needs no name that nobody else has: `crypto` takes a hook ten milliseconds to load.
    call: `brief-${process.pid}-${now()}`,
    folder: top,
    age: 0,
    channel: 'stdio',
    as: 'agent',
    operation: 'edge_brief',
    input: { top },
    gathered: [],
  }
  const brief = briefIn(await client.post('/api/edge/call', request, asking).catch(() => null))
  if (brief !== null) database.keepCopy(nameOf(top), brief, now())
  return brief
}

function nameOf(top: string): string {
  return `brief ${top}`
}

function briefIn(said: unknown): KeptBrief | null {
  if (typeof said !== 'object' || said === null || !('answer' in said)) return null
  return said.answer as KeptBrief // by the operation's output
}

/** The brief as hooks judge it; workspace packages are looked up here, where an area names one. */
export async function situationIn(
  brief: KeptBrief,
  packages: EdgeHookParts['packages'],
): Promise<HookSituation> {
  const attempts = brief.attempts.map(async ({ attempt, task }) => {
    const { areas, snapshot } = attempt
    const known = new Map(namesPackage(areas) ? await packages(snapshot) : [])
    return { attempt, task, scope: parseScope(areas, { prefix: snapshot.prefix, packages: known }) }
  })
  return {
    attempts: await Promise.all(attempts),
    runs: brief.runs,
    settings: new Map(Object.entries(brief.settings)) as ReadonlyMap<SettingName, string>, // the server's names
  }
}

export function briefingIn(brief: KeptBrief, { attempts, runs }: HookSituation): Briefing {
  return {
    missions: brief.missions,
    attempts,
    runs,
    said: new Map(brief.said.map(({ run, words }) => [run, words])),
    holds: brief.holds,
    moreHolds: brief.more_holds,
    comments: brief.comments ?? [],
  }
}

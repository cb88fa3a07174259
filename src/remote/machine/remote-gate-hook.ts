import type { HookSituation } from '../../gate/domain/hook/judge.ts'
import type { Briefing } from '../../gate/domain/hook/session-briefing.ts'
import type { SettingName } from '../../gate/domain/run.ts'
import type { Packages } from '../../git/ports/work-tree.ts'
import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { hasPackageArea, parseScope } from '../../track/domain/scope/scope.ts'
import type { Attempt, SnapshotLocation } from '../../track/domain/task.ts'
import { contractVersion } from '../operations/protocol-limits.ts'
import type { OwnMachine } from './known-servers.ts'
import type { ServerClient } from './server-client.ts'

/** The answer of `machine_brief`. */
export interface CachedBrief
  extends Pick<OutputOf<'machine_brief'>, 'settings' | 'messages' | 'more_items' | 'comments'> {
  readonly attempts: readonly { readonly attempt: Attempt; readonly task: string }[]
  readonly runs: HookSituation['runs']
  readonly missions: Briefing['missions']
  readonly items: Briefing['items']
}

export interface RemoteHookParts {
  readonly client: ServerClient
  readonly machine: OwnMachine
  readonly version: string
  /** Milliseconds. */
  readonly timeout?: number
  readonly packages: (place: SnapshotLocation) => Promise<Packages>
}

/** The timeout of a hook in milliseconds: without an answer it makes no decision. */
const hookTimeout = 80

/** Reads from the server what a hook needs to decide; null if it does not answer in time. */
export async function hookBrief(
  { client, machine, version, timeout = hookTimeout }: RemoteHookParts,
  top: string,
): Promise<CachedBrief | null> {
  const request = {
    contract: contractVersion,
    version,
    machine: { key: machine.key, name: machine.name, trusts_commands: client.server.trustsCommands },
    // A query needs no random key, and loading `crypto` takes a hook ten milliseconds.
    call: `brief-${process.pid}-${Date.now()}`,
    folder: top,
    channel: 'stdio',
    caller: 'agent',
    operation: 'machine_brief',
    input: { top },
  }
  return briefOfAnswer(
    await client.post('/api/machines/call', request, { within: timeout }).catch(() => null),
  )
}

function briefOfAnswer(response: unknown): CachedBrief | null {
  if (typeof response !== 'object' || response === null || !('answer' in response)) return null
  return response.answer as CachedBrief // by the operation's output
}

/** The situation in a brief. Workspace packages are read here if an area names one. */
export async function situationIn(
  brief: CachedBrief,
  packages: RemoteHookParts['packages'],
): Promise<HookSituation> {
  const attempts = brief.attempts.map(async ({ attempt, task }) => {
    const { areas, snapshot } = attempt
    const areaPackages = new Map(hasPackageArea(areas) ? await packages(snapshot) : [])
    return { attempt, task, scope: parseScope(areas, { prefix: snapshot.prefix, packages: areaPackages }) }
  })
  return {
    attempts: await Promise.all(attempts),
    runs: brief.runs,
    settings: new Map(Object.entries(brief.settings)) as ReadonlyMap<SettingName, string>, // the server's names
  }
}

export function briefingFromBrief(brief: CachedBrief, { attempts, runs }: HookSituation): Briefing {
  return {
    missions: brief.missions,
    attempts,
    runs,
    remarks: new Map(brief.messages.map(({ run, words }) => [run, words])),
    items: brief.items,
    moreItems: brief.more_items,
    comments: brief.comments ?? [],
  }
}

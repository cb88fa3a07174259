import type { WorkTreeWitness } from '../../git/ports/work-tree.ts'
import type { TaskId } from '../../kernel/id.ts'
import { openCommentLines } from '../../review/operations/review-lines.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { Mission } from '../../track/domain/mission.ts'
import { hasPackageArea, parseScope } from '../../track/domain/scope/scope.ts'
import type { Attempt } from '../../track/domain/task.ts'
import type { HookAttempt, HookRun, HookSituation } from '../domain/hook/judge.ts'
import type { Briefing } from '../domain/hook/session-briefing.ts'
import type { RunRecord } from '../domain/run.ts'
import { formatRemark, runRemarks } from './run/remarks.ts'

/** The work tree of a hook, with a function that reads the packages that scopes may name. */
export interface HookWorkTree {
  readonly top: string
  readonly packages: WorkTreeWitness['packages']
}

const maxRuns = 1000

/** The open attempts of a work tree, with the runs of their tasks and missions, else the only active run. */
export async function hookSituation(reads: Reads, place: HookWorkTree): Promise<HookSituation> {
  const open = await reads.tasks.openInTree(place.top)
  const { items } = await reads.runs.list({ status: 'active' }, { limit: maxRuns })
  const records = runsOfAttempts(
    items.map(({ item }) => item),
    open,
  )
  const names = await reads.tasks.names([...new Set(open.map(({ taskId }) => taskId))])
  return {
    attempts: await Promise.all(open.map((attempt) => withScope(attempt, names.get(attempt.taskId), place))),
    runs: await definedRuns(reads, records),
    settings: await reads.runs.settings(),
  }
}

function runsOfAttempts(active: readonly RunRecord[], open: readonly Attempt[]): readonly RunRecord[] {
  const ofWork = active.filter(({ taskId, missionId }) =>
    open.some(
      (attempt) => attempt.taskId === taskId || (missionId !== null && attempt.missionId === missionId),
    ),
  )
  return ofWork.length > 0 || active.length !== 1 ? ofWork : active
}

async function withScope(
  attempt: Attempt,
  task: string | undefined,
  { packages }: HookWorkTree,
): Promise<HookAttempt> {
  const { areas, snapshot } = attempt
  // Finding the packages of a workspace reads many files, so it is done only if a scope may name one.
  const packageFiles = new Map(hasPackageArea(areas) ? await packages(snapshot) : [])
  return {
    attempt,
    task: task ?? attempt.taskId,
    scope: parseScope(areas, { prefix: snapshot.prefix, packages: packageFiles }),
  }
}

async function definedRuns(reads: Reads, records: readonly RunRecord[]): Promise<readonly HookRun[]> {
  const runs: HookRun[] = []
  for (const record of records) {
    const definition = await reads.runs.definition(record.process.hash)
    if (definition) runs.push({ record, definition })
  }
  return runs
}

const maxMissions = 3
const mostHolds = 5
const maxRunsHeard = 5

/** The briefing: missions of the open work in the tree, else the project's open ones, and open inbox items. */
export async function readBriefing(reads: Reads, { attempts, runs }: HookSituation): Promise<Briefing> {
  const waiting = await reads.inboxItems.list({ status: 'open' }, { limit: mostHolds })
  return {
    missions: await missionsOf(reads, { attempts, runs }),
    attempts,
    runs,
    remarks: await wordsAbout(reads, runs),
    items: waiting.items.map(({ item }) => item.item),
    moreItems: waiting.total - waiting.items.length,
    comments: await openCommentLines(reads, await commentedTasks(reads, { attempts, runs })),
  }
}

/** The tasks at work here, else those of the missions that go on, the last ones. */
async function commentedTasks(
  reads: Reads,
  { attempts, runs }: Pick<HookSituation, 'attempts' | 'runs'>,
): Promise<readonly TaskId[]> {
  const taskIds = [
    ...attempts.map(({ attempt }) => attempt.taskId),
    ...runs.map(({ record }) => record.taskId),
  ]
  const ids = [...new Set(taskIds.filter((id) => id !== null))]
  return ids.length > 0 ? ids : reads.reviews.waitingTasks()
}

async function missionsOf(
  reads: Reads,
  { attempts, runs }: Pick<HookSituation, 'attempts' | 'runs'>,
): Promise<readonly Mission[]> {
  const missionIds = [
    ...attempts.map(({ attempt }) => attempt.missionId),
    ...runs.map(({ record }) => record.missionId),
  ]
  const ids = [...new Set(missionIds.filter((id) => id !== null))].slice(0, maxMissions)
  if (ids.length > 0) {
    const missions = await Promise.all(ids.map((id) => reads.missions.find(id)))
    return missions.filter((mission) => mission !== null)
  }
  const open = await reads.missions.list({ limit: maxMissions, statuses: ['pending', 'in_progress'] })
  return open.items.map(({ item }) => item)
}

async function wordsAbout(
  reads: Reads,
  runs: HookSituation['runs'],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const words = new Map<string, readonly string[]>()
  for (const { record } of runs.slice(0, maxRunsHeard)) {
    words.set(record.id, (await runRemarks(reads, record)).map(formatRemark))
  }
  return words
}

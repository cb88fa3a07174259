import { z } from 'zod'
import { stateNamed } from '../../gate/domain/definition.ts'
import { runEndWords } from '../../gate/domain/gating-run.ts'
import type { RunRecord } from '../../gate/domain/run.ts'
import { guardLine } from '../../gate/operations/run/refusal.ts'
import {
  MeasurementQuestions,
  type RunMeasurements,
  runMeasurements,
} from '../../gate/operations/run/run-measurements.ts'
import { prepareSituation, type RunSituation } from '../../gate/operations/run/situation.ts'
import { type Branch, maxBranchFiles } from '../../git/ports/branch.ts'
import type { InboxItem } from '../../inbox/domain/inbox-item.ts'
import { Failure } from '../../kernel/failure.ts'
import type { MissionId } from '../../kernel/id.ts'
import { instantOrNull } from '../../kernel/instant.ts'
import { branch as branchShape } from '../../kernel/operations/fields.ts'
import { findMission } from '../../kernel/operations/find.ts'
import { identifier, text, texts } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { measurement, requireMeasured, type WorkTree } from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation, type RecordContext } from '../../kernel/operations/operation.ts'
import { excerpt, formatCount, plainWord } from '../../kernel/text.ts'
import type { TaskCard } from '../../plan/ports/task-reads.ts'
import type { Reads } from '../../store/ports/store.ts'
import { type LandedState, landedStates } from '../../track/domain/landed.ts'
import { isCompleted } from '../../track/domain/task.ts'
import { isDoubted, verdictRules, verdictValues } from '../../track/domain/verdict.ts'
import { explainFile, type PathAuthorship, type RecordedWork } from '../domain/unexplained-files.ts'

const Reason = z.object({
  kind: z.enum(['gate', 'inbox_item', 'change', 'unknown', 'verdict', 'landed']),
  message: z.string(),
  /** The file, if the reason is about one. */
  path: z.string().nullable(),
  /** The run, the inbox item or the task. */
  id: z.string().nullable(),
})
type Reason = z.output<typeof Reason>

/** A completed task of the branch that is not proven, or whose lines are gone. */
const DoubtfulTask = z.object({
  task_id: z.string(),
  name: z.string(),
  /** Null where it was completed without an attempt. */
  verdict: z.enum(verdictValues).nullable(),
  rules: list(z.enum(verdictRules)),
  landed: z.enum(landedStates).nullable(),
  /** The person who accepted the contradiction. */
  accepted_by: z.string().optional(),
})
type DoubtfulTask = z.output<typeof DoubtfulTask>

const maxReasons = 200

export const check = defineOperation({
  name: 'check',
  command: 'check',
  toolset: 'track',
  audience: 'both',
  title: 'Check a branch before it is merged',
  description:
    'Check that the gates of the branch’s missions are passed, that no item of theirs needs a person, and that every changed file is accounted for. Lists tasks that are not proven, reverted or lost.',
  kind: 'query',
  input: z.strictObject({
    base: text('Branch to merge into; default origin/HEAD, main or master').optional(),
    head: text('Last commit of the branch; default HEAD').optional(),
    mission: identifier('Also check this mission (m-…, w-…)').optional(),
    people: texts('E-mail addresses of people; their own commits need no record').optional(),
    strict: z
      .boolean()
      .describe('Also fail on files of unknown origin, and on tasks that are not proven, reverted or lost')
      .optional(),
  }),
  output: z.object({
    passed: z.boolean(),
    says: z.string(),
    base: z.string(),
    head: z.string(),
    record_since: z.string().nullable(),
    missions: list(z.object({ id: z.string(), name: z.string() })),
    files: z.object({
      total: z.int(),
      attempt: z.int(),
      person: z.int(),
      unknown: z.int(),
      unattributed: z.int(),
    }),
    reasons: list(Reason),
    /** Files with an unknown author, and why. */
    unknown: list(z.object({ path: z.string(), why: z.string() })),
    /** Completed tasks that are contradicted, unproven, reverted or lost. */
    tasks: list(DoubtfulTask),
    notes: strings,
  }),
})
  .measure({
    ...runMeasurements,
    branch: measurement({
      brief: z.strictObject({ base: z.string().max(300).nullable(), head: z.string().max(300).nullable() }),
      measured: branchShape,
      measure: branchOf,
    }),
  })
  .prepare(async (reads, input, context, measured) => {
    const since = await reads.eventLog.timeAfter(0)
    if (since === null) {
      throw new Failure('INVALID_INPUT', `Cannot check ${context.folder}: nothing is recorded for it.`, {
        reason: 'record_not_found',
        hint: 'If a server keeps the record, set WAYMARK_SERVER to its address and WAYMARK_TOKEN to a token of kind runner. If a file does, put it at .waymark/waymark.db.',
      })
    }
    const brief = { branch: { base: input.base ?? null, head: input.head ?? null } }
    const { branch } = measured
    if (branch === undefined) return { briefs: brief, found: null }
    const accounts = await accountsOf(reads, branch, { since, people: input.people ?? [] })
    const { missions, tasks } = await affectedWork(reads, accounts, input.mission)
    const questions = new MeasurementQuestions<RunMeasurements>(measured)
    const gates = await gatesOf(reads, questions, { context, missions, tasks })
    return {
      briefs: { ...questions.briefs, ...brief },
      found: gates && { since, branch, accounts, missions, tasks, gates },
    }
  })
  .answer(async ({ reads, found, setting }, input) => {
    const { since, branch, accounts, missions, tasks, gates } = requireMeasured(found ?? undefined)
    const items = await openItemsOfWork(reads, missions, tasks)
    const doubtful = await doubtfulTasks(reads, { missions, tasks, now: setting.at })
    const unknown = accounts.filter(({ category }) => category === 'unknown')
    const reasons: readonly Reason[] = [
      ...gates,
      ...items.map(inboxItemReason),
      ...unseenFiles(branch),
      ...accounts.flatMap(({ category, path, why }): readonly Reason[] => {
        if (category === 'nobody') return [{ kind: 'change', message: `${path}: ${why}`, path, id: null }]
        if (category === 'unknown' && input.strict)
          return [{ kind: 'unknown', message: `${path}: ${why}`, path, id: null }]
        return []
      }),
      ...(input.strict ? doubtful.flatMap(taskReasons) : []),
    ]
    const passed = reasons.length === 0
    return {
      passed,
      says: sentence(branch, { accounts, reasons, missions: missions.length }),
      base: branch.base.id,
      head: branch.head.id,
      record_since: instantOrNull(since),
      missions: missions.map(({ id, name }) => ({ id, name })),
      files: tallyAccounts(accounts),
      reasons: reasons.slice(0, maxReasons),
      unknown: unknown.slice(0, maxReasons).map(({ path, why }) => ({ path, why })),
      tasks: doubtful,
      notes: [
        ...(branch.isShallow
          ? [
              'This clone is shallow: missing commits were not checked. fetch-depth: 0 or GIT_DEPTH: 0 fetches all.',
            ]
          : []),
        ...(branch.isCut ? ['The branch has too many commits or files to check all.'] : []),
        ...(reasons.length > maxReasons
          ? [`Only the first ${maxReasons} of ${reasons.length} reasons are listed.`]
          : []),
        ...(missions.length === 0 && tasks.length === 0
          ? ['No mission changed files of this branch, so no gate was checked. Name one with --mission.']
          : []),
      ],
    }
  })

/** Files over the limit are unknown: one of them could be unexplained. */
function unseenFiles({ files, isCut }: Branch): readonly Reason[] {
  if (!isCut || files.length < maxBranchFiles) return []
  const message = `The branch changes more than ${maxBranchFiles} files: the others were not checked.`
  return [{ kind: 'change', message, path: null, id: null }]
}

const usualBases = ['origin/HEAD', 'main', 'master']

async function branchOf(
  { witness, folder }: WorkTree,
  { base, head }: { readonly base: string | null; readonly head: string | null },
): Promise<Branch> {
  const words = (name: string) => ({ folder, base: name, ...(head !== null && { head }) })
  if (base !== null) return witness.branch(words(base))
  for (const usual of usualBases) {
    try {
      return await witness.branch(words(usual))
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'INVALID_INPUT')) throw error
    }
  }
  throw new Failure(
    'INVALID_INPUT',
    `The base branch of ${folder} is unknown: there is no ${usualBases.join(', no ')}.`,
    {
      reason: 'base_unknown',
      hint: 'Name it, and fetch it first if it is missing: waymark check --base origin/main',
    },
  )
}

async function accountsOf(
  reads: Reads,
  branch: Branch,
  { since, people }: { readonly since: number; readonly people: readonly string[] },
): Promise<readonly PathAuthorship[]> {
  const paths = branch.files.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]))
  if (paths.length === 0) return []
  const [steps, changes, registered, open] = await Promise.all([
    reads.lines.stepsOf(paths),
    reads.tasks.changedBy(paths),
    reads.identities.people(),
    reads.tasks.openAttempts(),
  ])
  const changedBy = new Map<string, string[]>()
  for (const { path, attemptId } of changes) changedBy.set(path, [...(changedBy.get(path) ?? []), attemptId])
  const attempts = [...new Set(changes.map(({ attemptId }) => attemptId))]
  const ends = await Promise.all(attempts.map((id) => reads.tasks.end(id)))
  const commits = new Map(
    ends.flatMap((end, at) =>
      (end?.evidence.commits ?? []).flatMap(({ id, author }) =>
        author === 'own' ? [[fullId(id, branch), attempts[at] ?? ''] as const] : [],
      ),
    ),
  )
  const emails = registered.flatMap(({ email, disabledAt }) =>
    email !== null && disabledAt === null ? [email] : [],
  )
  const work: RecordedWork = {
    contents: steps.toSorted((a, b) => b.seq - a.seq || b.position - a.position),
    changedBy,
    commits,
    people: new Set([...emails, ...people].map((email) => email.trim().toLowerCase())),
    open: open.map(({ id, openedAt }) => ({ id, openedAt })),
    since,
    isCut: branch.isCut || branch.isShallow,
  }
  return branch.files.map((file) => explainFile(file, branch.commits, work))
}

/** Commits may be recorded by abbreviated ids. */
function fullId(id: string, { commits }: Branch): string {
  return commits.find((commit) => commit.id.startsWith(id))?.id ?? id
}

interface MissionRef {
  readonly id: MissionId
  readonly name: string
}

async function affectedWork(reads: Reads, accounts: readonly PathAuthorship[], mission: string | undefined) {
  const ids = [...new Set(accounts.flatMap(({ attempts }) => attempts))]
  const makers = await reads.lines.makers(ids)
  const missions = new Map<string, MissionRef>()
  if (mission !== undefined) {
    const { id, name } = await findMission(reads, mission)
    missions.set(id, { id, name })
  }
  for (const { attempt, missionName } of makers) {
    const { missionId } = attempt
    if (missionId !== null) missions.set(missionId, { id: missionId, name: missionName ?? missionId })
  }
  const alone = makers.flatMap(({ attempt }) => (attempt.missionId === null ? [attempt.taskId] : []))
  return {
    missions: [...missions.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    tasks: [...new Set(alone)].toSorted(),
  }
}

/** Runs that did not end successfully, with their missing guards; null until those were measured. */
async function gatesOf(
  reads: Reads,
  questions: MeasurementQuestions<RunMeasurements>,
  {
    context,
    missions,
    tasks,
  }: { readonly context: RecordContext } & Pick<
    Awaited<ReturnType<typeof affectedWork>>,
    'missions' | 'tasks'
  >,
): Promise<readonly Reason[] | null> {
  const { runs } = reads
  const [gating, ended, ofTasks] = await Promise.all([
    Promise.all(missions.map(({ id }) => runs.gating({ missionId: id }))),
    Promise.all(missions.map(({ id }) => runs.lostRuns({ missionId: id }))),
    Promise.all(tasks.map((taskId) => runs.list({ taskId, status: 'active' }, { limit: 100 }))),
  ])
  const active = [...gating.flat(), ...ofTasks.flatMap(({ items }) => items.map(({ item }) => item))]
  const open = new Map(active.map((run) => [run.id, run]))
  const closed: (Reason | null)[] = []
  for (const run of [...open.values()].slice(0, maxReasons)) {
    const situation = await prepareSituation(reads, questions, { context, runId: run.id })
    // A check before the merge cannot ask for the merge.
    if (situation && lacksOnlyMerge(situation)) continue
    const message = situation && gateWords(situation, run)
    closed.push(message === null ? null : { kind: 'gate', message, path: null, id: run.id })
  }
  if (closed.includes(null)) return null
  return [
    ...closed.filter((reason) => reason !== null),
    ...ended.flat().map((run): Reason => {
      return { kind: 'gate', message: `A gate was lost: ${runEndWords(run)}.`, path: null, id: run.id }
    }),
  ]
}

const mergeable: ReadonlySet<LandedState> = new Set(['committed', 'pushed', 'landed', 'replaced', 'none'])

/**
 * Whether a run would end successfully if its commits were on the default branch. Lines that are lost, reverted, not
 * committed or not measured are more than a missing merge.
 */
function lacksOnlyMerge({ events, definition, observed }: RunSituation): boolean {
  const done = observed.tasks?.filter((task) => task.phase === null && task.done) ?? []
  if (done.length === 0 || !done.every(({ landed }) => landed && mergeable.has(landed.is))) return false
  const typeOf = (name: string) => definition.guards.find((guard) => guard.name === name)?.guard.type
  return events.some(({ transitions }) =>
    transitions.some(
      ({ to, missing }) =>
        stateNamed(definition, to)?.outcome === 'succeeded' &&
        missing.length > 0 &&
        missing.every(({ name }) => typeOf(name) === 'landed'),
    ),
  )
}

function gateWords({ events }: RunSituation, run: RunRecord): string {
  const missing = events.flatMap(({ transitions }) =>
    transitions.flatMap((transition) => transition.missing.map(guardLine)),
  )
  const lacks = [...new Set(missing)].slice(0, 5).map((line) => excerpt(line, 300))
  const state = `Run ${run.id} of process ${run.process.id} is in "${run.state}", which is not a final state`
  return lacks.length === 0 ? `${state}.` : `${state}. It lacks: ${lacks.join('; ')}.`
}

async function openItemsOfWork(
  { inboxItems }: Reads,
  missions: readonly MissionRef[],
  tasks: Awaited<ReturnType<typeof affectedWork>>['tasks'],
): Promise<readonly InboxItem[]> {
  const [ofMissions, ofTasks] = await Promise.all([
    Promise.all(
      missions.map(({ id }) => inboxItems.list({ missionId: id, status: 'open' }, { limit: maxReasons })),
    ),
    Promise.all(tasks.map((id) => inboxItems.ofTask(id))),
  ])
  const open = [...ofMissions.flatMap(({ items }) => items.map(({ item }) => item.item)), ...ofTasks.flat()]
  return [...new Map(open.map((item) => [item.id, item])).values()]
}

const maxTasks = 1000

/** The completed tasks of the missions, and those without one, that are not proven or whose lines are gone. */
async function doubtfulTasks(
  reads: Reads,
  {
    missions,
    tasks,
    now,
  }: Pick<Awaited<ReturnType<typeof affectedWork>>, 'missions' | 'tasks'> & { readonly now: number },
): Promise<readonly DoubtfulTask[]> {
  const ofMissions = await Promise.all(
    missions.map(({ id }) => reads.plan.tasks({ owner: id, now }, { limit: maxTasks })),
  )
  const planned = ofMissions.flatMap((page) => page.tasks.map(({ task }) => task.id))
  const cards = await reads.tasks.cards([...planned, ...tasks].slice(0, maxTasks))
  const doubtful = cards.filter(
    (card) => isCompleted(card.task) && (isDoubted(card.measured?.verdict) || isGone(card)),
  )
  return Promise.all(doubtful.slice(0, maxReasons).map((card) => doubtfulTask(reads, card)))
}

function isGone({ landed }: TaskCard): boolean {
  return landed === 'reverted' || landed === 'lost'
}

async function doubtfulTask(
  { tasks }: Reads,
  { task, attempt, measured, landed, acceptedBy }: TaskCard,
): Promise<DoubtfulTask> {
  const verdicts = attempt === null ? [] : await tasks.verdicts(attempt.id)
  return {
    task_id: task.id,
    name: excerpt(task.name, 120),
    verdict: measured?.verdict ?? null,
    rules: [...new Set(verdicts.at(-1)?.verdict?.reasons.map(({ rule }) => rule))],
    landed,
    ...(acceptedBy !== null && { accepted_by: acceptedBy }),
  }
}

function taskReasons(task: DoubtfulTask): readonly Reason[] {
  const { task_id: id, name, verdict, rules, landed, accepted_by: acceptedBy } = task
  const about = (kind: 'verdict' | 'landed', problem: string): Reason => ({
    kind,
    message: `Task ${id} "${name}" ${problem}`,
    path: null,
    id,
  })
  return [
    ...(verdict !== null && verdict !== 'proven' && acceptedBy === undefined
      ? [about('verdict', `is ${verdict}: ${rules.map(plainWord).join(', ')}.`)]
      : []),
    ...(landed === 'reverted' || landed === 'lost' ? [about('landed', `was ${landed}.`)] : []),
  ]
}

function inboxItemReason({ id, kind, reason, paths }: InboxItem): Reason {
  return {
    kind: 'inbox_item',
    message: `${plainWord(kind).replace(/^./, (first) => first.toUpperCase())} ${id} needs a person: ${excerpt(reason, 300)}`,
    path: paths[0] ?? null,
    id,
  }
}

function tallyAccounts(accounts: readonly PathAuthorship[]) {
  const count = (category: PathAuthorship['category']) =>
    accounts.filter((account) => account.category === category).length
  return {
    total: accounts.length,
    attempt: count('attempt'),
    person: count('person'),
    unknown: count('unknown'),
    unattributed: count('nobody'),
  }
}

function sentence(
  { base, commits }: Branch,
  found: {
    readonly accounts: readonly PathAuthorship[]
    readonly reasons: readonly Reason[]
    readonly missions: number
  },
): string {
  const { accounts, reasons, missions } = found
  if (accounts.length + commits.length + reasons.length === 0)
    return `Passed. There is nothing to check: no commit since ${base.id.slice(0, 12)}.`
  const { attempt, person, unknown, unattributed: nobody } = tallyAccounts(accounts)
  const counts = [
    `${attempt} by attempts`,
    `${person} by people`,
    ...(unknown > 0 ? [`${unknown} not known`] : []),
    ...(nobody > 0 ? [`${nobody} by no recorded author`] : []),
  ]
  const about = `${formatCount(accounts.length, 'file')} in ${formatCount(commits.length, 'commit')} since ${base.id.slice(0, 12)}: ${counts.join(', ')}; ${formatCount(missions, 'mission')}`
  return reasons.length === 0
    ? `Passed. ${about}.`
    : `Not passed: ${formatCount(reasons.length, 'reason')}. ${about}.`
}

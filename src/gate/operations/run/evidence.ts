import { type Actor, type Author, identityOf } from '../../../kernel/actor.ts'
import type { PhaseId, TaskId } from '../../../kernel/id.ts'
import type { TaskCard } from '../../../plan/ports/task-reads.ts'
import type { Fingerprint, Reads } from '../../../store/ports/store.ts'
import { isMeasuredBefore, type Landed, landingMachine } from '../../../track/domain/landed.ts'
import { completedSince, type Task } from '../../../track/domain/task.ts'
import { isOfNoChange, reasonText } from '../../../track/domain/verdict.ts'
import { openReplacements } from '../../../track/operations/landed.ts'
import { undoneTasks } from '../../../track/operations/tree-write.ts'
import { approvedContent, isOfChanges } from '../../domain/approved-content.ts'
import { isOfType, lastReturn } from '../../domain/artifacts.ts'
import {
  type EvidenceNeed,
  nothingObserved,
  type Observations,
  type ObservedApproval,
  type ObservedCi,
  type ObservedCommand,
  type ObservedMilestone,
  type ObservedTask,
} from '../../domain/evidence.ts'
import { mergeArtifacts, type Run, type RunRecord } from '../../domain/run.ts'
import type { CommandRunner } from '../../ports/command-runner.ts'
import type { LoadedRun } from '../../ports/run-reads.ts'
import { ciFolder, ciLine, commitOfFolder } from './ci-results.ts'
import type { ExternalState } from './external-state.ts'
import { entryEvent, subjectOf } from './find-run.ts'
import { independenceOf, personOfIdentity, requiresIndependence, workersOf } from './independence.ts'
import { isStillRunning } from './lease.ts'

interface ObservationSources {
  readonly reads: Reads
  readonly external: ExternalState
  readonly fingerprint: Fingerprint
  readonly now: number
  /** The caller or emitter. */
  readonly actor: Actor
  /** Whether a runner of this name still runs. */
  readonly isAlive: CommandRunner['isAlive']
  /** Where the lines of tasks are, as just measured for an event. */
  readonly landed?: ReadonlyMap<TaskId, Landed>
}

/** The run for the engine, with the current status of its files. */
export function engineRun(
  { record, visits, artifacts }: LoadedRun,
  fileFreshness: ExternalState['fileFreshness'],
): Run {
  const { state, revision, context } = record
  return {
    state,
    revision,
    context,
    visits,
    isCancelled: record.status === 'cancelled',
    artifacts: artifacts.map((artifact) => ({
      ...artifact,
      status: fileFreshness.get(artifact.path) ?? 'current',
    })),
  }
}

/** Whether guards need evidence from outside the run. */
export function hasObservationNeeds({ needs }: ExternalState): boolean {
  return needs.some(({ kind }) => kind !== 'context' && kind !== 'artifacts')
}

/** The evidence from outside the run, read in the same view or transaction as the decision. */
export async function observeRun(sources: ObservationSources, loaded: LoadedRun): Promise<Observations> {
  const { reads, external } = sources
  const { needs } = external
  if (!hasObservationNeeds(external)) return nothingObserved
  const subject = subjectOf(loaded.record)
  const has = (kind: EvidenceNeed['kind']): boolean => needs.some((need) => need.kind === kind)
  return {
    changes: external.observedChanges,
    commands: await Promise.all(external.commands.map((command) => observedCommand(sources, command))),
    ci: await observedCi(sources),
    openBlockers: has('blockers') && subject !== null ? await openBlockers(reads, subject) : null,
    milestones: await observedMilestones(reads, needs),
    tasks: has('tasks') ? await observedTasks(sources, loaded) : null,
    approvals: has('approvals') ? await observedApprovals(sources, loaded) : [],
  }
}

async function observedCommand(
  { reads, external, isAlive, now }: ObservationSources,
  { guard, approved, refusal, tree }: ExternalState['commands'][number],
): Promise<ObservedCommand> {
  const { run, reportedBy } = guard
  const command = { run, folder: external.folder, ...(reportedBy && { reportedBy }) }
  const onTree = tree === null ? null : await reads.runs.commandResult(command, tree)
  const result = onTree ?? (await reads.runs.commandResult(command))
  const nothing = {
    run,
    ...(reportedBy && { reportedBy }),
    exitCode: null,
    startedAt: null,
    output: '',
    onThisTree: false,
  }
  // Commands of a runner need no approval here: the runner's machine decides.
  if (reportedBy === 'runner' && result === null) return { ...nothing, status: 'not_run' }
  if (reportedBy !== 'runner' && refusal) return { ...nothing, status: 'refused', refusal }
  if (reportedBy !== 'runner' && !approved) return { ...nothing, status: 'unapproved' }
  if (result === null || result.status === 'stopped') return { ...nothing, status: 'not_run' }
  const { status, exitCode, startedAt, output } = result
  if (status === 'running') {
    const runs = await isStillRunning(reads, result, { isAlive, now })
    return runs ? { ...nothing, status, startedAt } : { ...nothing, status: 'not_run' }
  }
  return {
    run,
    ...(reportedBy && { reportedBy }),
    status,
    exitCode,
    startedAt,
    output,
    onThisTree: onTree !== null && result.treeHeld,
    disturbed: onTree !== null && !result.treeHeld,
  }
}

async function observedCi({ reads, external, now }: ObservationSources): Promise<readonly ObservedCi[]> {
  const { needs, tree, commit } = external
  const ciNeeds = needs.flatMap((need) => (need.kind === 'ci' ? [need] : []))
  return Promise.all(
    ciNeeds.map(async ({ check, target }): Promise<ObservedCi> => {
      const line = { run: ciLine(check), folder: '', reportedBy: 'runner' as const }
      const current =
        target === 'tree'
          ? tree && (await reads.runs.commandResult(line, tree))
          : commit && (await reads.runs.commandResult({ run: line.run, folder: ciFolder(commit) }))
      const result = current || (await reads.runs.commandResult(line))
      const commitOfResult = result ? (commitOfFolder(result.folder)?.slice(0, 12) ?? null) : null
      const entry = {
        check,
        target,
        isOfThis: Boolean(current),
        commit: commitOfResult,
        age: now - (result?.endedAt ?? now),
      }
      if (!result || result.status === 'running') return { ...entry, status: 'none' }
      return { ...entry, status: result.status === 'timed_out' ? 'failed' : result.status }
    }),
  )
}

async function openBlockers(
  reads: Reads,
  subject: NonNullable<ReturnType<typeof subjectOf>>,
): Promise<readonly string[]> {
  const { missionId, taskId } = subject
  const page = await reads.inboxItems.list(
    {
      kinds: ['blocker', 'review'],
      status: 'open',
      ...(missionId !== null && { missionId }),
      ...(taskId !== null && { taskId }),
    },
    { limit: 50 },
  )
  return page.items.map(({ item }) => item.item.id)
}

async function observedMilestones(
  reads: Reads,
  needs: readonly EvidenceNeed[],
): Promise<readonly ObservedMilestone[]> {
  const ids = needs.flatMap((need) => (need.kind === 'milestone' ? [need.id] : []))
  const milestones = await Promise.all([...new Set(ids)].map((id) => reads.plan.milestone(id)))
  return milestones.flatMap((milestone) =>
    milestone ? [{ id: milestone.id, reached: milestone.reached }] : [],
  )
}

const maxTasks = 1000

async function observedTasks(
  { reads, external, now, landed }: ObservationSources,
  { record, visits }: LoadedRun,
): Promise<readonly ObservedTask[]> {
  const phases = external.needs.flatMap((need) => (need.kind === 'tasks' ? [need.phase] : []))
  const lists = await Promise.all(
    [...new Set(phases)].map(async (phase) => {
      if (phase === null && record.taskId !== null) return ownTask(reads, record.taskId)
      const filter = phase === null ? { owner: record.missionId } : await phaseFilter(reads, record, phase)
      if (filter === null) return []
      const { tasks, total } = await reads.plan.tasks({ ...filter, now }, { limit: maxTasks })
      const observed = tasks.flatMap(({ task }) => observedTask(task, phase))
      // Tasks over the limit count as not done.
      return total > tasks.length
        ? [...observed, { id: `${total - tasks.length} more`, phase, done: false }]
        : observed
    }),
  )
  const redone = await withDoneAgain(reads, lists.flat(), { record, visits })
  const tasks = await withUnseen(reads, redone, record)
  return describeTasks(reads, await withoutUndone(reads, tasks), {
    verdicts: external.needs.some(({ kind }) => kind === 'verdicts'),
    landings: external.needs.some(({ kind }) => kind === 'landings'),
    measured: landed ?? new Map(),
  })
}

/** Marks the tasks with an attempt that ended since the run went back to an earlier state, and whether it changed something. */
async function withDoneAgain(
  { runs, tasks: taskReads }: Reads,
  tasks: readonly ObservedTask[],
  { record, visits }: Pick<LoadedRun, 'record' | 'visits'>,
): Promise<readonly ObservedTask[]> {
  const revision = lastReturn(visits)
  const subject = subjectOf(record)
  const back = revision === null || subject === null ? null : await runs.eventAt(record.id, revision)
  if (back === null || subject === null) return tasks
  const since = completedSince(await runs.attemptsOf(subject), back.createdAt)
  const ids = since.map(({ id }) => id)
  const [changes, verdicts, accepted] = await Promise.all([
    runs.changesOf(ids),
    taskReads.lastVerdicts(ids),
    taskReads.acceptances(since.map(({ taskId }) => taskId)),
  ])
  const changing = new Set<string>(
    changes.flatMap((one) =>
      one.changes.some(({ origin }) => origin !== 'imported') ? [one.attemptId] : [],
    ),
  )
  const again = Map.groupBy(since, ({ taskId }): string => taskId)
  return tasks.map((task) => {
    const attempts = again.get(task.id)
    const last = attempts?.at(-1)
    if (attempts === undefined || last === undefined) return task
    const isChanged = attempts.some(({ id }) => changing.has(id)) && !isOfNoChange(verdicts.get(last.id))
    const isDone = isChanged || accepted.has(last.taskId)
    return { ...task, doneAgain: isDone ? ('done' as const) : ('unchanged' as const) }
  })
}

/** Marks the tasks that the run's last approval does not show. */
async function withUnseen(
  { runs, landings, tasks: taskReads }: Reads,
  tasks: readonly ObservedTask[],
  record: RunRecord,
): Promise<readonly ObservedTask[]> {
  const subject = subjectOf(record)
  if (subject === null) return tasks
  const [approvals, attempts] = await Promise.all([runs.approvals(record.id), runs.attemptsOf(subject)])
  const standing = approvals.flatMap(({ createdAt, withdrawnAt }) =>
    withdrawnAt === undefined ? [createdAt] : [],
  )
  const later = completedSince(attempts, Math.max(0, ...standing)).map(({ taskId }) => taskId)
  const own = new Set<string>(attempts.map(({ taskId }) => taskId))
  // An approval shows the work of its subject, also once a task of elsewhere was moved there.
  const others = tasks.flatMap(({ id, done }) => (done && !own.has(id) ? [id as TaskId] : []))
  const moved = others.length === 0 ? [] : [...(await landings.attemptsOf(others)).keys()]
  const accepted = await taskReads.acceptances([...new Set([...later, ...moved])])
  const unseen = new Set<string>([...later, ...moved].filter((id) => !accepted.has(id)))
  return tasks.map((task) => (unseen.has(task.id) ? { ...task, isUnseen: true as const } : task))
}

/** Of a task whose work was taken back nothing is left to prove or to land: it is done again, or dropped. */
async function withoutUndone(reads: Reads, tasks: readonly ObservedTask[]): Promise<readonly ObservedTask[]> {
  const ids = tasks.flatMap(({ id, done }) => (done ? [id as TaskId] : [])) // from the database
  if (ids.length === 0 || (await reads.treeWrites.undoneTasks()).length === 0) return tasks
  const attempts = await reads.landings.attemptsOf(ids)
  const last = new Map(
    ids.map((id) => [id, attempts.get(id)?.findLast(({ taskId }) => taskId === id) ?? null]),
  )
  const undone = await undoneTasks(reads, last)
  return tasks.map((task) =>
    undone.has(task.id as TaskId) ? { ...task, done: false, undone: true as const } : task,
  )
}

/** The verdicts of tasks and where their lines are, if a guard asks. */
async function describeTasks(
  reads: Reads,
  tasks: readonly ObservedTask[],
  wanted: {
    readonly verdicts: boolean
    readonly landings: boolean
    /** What was just measured, which counts for what is recorded. */
    readonly measured: ReadonlyMap<TaskId, Landed>
  },
): Promise<readonly ObservedTask[]> {
  if (!wanted.verdicts && !wanted.landings) return tasks
  const ids = tasks.filter(({ done }) => done).map(({ id }) => id as TaskId) // from the database
  const cards = wanted.verdicts ? await reads.tasks.cards(ids) : []
  const byId = new Map<string, TaskCard>(cards.map((card) => [card.task.id, card]))
  const doubted = cards.find(
    ({ measured, acceptedBy }) => measured?.verdict !== 'proven' && acceptedBy === null,
  )
  const [reason] =
    doubted?.attempt == null
      ? []
      : ((await reads.tasks.verdicts(doubted.attempt.id)).at(-1)?.verdict?.reasons ?? [])
  const doubt = reason && { rule: reason.rule, text: reasonText(reason) }
  const recorded = wanted.landings ? await reads.landings.of(ids) : new Map<TaskId, never>()
  const attempts = wanted.landings ? await reads.landings.attemptsOf(ids) : new Map<TaskId, never>()
  const current = [...recorded].filter(([id, landing]) => {
    const own = attempts.get(id)?.filter(({ taskId }) => taskId === id) ?? []
    return !isMeasuredBefore(landing, own)
  })
  const landings = new Map<TaskId, Landed>([...current, ...wanted.measured])
  const open = await openReplacements(reads, wanted.landings ? ids : [], landings)
  return tasks.map((task) => {
    const machine = landingMachine(attempts.get(task.id as TaskId) ?? [])
    const { measured, acceptedBy } = byId.get(task.id) ?? { measured: null, acceptedBy: null }
    return {
      ...task,
      ...(wanted.verdicts && {
        verdict: measured?.verdict ?? null,
        ...(acceptedBy !== null && { acceptedBy }),
        ...(task.id === doubted?.task.id && doubt && { doubt }),
      }),
      ...(wanted.landings && { landed: landings.get(task.id as TaskId) ?? null }),
      ...(open.has(task.id as TaskId) && { replacementOpen: true as const }),
      ...(machine !== null && { machine }),
    }
  })
}

async function ownTask(reads: Reads, id: TaskId): Promise<readonly ObservedTask[]> {
  const task = await reads.tasks.find(id)
  return task === null ? [] : observedTask(task, null)
}

/** A dropped task does not count. */
function observedTask({ id, name, status, resolution }: Task, phase: string | null): readonly ObservedTask[] {
  return resolution === 'dropped' ? [] : [{ id, name, phase, done: status === 'done' }]
}

/** A phase by its id, or by its number in the run's mission. */
async function phaseFilter(
  reads: Reads,
  { missionId }: RunRecord,
  phase: string,
): Promise<{ readonly phaseId: PhaseId } | null> {
  const byNumber =
    missionId !== null && /^\d{1,6}$/.test(phase)
      ? await reads.missions.phase(missionId, Number(phase))
      : null
  const match = byNumber ?? (await reads.plan.phase(phase))
  return match === null ? null : { phaseId: match.id }
}

async function observedApprovals(
  { reads, external, fingerprint, actor: emitter }: ObservationSources,
  loaded: LoadedRun,
): Promise<readonly ObservedApproval[]> {
  const { record, definition, artifacts } = loaded
  const approvals = await reads.runs.approvals(record.id)
  if (approvals.length === 0) return []
  const run = engineRun(loaded, external.fileFreshness)
  // Files submitted with the event must have been approved too, and are the emitter's work.
  const presented = addSubmittedFiles(run, external.submitted)
  const requester = await requestAuthor(reads, loaded)
  const independenceFor = async (role: string, artifact: string | null, identity: string | null) => {
    if (!requiresIndependence(definition, { role, artifact })) return {}
    const isSubmitted = external.submitted.some(
      (file) => artifact === null || isOfType(definition.artifacts, file, artifact),
    )
    const others = [
      ...(isSubmitted ? [{ name: emitter.name, identity: identityOf(emitter) }] : []),
      ...(artifact === null && requester !== null ? [requester] : []),
    ]
    const workers = await workersOf(reads, loaded, artifact, others)
    return { independence: independenceOf(await personOfIdentity(reads, identity), workers) }
  }
  const observed = approvals.map(
    async ({ role, artifact, author: by, identity = null, content, withdrawnAt }) => {
      const { approvedTree: tree, changes, recorded } = external
      const standing = [{ tree, changes }, ...(recorded === null ? [] : [recorded])]
      const contents = standing.map((work) =>
        approvedContent(definition, artifact === null ? run : presented, { artifact, ...work }),
      )
      const authors: Author[] = artifacts
        .filter((file) => artifact === null || isOfType(definition.artifacts, file, artifact))
        .map((artifact) => ({ name: artifact.author, identity: artifact.identity ?? null }))
      if (
        artifact !== null &&
        external.submitted.some((file) => isOfType(definition.artifacts, file, artifact))
      ) {
        authors.push({ name: emitter.name, identity: identityOf(emitter) })
      }
      if (artifact === null && requester !== null) authors.push(requester)
      if (isOfChanges(definition, artifact)) authors.push(...(external.changes?.authors ?? []))
      return {
        role,
        artifact,
        author: by,
        identity,
        byAuthor: authors.some((author) => isSame(author, { name: by, identity })),
        current: contents.some((one) => one !== null && fingerprint(one) === content),
        ...(withdrawnAt !== undefined && { withdrawn: true as const }),
        ...(await independenceFor(role, artifact, identity)),
      }
    },
  )
  return Promise.all(observed)
}

/** By identity where both have one, else by name. */
function isSame(one: Author, other: Author): boolean {
  if (one.identity === null || other.identity === null) return one.name === other.name
  return one.identity === other.identity
}

function addSubmittedFiles(run: Run, files: ExternalState['submitted']): Run {
  const revision = run.revision + 1
  const more = files.map((file) => ({ ...file, revision, status: 'current' as const }))
  return { ...run, artifacts: mergeArtifacts(run.artifacts, more) }
}

/** The person or agent who moved the run to its state; null in the initial state. */
export async function requestAuthor(reads: Reads, loaded: LoadedRun): Promise<Author | null> {
  const event = await entryEvent(reads, loaded)
  return event && { name: event.author, identity: event.identity ?? null }
}

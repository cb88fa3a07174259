import { z } from 'zod'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { questionEvents, taskOwner } from '../../gate/operations/run/commands.ts'
import { ownWorkNotes } from '../../gate/operations/run/own-work.ts'
import type { Snapshot } from '../../git/ports/work-tree.ts'
import { BlockerEntry, WaitingEntry } from '../../inbox/operations/item-answer.ts'
import { callTo, Failure, fieldName, hintOf, inputFailure, sentenceOf } from '../../kernel/failure.ts'
import type { CaptureSessionId, TurnId } from '../../kernel/id.ts'
import { instant } from '../../kernel/instant.ts'
import { path, takenSnapshot, time } from '../../kernel/operations/fields.ts'
import { findMission, findPhase, findPlanned, findTask } from '../../kernel/operations/find.ts'
import {
  choice,
  count,
  identifier,
  name,
  text,
  texts,
  unlistedField,
} from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import {
  assertTime,
  measurement,
  requireMeasured,
  type WorkTree,
  withMachine,
} from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation, type RecordContext } from '../../kernel/operations/operation.ts'
import { excerpt } from '../../kernel/text.ts'
import {
  changedLineContext,
  changedLines,
  linesBrief,
  recordedLines,
  reportedBrief,
  reportedContents,
} from '../../lines/operations/record-lines.ts'
import { lostAccess } from '../../people/operations/lost-access.ts'
import { addToDoneWhen, noDoneWhen } from '../../plan/domain/done-when.ts'
import {
  DoneWhenEntry,
  doneWhenEntry,
  doneWhenField,
  givenDoneWhen,
  promisesOf,
} from '../../plan/operations/done-when.ts'
import { taskReviewFields } from '../../review/operations/agent-reviews.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { Mission } from '../domain/mission.ts'
import { admitTask } from '../domain/phase-placement.ts'
import { parseScope } from '../domain/scope/scope.ts'
import type { AreaCount } from '../domain/scope/survey.ts'
import {
  beginAttempt as decide,
  type StartedTask,
  scopeOfAttempt,
  type TaskSituation,
} from '../domain/start-task.ts'
import { ownOpenAttempt } from '../domain/take-over.ts'
import { type Attempt, callerTypes, type Task } from '../domain/task.ts'
import { areaSurvey, openAttemptsInTree, overlappingAttempts } from './areas.ts'
import {
  lossContext,
  lossNotes,
  lostBrief,
  lostContents,
  openLosses,
  openLossFields,
  recordedLosses,
} from './losses.ts'
import { askAfterAbandoned, checkMeasurements, unansweredChecks } from './task-checks.ts'
import { DependencyEntry, PastAttemptEntry, readTaskHistory } from './task-history.ts'

/** Mission Control's keys, what the areas matched, and the details of a planned task. */
const StartAnswer = z.object({
  task_id: z.string(),
  task_name: z.string(),
  attempt_id: z.string(),
  snapshot_id: z.string(),
  snapshot_type: z.enum(['git', 'checksum']),
  started_at: z.string(),
  phase_id: z.string().nullable(),
  phase_created: z.boolean(),
  phase_number: z.int().nullable(),
  caller_type: z.enum(callerTypes).nullable(),
  agent_name: z.string().nullable(),
  areas: list(z.object({ area: z.string(), files: z.int() })),
  /** The caller's open attempt goes on from its first snapshot. */
  continued: z.literal(true).optional(),
  warnings: strings,
  /** What its mission asks of every task. */
  constraints: z.string().optional(),
  /** Its promises with those of mission and project. */
  done_when: DoneWhenEntry.optional(),
  goal: z.string().nullable().optional(),
  phase: z.object({ id: z.string(), number: z.int().nullable(), name: z.string() }).nullable().optional(),
  depends_on: list(DependencyEntry).optional(),
  previous_attempts: list(PastAttemptEntry).optional(),
  waits_for: list(WaitingEntry).optional(),
  answered_blockers: list(BlockerEntry).optional(),
  ...openLossFields,
  ...taskReviewFields,
})

export const startTask = defineOperation({
  name: 'start_task',
  tool: 'start_task',
  command: 'task start',
  synonyms: { mission: 'mission_id', task_id: 'planned_task_id', id: 'planned_task_id', title: 'name' },
  toolset: 'track',
  audience: 'both',
  title: 'Start a task',
  description: 'Start a new task and create a Git snapshot',
  kind: 'command',
  positional: ['name'],
  input: z
    .strictObject({
      workflow_id: identifier('Workflow ID (legacy)').optional(),
      parent_task_id: identifier('Parent task ID').optional(),
      mission_id: identifier('Mission ID').optional(),
      phase: count('Phase number, created if new; default the current one', 1000).optional(),
      phase_id: unlistedField(identifier('Phase ID, instead of its number')).optional(),
      phase_name: name('Name of a new phase').optional(),
      caller_type: choice(callerTypes, 'Who calls', { sub_agent: 'subagent' }).optional(),
      agent_name: name('Your name').optional(),
      name: name('Short name; not needed for a planned task').optional(),
      goal: text('Precise goal').optional(),
      areas: texts(
        "Scope, the code you will touch: words, folders or globs (e.g., ['auth', 'src/api/', '!**/*.sql'])",
      ).optional(),
      planned_task_id: identifier('Planned task to work on, instead of a new one').optional(),
      claim_token: identifier('Token of your claim').optional(),
      done_when: unlistedField(doneWhenField('When it is done, as in plan_tasks')).optional(),
      force: z.boolean().describe('Start although a dependency is open').optional(),
      take_over: z
        .boolean()
        .describe('Abandon a stale attempt at the planned task, or use a claim of your own')
        .optional(),
      work_tree: text("Folder of the git work tree, if not the server's own").optional(),
    })
    // The name is optional only beside planned_task_id, which the plain schemas of clients cannot express.
    .meta({ required: ['name'] }),
  output: StartAnswer,
  listedOutput: [
    'task_id',
    'attempt_id',
    'snapshot_id',
    'snapshot_type',
    'started_at',
    'phase_id',
    'phase_created',
    'caller_type',
    'agent_name',
    'areas',
    'warnings',
  ],
})
  .measure({
    ownTree: measurement({
      brief: z.strictObject({}),
      measured: z.strictObject({ planned: z.string().max(200).nullable() }),
      measure: async (workTree, _, input) => ({
        planned: await taskOfTree(workTree, input as WorkTreeInput),
      }),
    }),
    start: measurement({
      brief: z.strictObject({ planned: z.string().nullable(), overHttp: z.boolean() }),
      measured: takenSnapshot.extend({ takenAt: time, ownTree: path.nullable() }),
      ingests: true,
      measure: async (workTree, { planned, overHttp }, input) => {
        const requested = (input as WorkTreeInput).work_tree
        const ownTree =
          requested === undefined && planned !== null ? await treeOfTask(workTree, planned) : null
        const folder = await requestedWorkTree(workTree, ownTree ?? requested, overHttp)
        const takenAt = workTree.now()
        const taken = await workTree.witness.snapshot({ folder, name: workTree.snapshotName() })
        return { ...taken, takenAt, ownTree }
      },
    }),
    areas: areaSurvey,
    reported: reportedContents,
    lines: changedLines,
    lost: lostContents,
    commands: checkMeasurements.commands,
  })
  .prepare(async (reads, received, context, measured) => {
    const isUnnamed = received.name === undefined && received.planned_task_id === undefined
    if (isUnnamed && measured.ownTree === undefined) return { briefs: { ownTree: {} }, found: null }
    const own = isUnnamed ? measured.ownTree?.planned : null
    const planned = own == null ? received : { ...received, planned_task_id: own }
    assertTaskNamed(planned)
    const input = await resolveNamedPhase(reads, planned)
    const taken = measured.start && {
      at: assertTime(context, measured.start.takenAt),
      place: withMachine(context, measured.start.ref),
    }
    // One round trip: while the project is locked, every query delays other callers.
    const [situation, lineContext, open, session] = await Promise.all([
      loadSituation(reads, input, context.clock.now()),
      taken ? changedLineContext(reads, taken) : null,
      taken ? openAttemptsInTree(reads, taken.place, taken.at) : [],
      sessionOfCaller(reads, context),
      refuseIdAsName(reads, input),
    ])
    admitTask(situation)
    const briefs = {
      ...(isUnnamed && { ownTree: {} }),
      start: { planned: input.planned_task_id ?? null, overHttp: context.actor.channel === 'http' },
    }
    if (taken === undefined) return { briefs, found: null }
    const ref = taken.place
    const resumed = ownOpenAttempt(situation.last, {
      actor: context.actor,
      agentName: input.agent_name ?? null,
      takeOver: input.take_over ?? false,
    })
    const areas = resumed?.areas ?? scopeOfAttempt(input.areas ?? [], situation.planned?.task, situation)
    const openAttempts = areas.length === 0 ? [] : open
    const losses = lineContext && (await lossContext(reads, lineContext))
    const { planned: plannedTask, mission } = situation
    const checks = await unansweredChecks(reads, {
      context,
      promises: await promisesOf(reads, {
        missionId: mission?.id ?? null,
        doneWhen: addToDoneWhen(plannedTask?.task.doneWhen ?? noDoneWhen, givenDoneWhen(input) ?? {}),
      }),
      place: ref,
      measured: { ...(measured.commands && { commands: measured.commands }) },
    })
    const { unanswered } = checks
    const found = { input, situation, areas, ref, openAttempts, lineContext, losses, session, unanswered }
    const isRecording = lineContext !== null
    const { reported } = measured
    return {
      briefs: {
        ...briefs,
        ...(areas.length > 0 && {
          areas: {
            ref,
            areas,
            others: openAttempts.map((other) => ({ areas: other.areas, prefix: other.snapshot.prefix })),
          },
        }),
        ...(isRecording && { reported: reportedBrief(lineContext, taken) }),
        ...(lineContext?.isOn && reported && { lines: linesBrief(lineContext, taken, reported) }),
        // Together with the lines, because both start git.
        ...(isRecording && losses && reported && { lost: lostBrief(losses, taken) }),
        ...checks.briefs,
      },
      found,
    }
  })
  .record(async ({ reads, found, measured, context, setting }) => {
    const { input, situation, areas, ref, openAttempts, lineContext, losses, session, unanswered } =
      requireMeasured(found ?? undefined)
    const { takenAt: snapshotAt, ownTree, ...snapshot } = requireMeasured(measured.start)
    const { actor } = context
    const { reported, lines = null } = measured
    const started = decide(
      {
        name: input.name ?? null,
        goal: input.goal ?? null,
        areas: input.areas ?? [],
        phase: input.phase ?? null,
        phaseName: input.phase_name ?? null,
        callerType: input.caller_type ?? null,
        agentName: input.agent_name ?? null,
        takeOver: input.take_over ?? false,
        claimToken: input.claim_token ?? null,
        doneWhen: givenDoneWhen(input),
        force: input.force ?? false,
        actor,
        snapshot: ref,
        snapshotAt,
      },
      situation,
      setting,
    )
    const overlaps = measured.areas?.overlaps ?? []
    const overlapNotes = await overlappingAttempts(reads, started, {
      areas,
      byAttempt: new Map(openAttempts.map(({ id }, index) => [id, overlaps[index] ?? []])),
    })
    const notes =
      ownTree === null
        ? []
        : [`The task has a work tree of its own, ${ownTree}: edit there, only that is measured.`]
    const survey = measured.areas?.matched ?? []
    const answer = startAnswer(started, { snapshot, survey, overlapNotes: [...notes, ...overlapNotes] })
    const history = input.planned_task_id === undefined ? {} : await plannedTaskHistory(reads, started)
    const recorded =
      lineContext && reported
        ? recordedLines(lineContext, { at: snapshotAt, place: ref }, { reported, lines })
        : []
    const lost =
      lineContext && losses && !started.resumed
        ? await recordedLosses(reads, { lines: lineContext, losses }, measured.lost, {
            now: { at: snapshotAt, place: ref },
            setting,
          })
        : []
    const scope = parseScope(areas, { prefix: ref.prefix })
    const open = await openLosses(reads, { missionId: started.task.missionId, scope })
    const doneWhen = doneWhenEntry(await promisesOf(reads, started.task))
    // A resumed attempt keeps its first snapshot.
    const events = started.resumed
      ? started.events
      : [...recorded, ...lost, ...started.events, ...linkTo(session, started.attempt)]
    const owner = taskOwner(started.task)
    const asked = await questionEvents(reads, unanswered, { owner, machine: context.machine, setting })
    const shared = await askAfterAbandoned(reads, started.events, setting)
    return {
      events: [...events, ...asked, ...shared],
      agentName: started.attempt.agentName,
      answer: {
        ...answer,
        warnings: [
          ...answer.warnings,
          ...lossNotes(lost),
          ...askedNotes(asked),
          ...criteriaNotes(doneWhen?.criteria),
          ...(await gateNotes(reads, started.task, context)),
        ],
        ...constraintsOf(situation.mission),
        ...(doneWhen && { done_when: doneWhen }),
        ...history,
        ...open,
      },
    }
  })

const maxConstraints = 2_000

function constraintsOf(mission: Mission | null): { readonly constraints?: string } {
  const constraints = mission?.constraints ?? ''
  return constraints === '' ? {} : { constraints: excerpt(constraints, maxConstraints) }
}

/** How the criteria are answered: the list of tools leaves the field out, because few tasks have some. */
function criteriaNotes([first]: readonly string[] = []): readonly string[] {
  if (first === undefined) return []
  const answer = JSON.stringify([{ criterion: first, met: true, how: '…' }])
  return [`Answer each criterion in the outcome when you complete the task: "criteria": ${answer}.`]
}

/** Which checks a person was asked about just now. */
function askedNotes(events: readonly NewProjectEvent[]): readonly string[] {
  const requests = events.flatMap((event) =>
    event.kind === 'inbox.opened' ? (event.item.request ?? []) : [],
  )
  const runs = requests.flatMap((request) => (request.kind === 'command' ? [`"${request.run}"`] : []))
  if (runs.length === 0) return []
  return [`A person was asked whether ${runs.join(', ')} may run at the end. Do not wait for it: go on.`]
}

/** Says to a person before the work that its gate asks for an approval which they then cannot give. */
async function gateNotes(
  { runs }: Reads,
  { missionId }: Task,
  context: RecordContext,
): Promise<readonly string[]> {
  if (missionId === null || context.actor.kind !== 'person') return []
  const [gate] = (await runs.gating({ missionId })).filter((run) => run.missionId === missionId)
  const definition = gate ? await runs.definition(gate.process.hash) : null
  return gate && definition ? ownWorkNotes(definition, context) : []
}

interface CallerSession {
  readonly id: CaptureSessionId
  /** The turn of its main agent, where one is open. */
  readonly turnId: TurnId | null
  readonly link: 'call' | 'environment'
}

/** The captured session of the call, where its client names it. */
async function sessionOfCaller(
  { capture }: Reads,
  { caller }: Pick<RecordContext, 'caller'>,
): Promise<CallerSession | null> {
  const session = caller ? await capture.byClientSession(caller.session) : null
  if (!caller || session === null) return null
  const turn = (await capture.openTurns(session.id)).findLast(({ agent }) => agent === null)
  return { id: session.id, turnId: turn?.id ?? null, link: caller.link }
}

function linkTo(session: CallerSession | null, attempt: Attempt): readonly NewProjectEvent[] {
  if (session === null) return []
  const { id: attemptId, taskId, missionId } = attempt
  const { id: sessionId, turnId, link } = session
  return [{ kind: 'attempt.linked', attemptId, taskId, missionId, sessionId, turnId, agentId: null, link }]
}

interface ContainerInput {
  readonly workflow_id?: string | undefined
  readonly mission_id?: string | undefined
  readonly parent_task_id?: string | undefined
  readonly planned_task_id?: string | undefined
  readonly claim_token?: string | undefined
}

/** Reads the situation that `startTask` decides on. Fails with NOT_FOUND for a missing container. */
async function loadSituation(reads: Reads, input: ContainerInput, now: number): Promise<TaskSituation> {
  const planned = input.planned_task_id === undefined ? null : await findPlanned(reads, input.planned_task_id)
  const parentId = input.parent_task_id ?? planned?.task.parentTaskId ?? undefined
  const [parent, last, home, dependencies, token] = await Promise.all([
    parentId === undefined ? null : findTask(reads, parentId),
    planned ? reads.tasks.lastAttempt(planned.task.id) : null,
    planned?.task.phaseId ? reads.missions.phaseById(planned.task.phaseId) : null,
    planned ? reads.tasks.dependencies(planned.task.id) : [],
    planned && input.claim_token !== undefined ? reads.plan.taskOfToken(input.claim_token) : null,
  ])
  const [parentAttempt, above, items, lost] = await Promise.all([
    parent ? reads.tasks.openAttempt(parent.id) : null,
    parent ? reads.tasks.ancestors([parent.id]) : null,
    last ? reads.inboxItems.ofAttempt(last.id) : [],
    last?.status === 'open' ? lostAccess(reads, last.actor, now) : null,
  ])
  const mission = await missionOf(reads, input, { planned: planned?.task ?? null, parent, parentAttempt })
  return {
    mission,
    phases: mission ? await reads.missions.phases(mission.id) : [],
    home,
    parent,
    parentAttempt,
    aboveParent: (parent && above?.get(parent.id)) ?? [],
    planned,
    last,
    items,
    lostAccess: lost,
    dependencies,
    taskOfToken: token,
  }
}

/** Takes a planned task out of its mission, as `mission: none` names the project's own plan. */
const noMission = 'none'

async function missionOf(
  reads: Reads,
  { mission_id, workflow_id }: ContainerInput,
  related: { readonly planned: Task | null } & Pick<TaskSituation, 'parent' | 'parentAttempt'>,
): Promise<Mission | null> {
  if (mission_id !== undefined && workflow_id !== undefined && mission_id !== workflow_id) {
    throw new Failure(
      'INVALID_INPUT',
      `A task belongs to either mission ${mission_id} or workflow ${workflow_id}, not both.`,
      { reason: 'mission_and_workflow', hint: 'Give mission_id or workflow_id, not both.' },
    )
  }
  const named = mission_id ?? workflow_id
  if (named === noMission) return null
  if (named !== undefined) return findMission(reads, named)
  const inherited =
    related.planned?.missionId ?? related.parentAttempt?.missionId ?? related.parent?.missionId
  return inherited ? findMission(reads, inherited) : null
}

function assertTaskNamed(input: {
  readonly name?: string | undefined
  readonly planned_task_id?: string | undefined
}): void {
  if (input.name !== undefined || input.planned_task_id !== undefined) return
  throw inputFailure('start_task', sentenceOf`${fieldName('name')} is missing.`, {
    reason: 'input_invalid',
    hint: 'Pass name and goal for a new task, or planned_task_id for a planned one.',
    details: { fields: ['name'] },
  })
}

const idLike = /^[\w.:-]+$/

/** A task id given as the name of a new task is refused. */
async function refuseIdAsName(
  reads: Reads,
  {
    name,
    planned_task_id: planned,
  }: { readonly name?: string | undefined; readonly planned_task_id?: string | undefined },
): Promise<void> {
  if (planned !== undefined || name === undefined || !idLike.test(name)) return
  const task = await reads.tasks.find(name)
  if (task === null) return
  throw new Failure(
    'INVALID_INPUT',
    `"${name}" is the id of task "${task.name}", not the name of a new task.`,
    {
      reason: 'name_is_task_id',
      hint: hintOf`Work on it with ${callTo('start_task', { planned_task_id: name })}. A new task needs a name in words.`,
      details: { task_id: task.id },
    },
  )
}

interface WorkTreeInput {
  readonly name?: string | undefined
  readonly planned_task_id?: string | undefined
  readonly work_tree?: string | undefined
}

/** The task that the work tree was created for; null if there is none. */
async function taskOfTree(
  { linkedTrees, witness, folder }: WorkTree,
  { work_tree: workTree = folder }: WorkTreeInput,
): Promise<string | null> {
  const bound = await linkedTrees.bound(folder)
  if (bound.length === 0) return null
  const { top } = await witness.locate(isAbsolute(workTree) ? workTree : `${folder}/${workTree}`)
  return bound.find((tree) => tree.path === top)?.taskId ?? null
}

/** The work tree that was created for a task, where it is a different one. */
async function treeOfTask(
  { linkedTrees, witness, folder }: WorkTree,
  planned: string,
): Promise<string | null> {
  const own = (await linkedTrees.bound(folder)).find(({ taskId }) => taskId === planned)
  return own && own.path !== (await witness.locate(folder)).top ? own.path : null
}

interface PhaseInput {
  readonly phase_id?: string | undefined
  readonly phase?: number | undefined
  readonly mission_id?: string | undefined
  readonly workflow_id?: string | undefined
}

/** Replaces a phase id by its mission and number. */
async function resolveNamedPhase<Input extends PhaseInput>(reads: Reads, input: Input): Promise<Input> {
  const { phase_id: id, mission_id, workflow_id } = input
  if (id === undefined) return input
  const phase = await findPhase(reads, id)
  if (phase.missionId === null || phase.number === null) {
    throw new Failure('INVALID_INPUT', `Phase ${id} "${phase.name}" has no number in a mission.`, {
      reason: 'phase_without_mission',
      hint: hintOf`Add a task to it with ${callTo('taskman_task_add', { title: undefined, phase: id })}, and start it with ${callTo('start_task', { planned_task_id: undefined })}.`,
    })
  }
  const named = mission_id ?? workflow_id ?? phase.missionId
  if (named !== phase.missionId || (input.phase !== undefined && input.phase !== phase.number)) {
    throw new Failure(
      'CONFLICT',
      `Phase ${id} is phase ${phase.number} of ${phase.missionId}, not of ${named}${input.phase === undefined ? '' : `, phase ${input.phase}`}.`,
      { reason: 'phase_of_other_mission', hint: 'Pass the mission and the phase number only.' },
    )
  }
  return { ...input, phase: phase.number, ...(workflow_id === undefined && { mission_id: phase.missionId }) }
}

/** The folder to measure: the connection's own, or another work tree of the same repository. */
async function requestedWorkTree(
  { witness, folder }: WorkTree,
  requested: string | undefined,
  overHttp: boolean,
): Promise<string> {
  if (requested === undefined) {
    if (overHttp) await assertOnlyTree(witness, folder)
    return folder
  }
  // Not relative to the process's working directory: a client starts its servers anywhere.
  const workTree = isAbsolute(requested) ? requested : `${folder}/${requested}`
  const [own, other] = await Promise.all([witness.locate(folder), witness.locate(workTree)])
  if (own.mainTop === other.mainTop) return workTree
  throw new Failure(
    'INVALID_INPUT',
    `The work tree ${requested} belongs to ${other.mainTop}, not to this project (${own.mainTop}).`,
    {
      reason: 'work_tree_of_other_project',
      hint: 'Name a work tree of this repository, or omit work_tree.',
    },
  )
}

const maxListed = 5

/** The server does not run where its clients work: with several work trees it cannot tell which is meant. */
async function assertOnlyTree(witness: WorkTree['witness'], folder: string): Promise<void> {
  const others = await witness.others(folder)
  if (others.length === 0) return
  const { top } = await witness.locate(folder)
  const listed = [top, ...others].slice(0, maxListed).join(', ')
  const more = others.length + 1 > maxListed ? `, and ${others.length + 1 - maxListed} more` : ''
  throw inputFailure(
    'start_task',
    sentenceOf`${fieldName('work_tree')} is missing. Over HTTP, Waymark cannot see which of ${others.length + 1} work trees you use: ${listed}${more}.`,
    { reason: 'work_tree_missing', hint: 'Pass the folder whose files you edit as work_tree.' },
  )
}

function isAbsolute(path: string): boolean {
  return /^(?:[/\\]|[a-z]:)/i.test(path)
}

const maxAreas = 20

/** The answer of start_task: Mission Control's keys, then area matches and warnings. */
function startAnswer(
  started: StartedTask,
  measured: {
    readonly snapshot: Pick<Snapshot, 'dirty' | 'notes'>
    readonly survey: readonly AreaCount[]
    readonly overlapNotes: readonly string[]
  },
) {
  const { task, attempt, phase } = started
  const { survey } = measured
  return {
    task_id: task.id,
    task_name: excerpt(task.name, 120),
    attempt_id: attempt.id,
    snapshot_id: attempt.snapshot.id,
    snapshot_type: attempt.snapshot.engine,
    started_at: instant(attempt.openedAt),
    phase_id: phase?.id ?? null,
    phase_created: started.phaseCreated,
    phase_number: phase?.number ?? null,
    caller_type: attempt.callerType,
    agent_name: attempt.agentName,
    areas: survey.slice(0, maxAreas).map(({ area, files }) => ({ area: excerpt(area, 120), files })),
    ...(started.resumed && { continued: true as const }),
    warnings: [
      ...(started.resumed
        ? [`Attempt ${attempt.id} was already open. It continues from its first snapshot.`]
        : []),
      ...started.notes,
      ...measured.snapshot.notes,
      ...(started.resumed ? [] : dirtyNote(measured.snapshot.dirty, attempt.number)),
      ...(started.resumed ? [] : unmatchedNotes(survey, task.goal)),
      ...measured.overlapNotes,
    ],
  }
}

const wordsForNew = /\b(?:new|add|create|introduce|write)\b/i

/** Whether a goal names an area, by its path or the end of it, and speaks of something new. */
function isCalledNew(area: string, goal: string): boolean {
  const name =
    area
      .replace(/[/*]+$/, '')
      .split('/')
      .at(-1) ?? ''
  return name !== '' && wordsForNew.test(goal) && goal.toLowerCase().includes(name.toLowerCase())
}

/** The goal, dependencies and earlier attempts of a planned task. */
async function plannedTaskHistory(reads: Reads, started: StartedTask) {
  const { task, phase } = started
  const { dependencies, ...rest } = await readTaskHistory(reads, task.id)
  return {
    goal: task.goal,
    phase: phase && { id: phase.id, number: phase.number, name: phase.name },
    depends_on: dependencies,
    ...rest,
  }
}

const maxDirty = 5

function dirtyNote(dirty: readonly string[], attempt: number): readonly string[] {
  if (dirty.length === 0) return []
  const more = dirty.length > maxDirty ? ` and ${dirty.length - maxDirty} more` : ''
  const listed = dirty.slice(0, maxDirty).map((path) => excerpt(path, 120))
  return [
    `${dirty.length === 1 ? '1 file already has' : `${dirty.length} files already have`} uncommitted changes: ${listed.join(', ')}${more}. Only what changes from now on counts as yours${attempt > 1 ? ', and what earlier attempts at this task changed' : ''}.`,
  ]
}

const maxUnmatched = 5

/** Areas without files, except those that the goal calls new. */
function unmatchedNotes(survey: readonly AreaCount[], goal: string | null): readonly string[] {
  const unmatched = survey.filter(({ area, files }) => files === 0 && !isCalledNew(area, goal ?? ''))
  const more = unmatched.length - maxUnmatched
  return [
    ...unmatched
      .slice(0, maxUnmatched)
      .map(
        ({ area }) =>
          `Scope "${excerpt(area, 120)}" matches no file yet. Check the spelling, unless it is for new files.`,
      ),
    ...(more > 0 ? [`${more} more paths of the scope match no file yet.`] : []),
  ]
}

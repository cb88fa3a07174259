import type { NewProjectEvent } from '../../../events/domain/project-event.ts'
import { concurrentChangeFailure } from '../../../inbox/operations/approval-content.ts'
import { type Actor, type Author, identityOf, isAuthoredBy } from '../../../kernel/actor.ts'
import { callTo, Failure, hintOf } from '../../../kernel/failure.ts'
import type { TransactionContext } from '../../../kernel/id.ts'
import { instant } from '../../../kernel/instant.ts'
import type { RecordContext } from '../../../kernel/operations/operation.ts'
import { shellCommand } from '../../../kernel/shell-word.ts'
import { joinNames } from '../../../kernel/text.ts'
import { hasAccess, hasGateRole } from '../../../people/domain/access.ts'
import type { Reads } from '../../../store/ports/store.ts'
import type { Task } from '../../../track/domain/task.ts'
import { approvedContent, isOfChanges } from '../../domain/approved-content.ts'
import { isOfType } from '../../domain/artifacts.ts'
import { awaitedDecision, decisionItem, isForPeople } from '../../domain/decisions.ts'
import { eventNamed, type ProcessDefinition } from '../../domain/definition.ts'
import type { ObservedApproval } from '../../domain/evidence.ts'
import { guardNames } from '../../domain/expression.ts'
import type { Run, RunApproval, RunRecord } from '../../domain/run.ts'
import type { LoadedRun } from '../../ports/run-reads.ts'
import type { ApprovalEntry } from '../run-answer.ts'
import { requestAuthor } from './evidence.ts'
import type { ExternalState } from './external-state.ts'
import { independenceOf, requiresIndependence, type Worker, workersOf } from './independence.ts'
import { isAlone, peopleAtWork, waysOut } from './own-work.ts'

/** An approval as a person gives it. */
export interface ApprovalInput {
  readonly role: string
  /** A type of artifacts; null for the run in its state. */
  readonly artifact: string | null
  readonly reason: string | null
  /** The reviewed content: a change since then is refused. */
  readonly reviewed?: string | null
}

interface ApprovalContext {
  readonly reads: Reads
  readonly loaded: LoadedRun
  readonly run: Run
  readonly external: ExternalState
  readonly handling: RecordContext
  /** The person or agent who brought the run to its state, and so cannot approve it. */
  readonly requester: Author | null
  /** Earlier approvals of the run. */
  readonly priorApprovals: readonly RunApproval[]
}

export interface ApprovalSet {
  readonly recorded: readonly NewProjectEvent[]
  readonly observed: readonly ObservedApproval[]
  /** Approvals that the same person gave before for the same content; they count once. */
  readonly already: readonly RunApproval[]
}

/** Creates approvals of the current content. Fails if there is nothing to approve, or if it is one's own work. */
export async function giveApprovals(
  { reads, loaded, run, external, handling, requester, priorApprovals }: ApprovalContext,
  inputs: readonly ApprovalInput[],
  setting: TransactionContext,
): Promise<ApprovalSet> {
  const { record, definition } = loaded
  const { actor } = handling
  const by = actor.name
  const identity = identityOf(actor)
  const changeAuthors = external.changes?.authors ?? []
  for (const approval of inputs) {
    const refusal = await approvalRefusal(reads, loaded, { handling, approval, requester, changeAuthors })
    if (refusal) throw refusal
  }
  const approvals = inputs.map(({ role, artifact: of, reason, reviewed }): RunApproval => {
    const contentOf = (work: Pick<ExternalState, 'changes'> & { readonly tree: string | null }) =>
      approvedContent(definition, run, { artifact: of, ...work })
    const content = contentOf({ tree: external.approvedTree, changes: external.changes })
    if (content === null && isOfChanges(definition, of)) throw unmeasuredRunFailure(record)
    if (content === null) {
      throw new Failure('REFUSED', `Run ${record.id} has no "${of}" to approve.`, {
        reason: 'artifact_not_submitted',
        hint: `waymark run show ${record.id} shows the submitted files.`,
      })
    }
    const fingerprint = handling.fingerprint(content)
    if (reviewed !== undefined && reviewed !== fingerprint) throw concurrentChangeFailure(record.id)
    // Files that are as recorded are approved as recorded, which every machine can compare. An agent's event needs the files.
    const { recorded } = external
    const isOfRecord = recorded !== null && !isNeededByAgents(definition, { role, artifact: of })
    const bound = isOfRecord ? contentOf(recorded) : null
    return {
      runId: record.id,
      role,
      artifact: of,
      content: bound === null ? fingerprint : handling.fingerprint(bound),
      reason,
      author: by,
      identity,
      createdAt: setting.at,
    }
  })
  const priorOf = (approval: RunApproval) => priorApprovals.find((earlier) => isRepeated(earlier, approval))
  const fresh = approvals.filter((approval) => priorOf(approval) === undefined)
  return {
    recorded: fresh.map((approval) => ({
      kind: 'run.approved',
      runId: record.id,
      missionId: record.missionId,
      taskId: record.taskId,
      approval,
    })),
    observed: fresh.map(({ role, artifact }) => ({
      role,
      artifact,
      author: by,
      identity,
      byAuthor: false,
      current: true,
      independence: 'independent',
    })),
    already: approvals.flatMap((approval) => priorOf(approval) ?? []),
  }
}

/** Whether an event that agents may send needs such an approval. */
function isNeededByAgents(
  definition: ProcessDefinition,
  { role, artifact }: Pick<ApprovalInput, 'role' | 'artifact'>,
): boolean {
  const guards = definition.guards.flatMap(({ name, guard }) =>
    guard.type === 'approval' && guard.role === role && guard.artifact === artifact ? [name] : [],
  )
  return definition.transitions.some(({ event, guard }) => {
    const sent = eventNamed(definition, event)
    const isNeeded = guardNames(guard).some((name) => guards.includes(name))
    return isNeeded && sent !== undefined && !isForPeople(definition, sent)
  })
}

/** Why a person cannot give an approval, whatever its content; null if they can. */
async function approvalRefusal(
  reads: Reads,
  loaded: LoadedRun,
  {
    handling,
    approval: { role, artifact: of },
    requester,
    changeAuthors,
  }: Pick<ApprovalContext, 'requester'> & {
    readonly handling: Pick<RecordContext, 'actor' | 'permissions'>
    readonly approval: Pick<ApprovalInput, 'role' | 'artifact'>
    /** People who made some of the changes themselves. */
    readonly changeAuthors: readonly Author[]
  },
): Promise<Failure | null> {
  const { record, definition, artifacts } = loaded
  const { actor } = handling
  const withoutRole = roleFailure(handling, role)
  if (withoutRole) return withoutRole
  if (requiresIndependence(definition, { role, artifact: of })) {
    const sender = of === null && requester !== null ? [requester] : []
    const involved = independenceFailure(handling, await workersOf(reads, loaded, of, sender), record)
    if (involved) return involved
  }
  const own = (author: Author) => isAuthoredBy(author, actor)
  const worker = isOfChanges(definition, of) ? changeAuthors.find(own) : undefined
  if (worker)
    return ownWorkFailure(handling, worker, { did: `did part of the work in run ${record.id}`, record })
  const file = artifacts
    .filter((artifact) => of === null || isOfType(definition.artifacts, artifact, of))
    .map((artifact): Author => ({ name: artifact.author, identity: artifact.identity ?? null }))
    .find(own)
  if (file)
    return ownWorkFailure(handling, file, {
      did: `submitted the files to approve in run ${record.id}`,
      record,
    })
  if (of !== null || requester === null || !own(requester)) return null
  const did = `brought run ${record.id} to "${record.state}", the state to approve`
  return ownWorkFailure(handling, requester, { did, record })
}

/** Why a person cannot give the approvals that a run waits for now; null if they can, or if it waits for none. */
export async function awaitedApprovalRefusal(
  reads: Reads,
  loaded: LoadedRun,
  handling: Pick<RecordContext, 'actor' | 'permissions'>,
): Promise<Failure | null> {
  const { record, definition } = loaded
  if (handling.actor.kind !== 'person' || record.status !== 'active') return null
  const approvals = awaitedDecision(definition, record.state)?.approvals ?? []
  if (approvals.length === 0) return null
  const requester = await requestAuthor(reads, loaded)
  const isOfWork = approvals.some(({ artifact }) => isOfChanges(definition, artifact))
  const changeAuthors = isOfWork ? await peopleAtWork(reads, record) : []
  for (const approval of approvals) {
    const refusal = await approvalRefusal(reads, loaded, { handling, approval, requester, changeAuthors })
    if (refusal?.reason === 'gate_role_missing')
      return withPeopleOfRole(reads, refusal, { loaded, approval, requester })
    if (refusal) return refusal
  }
  return null
}

/** Names who has the gate role that the caller has not, and may approve in it. */
async function withPeopleOfRole(
  reads: Reads,
  refusal: Failure,
  {
    loaded,
    approval: { role, artifact: of },
    requester,
  }: Pick<ApprovalContext, 'requester'> & {
    readonly loaded: LoadedRun
    readonly approval: Pick<ApprovalInput, 'role' | 'artifact'>
  },
): Promise<Failure> {
  const members = (await reads.identities.members()).filter(({ member }) => member.roles.includes(role))
  if (members.length === 0) return refusal
  const sender = of === null && requester !== null ? [requester] : []
  const workers = requiresIndependence(loaded.definition, { role, artifact: of })
    ? await workersOf(reads, loaded, of, sender)
    : []
  const able = members.flatMap(({ member, person }) =>
    hasAccess({ access: member.access, admin: person.admin }, 'maintainer') &&
    independenceOf(person.id, workers) !== 'own'
      ? [person.name]
      : [],
  )
  const who =
    able.length > 0
      ? `${joinNames(able.slice(0, 5))} can approve it.`
      : 'Nor can those who have it: each did part of the work, or has less than maintainer access.'
  return new Failure(refusal.code, `${refusal.message} ${who}`, {
    reason: 'gate_role_missing',
    ...(refusal.hint !== undefined && { hint: refusal.hint }),
  })
}

/** On a team server people approve in their gate roles. */
function roleFailure({ permissions }: Pick<RecordContext, 'permissions'>, role: string): Failure | null {
  if (!permissions || hasGateRole(permissions, role)) return null
  const { personName: name, roles } = permissions
  // It sets all of them.
  const all = [...roles, role].join(',')
  return new Failure('FORBIDDEN', `${name} does not have the gate role "${role}" in this project.`, {
    reason: 'gate_role_missing',
    hint: `An owner can add it: ${shellCommand`waymark member set ${name} --roles ${all}`}`,
  })
}

/** An independent approver did none of the work, not even by an agent. */
function independenceFailure(
  { actor: { name, person: personId }, permissions }: Pick<RecordContext, 'actor' | 'permissions'>,
  workers: readonly Worker[],
  record: RunRecord,
): Failure | null {
  const { id } = record
  const person = personId ?? null
  const independence = independenceOf(person, workers)
  if (independence === 'independent') return null
  if (independence === 'own') {
    const mine = workers.find((worker) => worker.person === person)
    const who = mine?.name === name ? name : `${mine?.name}, an agent of ${name},`
    return new Failure(
      'FORBIDDEN',
      `${who} did part of the work in run ${id}, and its process needs an approval by someone else.`,
      { reason: 'own_work', hint: 'Ask another member of the project to approve it.' },
    )
  }
  const unknown = workers.find((worker) => worker.person === null)
  return new Failure(
    'REFUSED',
    person === null
      ? `The process of run ${id} needs an approval by someone who was not involved, and the person behind ${name} is unknown here.`
      : `The process of run ${id} needs an approval by someone who was not involved, and the person behind ${unknown?.name ?? 'an agent'} is unknown.`,
    {
      reason: 'author_unknown',
      hint: isAlone(permissions)
        ? aloneHint(record)
        : 'Use tokens of people, on a server with a shared database: waymark token create',
    },
  )
}

function unmeasuredRunFailure({ id, missionId, taskId }: RunRecord): Failure {
  const why =
    missionId === null && taskId === null
      ? `Run ${id} gates no mission or task, so it has no measured changes to approve.`
      : `Cannot approve the changes of run ${id}: no task was started, or part of them could not be measured.`
  return new Failure('REFUSED', why, {
    reason: 'work_not_measured',
    hint: hintOf`Start the run for a mission or a task, and work there in tasks: ${callTo('start_task')}, ${callTo('complete_task')}.`,
  })
}

/** Withdraws a person's approvals of a run whose work they sent back; none if they gave none. */
export async function withdrawApprovals(
  reads: Reads,
  run: RunRecord,
  sender: { readonly actor: Actor; readonly setting: TransactionContext },
): Promise<readonly NewProjectEvent[]> {
  const { actor } = sender
  if (actor.kind !== 'person') return []
  const identity = identityOf(actor)
  const own = (await reads.runs.approvals(run.id)).some(
    (approval) => approval.identity === identity && approval.withdrawnAt === undefined,
  )
  return own ? [approvalsWithdrawn(run, sender)] : []
}

/** Withdraws the approvals of a person who sent tasks back, in the runs of those tasks and of their missions. */
export async function withdrawForTasks(
  reads: Reads,
  tasks: readonly Pick<Task, 'id' | 'missionId'>[],
  sender: {
    readonly actor: Actor
    readonly setting: TransactionContext
    /** Runs that are decided in the same transaction, and so withdrawn from. */
    readonly decided: ReadonlySet<string>
  },
): Promise<readonly NewProjectEvent[]> {
  const { actor, setting, decided } = sender
  if (actor.kind !== 'person') return []
  const missionIds = [...new Set(tasks.flatMap(({ missionId }) => missionId ?? []))]
  const subjects = { taskIds: tasks.map(({ id }) => id), missionIds }
  const approved = await reads.runs.approvedBy(identityOf(actor), subjects)
  const runs = approved.filter(({ id }) => !decided.has(id))
  const open = await reads.inboxItems.ofRuns(runs.map(({ id }) => id))
  const runsAwaitingApproval = new Set(open.flatMap(({ kind, runId }) => (kind === 'approval' ? runId : [])))
  // Each run stays in its state, and asks for the approval again.
  const events = await Promise.all(
    runs.map(async (run) => {
      const definition = runsAwaitingApproval.has(run.id)
        ? null
        : await reads.runs.definition(run.process.hash)
      const item = definition && decisionItem(definition, run, setting)
      const withdrawn = approvalsWithdrawn(run, sender)
      return item ? [withdrawn, { kind: 'inbox.opened' as const, item }] : [withdrawn]
    }),
  )
  return events.flat()
}

function approvalsWithdrawn(
  { id: runId, missionId, taskId }: RunRecord,
  { actor, setting }: { readonly actor: Actor; readonly setting: TransactionContext },
): NewProjectEvent {
  const [identity, author] = [identityOf(actor), actor.name]
  return {
    kind: 'run.approvals_withdrawn',
    runId,
    missionId,
    taskId,
    identity,
    author,
    withdrawnAt: setting.at,
  }
}

function isRepeated(earlier: RunApproval, { role, artifact, content, identity }: RunApproval): boolean {
  return (
    earlier.withdrawnAt === undefined &&
    earlier.role === role &&
    earlier.artifact === artifact &&
    earlier.content === content &&
    earlier.identity === identity
  )
}

function ownWorkFailure(
  { actor, permissions }: Pick<RecordContext, 'actor' | 'permissions'>,
  author: Author,
  { did, record }: { readonly did: string; readonly record: RunRecord },
): Failure {
  const { name: by } = actor
  const called = author.name === by ? by : `${by}, here the same person as ${author.name},`
  return new Failure('FORBIDDEN', `${called} ${did}. Nobody can approve their own work.`, {
    reason: 'own_work',
    hint: isAlone(permissions) ? aloneHint(record) : 'Ask another member of the project to approve it.',
  })
}

function aloneHint(record: RunRecord): string {
  return [...waysOut(record).map(({ verb, command }) => `${verb}: ${command}`), secondPerson].join('\n')
}

/** The advice for getting a second person: another name does not make one. */
const secondPerson =
  'A second person needs a shared server: set WAYMARK_DATABASE, and add them with waymark person add <name>.'

/** The note for a person who gave the same approval before; empty for others. */
export function priorApprovalsNote(already: readonly RunApproval[]): {
  readonly already_approved?: readonly Pick<ApprovalEntry, 'role' | 'artifact' | 'author' | 'created_at'>[]
  readonly note?: string
} {
  if (already.length === 0) return {}
  const what = already.map(({ artifact }) => artifact ?? 'the state').join(', ')
  const when = instant(Math.max(...already.map(({ createdAt }) => createdAt)))
  return {
    already_approved: already.map(({ role, artifact, author, createdAt }) => ({
      role,
      artifact,
      author,
      created_at: instant(createdAt),
    })),
    note: `You already approved ${what} at ${when}, and it counts once. ${secondPerson}`,
  }
}

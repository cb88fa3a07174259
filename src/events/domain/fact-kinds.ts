import type { ProcessDefinition } from '../../gate/domain/definition.ts'
import type { RunEvent, RunRefusal, Tried } from '../../gate/domain/run.ts'
import type {
  CaptureSessionId,
  MissionId,
  NotificationId,
  PersonId,
  ReviewId,
  RunId,
  SessionId,
  TaskId,
  TokenId,
  TurnId,
} from '../../kernel/id.ts'
import { counted, plainWord, shortened } from '../../kernel/text.ts'
import type { Note } from '../../plan/domain/plan.ts'
import type { Review } from '../../review/domain/review.ts'
import type { Turn } from '../../sessions/domain/session.ts'
import { countChanges } from '../../track/domain/changes.ts'
import type { Decision, Issue, Progress } from '../../track/domain/records.ts'
import type { NewFact } from './fact.ts'

export type FactKind = NewFact['kind']
export type FactOf<Kind extends FactKind> = Extract<NewFact, { readonly kind: Kind }>

/** What a fact did to an entity. One that is only `touched` shows something else, and is itself as it was. */
export interface Concern {
  readonly change:
    | 'created'
    | 'updated'
    | 'claimed'
    | 'opened'
    | 'closed'
    | 'resolved'
    | 'refused'
    | 'touched'
  readonly of: EntityReference
}

/** An entity to be read, or one that is whole in the fact because it never changes. */
export type EntityReference =
  | { readonly kind: 'project'; readonly id: string; readonly root: string }
  /** Whether the project is written. */
  | { readonly kind: 'writing'; readonly ended: boolean }
  | { readonly kind: 'mission'; readonly id: string }
  /** The workflow that a task belongs to, where it belongs to one. */
  | { readonly kind: 'workflow of task'; readonly id: TaskId }
  | { readonly kind: 'phase'; readonly id: string }
  | { readonly kind: 'milestone'; readonly id: string }
  | { readonly kind: 'task'; readonly id: string }
  | { readonly kind: 'attempt'; readonly id: string; readonly taskId: TaskId }
  | { readonly kind: 'decision'; readonly decision: Decision }
  | { readonly kind: 'issue'; readonly issue: Issue }
  /** The issue that opened a hold, where one did. */
  | { readonly kind: 'issue of hold'; readonly id: string }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'note'; readonly note: Note }
  | { readonly kind: 'hold'; readonly id: string }
  | { readonly kind: 'role'; readonly role: string }
  /** Whose lines are whose in so many files. */
  | { readonly kind: 'lines'; readonly tree: string; readonly files: number }
  | {
      readonly kind: 'process'
      readonly process: Pick<ProcessDefinition, 'id' | 'version' | 'name'>
      readonly hash: string
    }
  | { readonly kind: 'run'; readonly id: string }
  | { readonly kind: 'refusal'; readonly refusal: RunRefusal }
  | {
      readonly kind: 'command'
      /** Of its result, or the hash of an approval that was taken back. */
      readonly id: string
      readonly runId: RunId | null
      readonly status: string
    }
  | { readonly kind: 'setting'; readonly name: string; readonly value: string }
  | { readonly kind: 'member'; readonly id: PersonId; readonly name: string }
  | { readonly kind: 'person'; readonly id: PersonId; readonly name: string }
  | { readonly kind: 'token'; readonly id: TokenId; readonly name: string }
  | { readonly kind: 'session'; readonly id: SessionId; readonly name: string }
  /** Null where it is about when a person is told. */
  | { readonly kind: 'notification'; readonly notification: NotificationId | null; readonly name: string }
  /** A session of a client that is captured. */
  | { readonly kind: 'captured_session'; readonly id: CaptureSessionId }
  | { readonly kind: 'turn'; readonly id: TurnId }
  /** What a person said of work, or an answer to it. */
  | {
      readonly kind: 'review'
      readonly id: ReviewId | null
      readonly taskId: TaskId | null
      readonly missionId: MissionId | null
    }

type Concerns = readonly [Concern, ...Concern[]]

interface KindOfFact<OneFact> {
  /** In the order in which they are told. */
  concerns(fact: OneFact): Concerns
  /** The rest of a sentence that begins with who did it. */
  words(fact: OneFact): string
}

/** The entities that a fact concerns, what it is about first. */
export function concernsOf(fact: NewFact): Concerns {
  return kindOf(fact).concerns(fact)
}

/** What happened, as the rest of a sentence that begins with who did it. */
export function factWords(fact: NewFact): string {
  return kindOf(fact).words(fact)
}

function kindOf(fact: NewFact): KindOfFact<NewFact> {
  return kinds[fact.kind] as KindOfFact<NewFact> // the row of its own kind
}

/** Everything that can happen: which entities it concerns, and how it is said. How it is stored is said in the storage. */
const kinds: { readonly [Kind in FactKind]: KindOfFact<FactOf<Kind>> } = {
  'project.created': {
    concerns: ({ id, root }) => [created({ kind: 'project', id, root })],
    words: ({ root }) => `started the record of ${root}`,
  },
  'project.ended': {
    concerns: () => [updated({ kind: 'writing', ended: true })],
    words: ({ to }) => (to === null ? 'ended writing' : `ended writing: the project goes on at ${to}`),
  },
  'project.reopened': {
    concerns: () => [updated({ kind: 'writing', ended: false })],
    words: ({ at }) => `opened the project for writing in ${at}`,
  },

  'mission.started': {
    concerns: ({ mission }) => [created({ kind: 'mission', id: mission.id })],
    words: ({ mission }) => `started ${mission.kind} ${mission.id} "${shortened(mission.name)}"`,
  },
  'mission.ended': {
    concerns: ({ missionId }) => [updated({ kind: 'mission', id: missionId })],
    words: ({ missionId, status, despiteRuns = [] }) =>
      `ended mission ${missionId}: ${plainWord(status)}${despite(despiteRuns)}`,
  },
  'mission.extended': {
    concerns: ({ missionId }) => [updated({ kind: 'mission', id: missionId })],
    words: ({ missionId, before, totalPhases }) =>
      `extended mission ${missionId} from ${before} to ${counted(totalPhases, 'phase')}`,
  },
  'mission.reopened': {
    concerns: ({ missionId }) => [updated({ kind: 'mission', id: missionId })],
    words: ({ missionId }) => `reopened mission ${missionId}`,
  },

  'phase.created': {
    concerns: ({ phase }) => [created({ kind: 'phase', id: phase.id }), ...missionUpdated(phase.missionId)],
    words: ({ phase }) =>
      `opened phase ${phase.number ?? phase.id} "${shortened(phase.name)}"${inMission(phase.missionId)}`,
  },
  'phase.reopened': {
    concerns: phaseUpdated,
    words: ({ phaseId, missionId }) => `reopened phase ${phaseId}${inMission(missionId)}`,
  },
  'phase.completed': {
    concerns: phaseUpdated,
    words: ({ phaseId, missionId }) => `completed phase ${phaseId}${inMission(missionId)}`,
  },
  'phase.edited': {
    concerns: phaseUpdated,
    words: ({ phaseId, changes }) => `edited phase ${phaseId}${changed(changes)}`,
  },
  'milestone.created': {
    concerns: ({ milestone }) => [created({ kind: 'milestone', id: milestone.id })],
    words: ({ milestone: { id, name, phaseId } }) => `set milestone ${id}${named(name)} for phase ${phaseId}`,
  },
  'milestone.edited': {
    concerns: ({ milestoneId }) => [updated({ kind: 'milestone', id: milestoneId })],
    words: ({ milestoneId, changes }) =>
      changes.reached === true
        ? `reached milestone ${milestoneId}`
        : `edited milestone ${milestoneId}${changed(changes)}`,
  },

  'task.planned': {
    concerns: ({ task }) => [created({ kind: 'task', id: task.id }), ...missionTouched(task.missionId)],
    words: ({ task }) => `planned task ${task.id} "${shortened(task.name)}"${inMission(task.missionId)}`,
  },
  'task.edited': {
    concerns: taskUpdated,
    words: ({ taskId, changes }) => `edited task ${taskId}${changed(changes)}`,
  },
  'task.marked': {
    concerns: taskOfWorkflowUpdated,
    words: ({ taskId, as }) =>
      as === 'done'
        ? `says that task ${taskId} is done (a claim, not measured)`
        : `put task ${taskId} back to do`,
  },
  'task.dropped': {
    concerns: taskOfWorkflowUpdated,
    words: ({ taskId, reason }) => `dropped task ${taskId}: ${shortened(reason)}`,
  },
  'task.forced': {
    concerns: taskUpdated,
    words: ({ taskId, open }) =>
      `began task ${taskId} although ${open.join(', ')} ${open.length === 1 ? 'is' : 'are'} open`,
  },
  'task.claimed': {
    concerns: ({ taskId }) => [
      { change: 'claimed', of: { kind: 'task', id: taskId } },
      updated({ kind: 'workflow of task', id: taskId }),
    ],
    words: ({ taskId, claim }) => `claimed task ${taskId} for ${claim.agent}`,
  },
  'claim.ended': {
    concerns: taskOfWorkflowUpdated,
    words: ({ taskId, agent, why }) =>
      `${why === 'expired' ? 'saw the claim expire' : 'released the claim'} of ${agent} on task ${taskId}`,
  },
  'dependency.added': {
    concerns: taskUpdated,
    words: ({ taskId, dependsOnId }) => `made task ${taskId} wait for ${dependsOnId}`,
  },
  'dependency.removed': {
    concerns: taskUpdated,
    words: ({ taskId, dependsOnId }) => `removed the dependency of task ${taskId} on ${dependsOnId}`,
  },
  'role.declared': {
    concerns: ({ role }) => [created({ kind: 'role', role })],
    words: ({ role }) => `declared the role ${role}`,
  },

  'attempt.opened': {
    concerns: ({ attempt: { id, taskId, missionId } }) => [
      updated({ kind: 'task', id: taskId }),
      { change: 'opened', of: { kind: 'attempt', id, taskId } },
      ...missionUpdated(missionId),
    ],
    words: ({ attempt: { number, taskId, agentName, actor } }) =>
      `began attempt ${number} at task ${taskId}${asAgent(actor.kind === 'person' ? agentName : null)}`,
  },
  'attempt.closed': {
    // Where the phase ends with the task, the mission is told after the phase: by the fact of the phase, which follows.
    concerns: ({ attemptId: id, taskId, missionId, answer }) => [
      updated({ kind: 'task', id: taskId }),
      { change: 'closed', of: { kind: 'attempt', id, taskId } },
      ...(answer['phase_status'] === 'completed' ? missionTouched(missionId) : missionUpdated(missionId)),
    ],
    words: ({ taskId, status, evidence }) =>
      `ended task ${taskId} (${plainWord(status)}): ${measured(evidence)}`,
  },
  'attempt.abandoned': {
    concerns: ({ attemptId: id, taskId, missionId }) => [
      updated({ kind: 'task', id: taskId }),
      { change: 'closed', of: { kind: 'attempt', id, taskId } },
      ...missionUpdated(missionId),
    ],
    words: ({ attemptId, taskId, reason }) =>
      `gave up attempt ${attemptId} at task ${taskId}: ${shortened(reason)}`,
  },
  'attempt.corrected': {
    concerns: ({ taskId, missionId }) => [
      updated({ kind: 'task', id: taskId }),
      ...missionTouched(missionId),
    ],
    words: ({ taskId, text }) => `adds to the report of task ${taskId}: "${shortened(text)}"`,
  },
  'attempt.continued': {
    concerns: ({ taskId, missionId }) => [
      updated({ kind: 'task', id: taskId }),
      ...missionTouched(missionId),
    ],
    words: ({ attemptId, taskId }) => `let attempt ${attemptId} at task ${taskId} go on`,
  },

  'lines.recorded': {
    concerns: ({ span: { tree, steps } }) => [touched({ kind: 'lines', tree, files: steps.length })],
    words: ({ span: { steps } }) => `recorded whose lines are whose in ${counted(steps.length, 'file')}`,
  },
  'lines.forgotten': {
    concerns: ({ steps }) => [touched({ kind: 'lines', tree: '', files: steps.length })],
    words: ({ of }) => `forgot the hashes of lines of ${shortened(of)}`,
  },
  'decision.logged': {
    concerns: ({ decision }) => [created({ kind: 'decision', decision }), ...placeTouched(decision)],
    words: ({ decision }) => `decided "${shortened(decision.question)}": ${shortened(decision.chosen)}`,
  },
  'issue.logged': {
    concerns: ({ issue }) => [
      created({ kind: 'issue', issue }),
      ...(issue.requiresHumanReview ? missionUpdated(issue.missionId) : []),
      ...placeTouched(issue),
    ],
    words: ({ issue }) =>
      `met an issue (${plainWord(issue.type)}) in task ${issue.taskId}: ${shortened(issue.description)}`,
  },
  'progress.logged': {
    concerns: ({ progress }) => [created({ kind: 'progress', progress }), ...placeTouched(progress)],
    words: ({ progress: { taskId, message, progress } }) =>
      `says of task ${taskId}: "${shortened(message)}"${progress === null ? '' : ` (${progress} %)`}`,
  },
  'note.added': {
    concerns: ({ note }) => [created({ kind: 'note', note }), ...taskTouched(note.taskId)],
    words: ({ note }) => `noted on task ${note.taskId}: "${shortened(note.content)}"`,
  },
  'hold.opened': {
    concerns: ({ hold }) => [{ change: 'opened', of: { kind: 'hold', id: hold.id } }, ...placeTouched(hold)],
    words: ({ hold: { kind, id, reason } }) =>
      `opened ${plainWord(kind)} ${id}, which waits for a person: ${shortened(reason)}`,
  },
  'hold.closed': {
    concerns: ({ holdId: id, taskId, missionId }) => [
      { change: 'closed', of: { kind: 'hold', id } },
      { change: 'resolved', of: { kind: 'issue of hold', id } },
      ...missionUpdated(missionId),
      ...taskTouched(taskId),
    ],
    words: ({ holdId, status, answer }) =>
      `${status} ${holdId}${answer === null ? '' : `: ${shortened(answer)}`}`,
  },

  'process.kept': {
    concerns: ({ definition: process, hash }) => [created({ kind: 'process', process, hash })],
    words: ({ definition }) =>
      `kept version ${definition.version} of process "${shortened(definition.name)}"`,
  },
  'run.created': {
    concerns: ({ run }) => [created({ kind: 'run', id: run.id }), ...placeTouched(run)],
    words: ({ run: { id, process, state, taskId, missionId } }) =>
      `created ${id} of process ${process.id} in "${state}"${forSubject(taskId ?? missionId)}`,
  },
  'run.advanced': {
    concerns: runUpdated,
    words: ({ runId, event }) => `emitted ${event.event} in ${runId}: ${way(event)}`,
  },
  'run.migrated': {
    concerns: runUpdated,
    words: ({ runId, process, event }) =>
      `moved ${runId} to version ${process.version} of its process: ${way(event)}`,
  },
  'run.cancelled': {
    concerns: runUpdated,
    words: ({ runId, event }) => `cancelled ${runId} in "${event.from}": ${shortened(event.event)}`,
  },
  'run.refused': {
    concerns: ({ refusal }) => [{ change: 'refused', of: { kind: 'refusal', refusal } }],
    words: ({ runId, refusal: { event, code, tried, message } }) =>
      `was refused ${event} in ${runId} (${code})${withTried(tried)}: ${shortened(message)}`,
  },
  'run.approved': {
    concerns: runUpdated,
    words: ({ runId, approval }) => `approved ${approval.of ?? 'the state'} of ${runId} as ${approval.role}`,
  },

  'command.started': {
    concerns: ({ command: { id, runId, status } }) => [updated({ kind: 'command', id, runId, status })],
    words: ({ command }) => `runs "${shortened(command.run)}"`,
  },
  'command.ended': {
    concerns: ({ commandId: id, runId, status }) => [updated({ kind: 'command', id, runId, status })],
    words: ({ commandId, status, exitCode }) =>
      `ended command ${commandId}: ${plainWord(status)}${exitCode === null ? '' : `, exit code ${exitCode}`}`,
  },
  'command.revoked': {
    concerns: ({ hash: id }) => [updated({ kind: 'command', id, runId: null, status: 'revoked' })],
    words: ({ run, reason }) =>
      `took back the answer whether "${shortened(run)}" may run${reason === null ? '' : `: ${shortened(reason)}`}`,
  },
  'setting.changed': {
    concerns: ({ name, value }) => [updated({ kind: 'setting', name, value })],
    words: ({ name, value }) => `set ${name} to ${value}`,
  },

  'project.named': {
    concerns: ({ projectId: id, before }) => {
      const of = { kind: 'project', id, root: '' } as const
      return [before === null ? created(of) : { change: 'updated', of }]
    },
    words: ({ name, before }) =>
      before === null ? `added the project ${name}` : `renamed the project ${before} to ${name}`,
  },
  'person.added': {
    concerns: ({ person: { id, name } }) => [created({ kind: 'person', id, name })],
    words: ({ person: { name, admin } }) => `added ${name}${admin ? ' as an admin of the server' : ''}`,
  },
  'person.changed': {
    concerns: ({ personId: id, name }) => [updated({ kind: 'person', id, name })],
    words: ({ name, changes }) =>
      changes.disabledAt === undefined
        ? `changed ${name}${changed(changes)}`
        : `${changes.disabledAt === null ? 'lets' : 'no longer lets'} ${name} in`,
  },
  'member.set': {
    concerns: ({ member: { personId: id }, name, before }) => [
      { change: before === null ? 'created' : 'updated', of: { kind: 'member', id, name } },
    ],
    words: ({ member: { access, roles }, name, before }) =>
      `made ${name} ${access}${before === null || before === access ? '' : ` (was ${before})`}${roles.length === 0 ? '' : `, gate role ${roles.join(', ')}`}`,
  },
  'member.removed': {
    concerns: ({ personId: id, name }) => [{ change: 'closed', of: { kind: 'member', id, name } }],
    words: ({ name }) => `removed ${name} from the project`,
  },
  'token.created': {
    concerns: ({ token: { id, name } }) => [created({ kind: 'token', id, name })],
    words: ({ token: { name, kind }, person }) => `made the token ${name} (${kind}) of ${person}`,
  },
  'token.revoked': {
    concerns: ({ tokenId: id, name }) => [{ change: 'closed', of: { kind: 'token', id, name } }],
    words: ({ name }) => `revoked the token ${name}`,
  },
  'session.began': {
    concerns: ({ session: { id }, name }) => [{ change: 'opened', of: { kind: 'session', id, name } }],
    words: ({ name }) => `signed ${name} in`,
  },
  'session.ended': {
    concerns: ({ sessionId: id, name }) => [{ change: 'closed', of: { kind: 'session', id, name } }],
    words: ({ name }) => `ended a session of ${name}`,
  },

  'notification.added': {
    concerns: ({ notification: { id, name } }) => [created({ kind: 'notification', notification: id, name })],
    words: ({ notification: { name, form, origin, machine, owner } }) =>
      `lets ${owner.name} be told by ${form} "${shortened(name)}" (${origin ?? machine})`,
  },
  'notification.edited': {
    concerns: ({ notificationId, edited: { name } }) => [
      updated({ kind: 'notification', notification: notificationId, name }),
    ],
    words: ({ name, edited }) =>
      `changed the notification "${shortened(name)}"${edited.name === name ? '' : `, which is "${shortened(edited.name)}" now`}`,
  },
  'notification.removed': {
    concerns: ({ notificationId, name }) => [
      { change: 'closed', of: { kind: 'notification', notification: notificationId, name } },
    ],
    words: ({ name }) => `removed the notification "${shortened(name)}"`,
  },

  'review.sent': {
    concerns: ({ review: { id, subject, tasks } }) => [
      created({
        kind: 'review',
        id,
        taskId: subject.kind === 'task' ? subject.taskId : null,
        missionId: subject.kind === 'since' ? null : subject.missionId,
      }),
      ...tasks.flatMap((task) => [
        touched({ kind: 'review', id, taskId: task, missionId: null }),
        ...taskTouched(task),
      ]),
      ...(subject.kind === 'since' ? [] : missionTouched(subject.missionId)),
    ],
    words: ({ review }) => `${reviewWords[review.verdict]} ${reviewed(review)}${saying(review)}`,
  },
  'review.replied': {
    concerns: ({ reply: { taskId, missionId } }) => [
      updated({ kind: 'review', id: null, taskId, missionId }),
      ...taskTouched(taskId),
      ...missionTouched(missionId),
    ],
    words: ({ reply: { commentId, done, text } }) =>
      `answers comment ${commentId}${done ? ' (done)' : ''}: ${shortened(text)}`,
  },

  'session.opened': {
    concerns: ({ session: { id } }) => [{ change: 'opened', of: { kind: 'captured_session', id } }],
    words: ({ session: { id, client, source } }) =>
      `opened session ${id} of ${client}${source === 'startup' ? '' : ` (${source})`}`,
  },
  'session.continued': {
    concerns: sessionUpdated,
    words: ({ sessionId, client, source }) => `goes on with session ${sessionId} of ${client} (${source})`,
  },
  'session.closed': {
    concerns: ({ sessionId: id }) => [{ change: 'closed', of: { kind: 'captured_session', id } }],
    words: ({ sessionId, client, turns, reason }) =>
      `ended session ${sessionId} of ${client} after ${counted(turns, 'turn')}${reason === null ? '' : `: ${shortened(reason)}`}`,
  },
  'session.forgotten': {
    concerns: sessionUpdated,
    words: ({ sessionId, client }) => `removed the texts that were kept of session ${sessionId} of ${client}`,
  },
  'turn.opened': {
    concerns: ({ turn: { id, sessionId } }) => [
      { change: 'opened', of: { kind: 'turn', id } },
      updated({ kind: 'captured_session', id: sessionId }),
    ],
    words: ({ turn }) => `began turn ${turn.number} of session ${turn.sessionId}${asAgent(agentWord(turn))}`,
  },
  'turn.closed': {
    concerns: ({ turnId: id, sessionId }) => [
      { change: 'closed', of: { kind: 'turn', id } },
      updated({ kind: 'captured_session', id: sessionId }),
    ],
    words: ({ turnId, status, evidence: { measurement, changes } }) =>
      `ended turn ${turnId}${status === 'failed' ? ' (failed)' : ''}: ${
        measurement === 'unknown'
          ? 'what changed is not known'
          : `measured, ${counted(changes.length, 'file')} changed`
      }`,
  },
  'edits.reported': {
    concerns: turnTouched,
    words: ({ turnId, edits }) => `reported ${counted(edits.length, 'edit')} in turn ${turnId}`,
  },
  'commands.seen': {
    concerns: turnTouched,
    words: ({ turnId, commands }) => `ran ${counted(commands.length, 'command')} in turn ${turnId}`,
  },
  'attempt.linked': {
    concerns: ({ sessionId, taskId }) => [
      { change: 'touched', of: { kind: 'captured_session', id: sessionId } },
      ...taskTouched(taskId),
    ],
    words: ({ taskId, sessionId, link }) =>
      `works at task ${taskId} in session ${sessionId}${link === 'assumed' ? ' (assumed)' : ''}`,
  },
  'capture.lost': {
    concerns: ({ sessionId }) => [updated({ kind: 'captured_session', id: sessionId })],
    words: ({ sessionId, count, why }) =>
      `lost ${counted(count, 'event')} of session ${sessionId}: ${shortened(why)}`,
  },
}

const reviewWords = { approve: 'approved', send_back: 'sent back', comment: 'commented on' } as const

function reviewed({ subject, tasks }: Review): string {
  if (subject.kind === 'task') return `task ${subject.taskId}`
  return subject.kind === 'mission'
    ? `mission ${subject.missionId}`
    : `the work on ${counted(tasks.length, 'task')}`
}

function saying({ text, comments }: Review): string {
  const count = comments.length === 0 ? '' : ` with ${counted(comments.length, 'comment')}`
  return `${count}${text === null ? '' : `: ${shortened(text)}`}`
}

function created(of: EntityReference): Concern {
  return { change: 'created', of }
}

function updated(of: EntityReference): Concern {
  return { change: 'updated', of }
}

function missionUpdated(id: string | null): readonly Concern[] {
  return id === null ? [] : [updated({ kind: 'mission', id })]
}

function phaseUpdated({
  phaseId,
  missionId,
}: FactOf<'phase.edited' | 'phase.reopened' | 'phase.completed'>): Concerns {
  return [updated({ kind: 'phase', id: phaseId }), ...missionUpdated(missionId)]
}

function taskUpdated({ taskId }: { readonly taskId: TaskId }): Concerns {
  return [updated({ kind: 'task', id: taskId })]
}

function taskOfWorkflowUpdated({ taskId }: { readonly taskId: TaskId }): Concerns {
  return [updated({ kind: 'task', id: taskId }), updated({ kind: 'workflow of task', id: taskId })]
}

function runUpdated(
  fact: FactOf<'run.advanced' | 'run.migrated' | 'run.cancelled' | 'run.approved'>,
): Concerns {
  return [updated({ kind: 'run', id: fact.runId }), ...placeTouched(fact)]
}

function touched(of: EntityReference): Concern {
  return { change: 'touched', of }
}

function sessionUpdated({ sessionId: id }: { readonly sessionId: CaptureSessionId }): Concerns {
  return [updated({ kind: 'captured_session', id })]
}

function turnTouched({ turnId: id }: { readonly turnId: TurnId }): Concerns {
  return [{ change: 'touched', of: { kind: 'turn', id } }]
}

function agentWord({ agent }: Turn): string | null {
  return agent === null ? null : (agent.type ?? agent.id)
}

function missionTouched(id: string | null): readonly Concern[] {
  return id === null ? [] : [{ change: 'touched', of: { kind: 'mission', id } }]
}

function taskTouched(id: string | null): readonly Concern[] {
  return id === null ? [] : [{ change: 'touched', of: { kind: 'task', id } }]
}

function placeTouched(place: {
  readonly taskId: string | null
  readonly missionId: string | null
}): readonly Concern[] {
  return [...taskTouched(place.taskId), ...missionTouched(place.missionId)]
}

function measured({ measurement, changes, scope }: FactOf<'attempt.closed'>['evidence']): string {
  if (measurement === 'unknown') return 'what changed is not known'
  const counts = countChanges(changes)
  const files = counts.added + counts.modified + counts.deleted + counts.renamed
  const outside = scope.matches === false ? `, ${scope.unexpected.length} outside the scope` : ''
  return `${measurement === 'exact' ? 'measured exactly' : 'measured in part'}, ${counted(files, 'file')} changed${outside}`
}

/** ` (name, sort order)`: what an edit touched. */
function changed(changes: object): string {
  const fields = Object.keys(changes).map((field) => plainWord(field))
  return fields.length === 0 ? '' : ` (${fields.join(', ')})`
}

function named(name: string | null): string {
  return name === null ? '' : ` "${shortened(name)}"`
}

function inMission(missionId: string | null): string {
  return missionId === null ? '' : ` in ${missionId}`
}

function forSubject(id: string | null): string {
  return id === null ? '' : ` for ${id}`
}

function despite(runs: readonly string[]): string {
  return runs.length === 0 ? '' : `, although ${runs.slice(0, 3).join(', ')} did not succeed`
}

function way({ from, to, stateChanged, revision }: RunEvent): string {
  const moved = stateChanged ? `"${from}" → "${to}"` : `recorded, it stays in "${from}"`
  return `${moved}, revision ${revision}`
}

function withTried(tried: Tried | null | undefined): string {
  const paths = tried?.files.map(({ path }) => shortened(path)) ?? []
  if (paths.length === 0) return ''
  return ` with ${paths.slice(0, 3).join(', ')}${paths.length > 3 ? ` and ${paths.length - 3} more` : ''}`
}

function asAgent(agentName: string | null): string {
  return agentName === null ? '' : ` as ${agentName}`
}

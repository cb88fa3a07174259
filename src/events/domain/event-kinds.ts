import type { ProcessDefinition } from '../../gate/domain/definition.ts'
import type { AttemptedEvent, RunEvent, RunRefusal } from '../../gate/domain/run.ts'
import { itemKindPhrases, itemOutcome } from '../../inbox/domain/inbox-item.ts'
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
import { formatCount, plainWord, shortenText } from '../../kernel/text.ts'
import type { Note } from '../../plan/domain/plan.ts'
import type { Review } from '../../review/domain/review.ts'
import type { Turn } from '../../sessions/domain/session.ts'
import { countChanges } from '../../track/domain/changes.ts'
import { landingWords } from '../../track/domain/landed.ts'
import type { Decision, Issue, Progress } from '../../track/domain/records.ts'
import { treeOf } from '../../track/domain/task.ts'
import type { NewProjectEvent, ProjectEventSubject } from './project-event.ts'

export type ProjectEventKind = NewProjectEvent['kind']
export type ProjectEventOf<Kind extends ProjectEventKind> = Extract<NewProjectEvent, { readonly kind: Kind }>

/** How a log entry concerns an entity. `touched`: the entity's view changed, but not the entity. */
export interface EntityChange {
  readonly change:
    | 'created'
    | 'updated'
    | 'claimed'
    | 'opened'
    | 'closed'
    | 'resolved'
    | 'refused'
    | 'touched'
  readonly entity: EntityReference
}

/** An entity to read, or one that the log entry contains because it never changes. */
export type EntityReference =
  | { readonly kind: 'project'; readonly id: string; readonly root: string }
  /** Whether the project is open for writing. */
  | { readonly kind: 'writing'; readonly ended: boolean }
  | { readonly kind: 'mission'; readonly id: string }
  /** The workflow of a task, if it has one. */
  | { readonly kind: 'workflow of task'; readonly id: TaskId }
  | { readonly kind: 'phase'; readonly id: string }
  | { readonly kind: 'milestone'; readonly id: string }
  | { readonly kind: 'task'; readonly id: string }
  | { readonly kind: 'attempt'; readonly id: string; readonly taskId: TaskId }
  | { readonly kind: 'decision'; readonly decision: Decision }
  | { readonly kind: 'issue'; readonly issue: Issue }
  /** The issue that opened an inbox item, if any. */
  | { readonly kind: 'issue of inbox item'; readonly id: string }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'note'; readonly note: Note }
  | { readonly kind: 'inbox'; readonly id: string }
  | { readonly kind: 'role'; readonly role: string }
  /** The line authors of a number of files. */
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
      /** The hash of its result, or of a withdrawn approval. */
      readonly id: string
      readonly runId: RunId | null
      readonly status: string
    }
  | { readonly kind: 'setting'; readonly name: string; readonly value: string }
  | { readonly kind: 'member'; readonly id: PersonId; readonly name: string }
  | { readonly kind: 'person'; readonly id: PersonId; readonly name: string }
  | { readonly kind: 'token'; readonly id: TokenId; readonly name: string }
  | { readonly kind: 'session'; readonly id: SessionId; readonly name: string }
  /** Null for notification settings. */
  | { readonly kind: 'notification'; readonly notification: NotificationId | null; readonly name: string }
  /** A recorded session of a client. */
  | { readonly kind: 'captured_session'; readonly id: CaptureSessionId }
  | { readonly kind: 'turn'; readonly id: TurnId }
  /** A person's review of work, or an answer to it. */
  | {
      readonly kind: 'review'
      readonly id: ReviewId | null
      readonly taskId: TaskId | null
      readonly missionId: MissionId | null
    }

type EntityChanges = readonly [EntityChange, ...EntityChange[]]

/** The name of a task or mission in a sentence: its title if known. */
interface EventTitles {
  task(id: string): string
  mission(id: string): string
  run(id: string): string
}

interface ProjectEventKindSpec<OneEvent> {
  /** In display order. */
  concerns(projectEvent: OneEvent): EntityChanges
  /** A sentence without its subject, the actor. */
  words(projectEvent: OneEvent, titles: EventTitles): string
}

/** The entities that a log entry concerns, its main one first. */
export function affectedEntities(projectEvent: NewProjectEvent): EntityChanges {
  return kindOf(projectEvent).concerns(projectEvent)
}

/** The event as a sentence without its subject, the actor. */
export function describeProjectEvent(
  projectEvent: NewProjectEvent,
  titles: ReadonlyMap<string, string> = new Map(),
): string {
  const titleWords = (kind: string) => (id: string) => {
    const title = titles.get(id)
    return title === undefined ? `${kind} ${id}` : `"${shortenText(title)}"`
  }
  return kindOf(projectEvent).words(projectEvent, {
    task: titleWords('task'),
    mission: titleWords('mission'),
    run: (id) => (titles.has(id) ? titleWords('run')(id) : id),
  })
}

/** The tasks and missions that a log entry's sentence names. */
export function namedSubjects(projectEvent: NewProjectEvent): {
  readonly tasks: readonly TaskId[]
  readonly missions: readonly MissionId[]
} {
  const tasks = new Set<string>()
  const missions = new Set<string>()
  const note = (ids: Set<string>) => (id: string) => {
    ids.add(id)
    return id
  }
  const named = { task: note(tasks), mission: note(missions), run: (id: string) => id }
  kindOf(projectEvent).words(projectEvent, named)
  return { tasks: [...tasks] as TaskId[], missions: [...missions] as MissionId[] }
}

function kindOf(projectEvent: NewProjectEvent): ProjectEventKindSpec<NewProjectEvent> {
  return kinds[projectEvent.kind] as ProjectEventKindSpec<NewProjectEvent> // the row of its own kind
}

/** All event kinds: the concerned entities and the sentence. Storage is defined in the projections. */
const kinds: { readonly [Kind in ProjectEventKind]: ProjectEventKindSpec<ProjectEventOf<Kind>> } = {
  'project.created': {
    concerns: ({ id, root }) => [createdConcern({ kind: 'project', id, root })],
    words: ({ root }) => (root === '' ? 'started the record' : `started the record of ${root}`),
  },
  'project.ended': {
    concerns: () => [updatedConcern({ kind: 'writing', ended: true })],
    words: ({ to }) => (to === null ? 'ended writing' : `ended writing: the project continues at ${to}`),
  },
  'project.reopened': {
    concerns: () => [updatedConcern({ kind: 'writing', ended: false })],
    words: ({ location }) => `opened the project for writing in ${location}`,
  },

  'mission.started': {
    concerns: ({ mission }) => [createdConcern({ kind: 'mission', id: mission.id })],
    words: ({ mission }) => `started ${mission.kind} "${shortenText(mission.name)}"`,
  },
  'mission.ended': {
    concerns: ({ missionId }) => [updatedConcern({ kind: 'mission', id: missionId })],
    words: ({ missionId, status, despiteRuns = [] }, titles) =>
      `ended ${titles.mission(missionId)}: ${plainWord(status)}${failedRunsText(despiteRuns)}`,
  },
  'mission.extended': {
    concerns: ({ missionId }) => [updatedConcern({ kind: 'mission', id: missionId })],
    words: ({ missionId, before, totalPhases }, titles) =>
      `extended ${titles.mission(missionId)} from ${before} to ${formatCount(totalPhases, 'phase')}`,
  },
  'mission.reopened': {
    concerns: ({ missionId }) => [updatedConcern({ kind: 'mission', id: missionId })],
    words: ({ missionId }, titles) => `reopened ${titles.mission(missionId)}`,
  },

  'phase.created': {
    concerns: ({ phase }) => [
      createdConcern({ kind: 'phase', id: phase.id }),
      ...missionUpdated(phase.missionId),
    ],
    words: ({ phase }, titles) =>
      `opened phase ${phase.number === null ? '' : `${phase.number} `}"${shortenText(phase.name)}"${missionSuffix(phase.missionId, titles)}`,
  },
  'phase.reopened': {
    concerns: phaseUpdated,
    words: ({ phaseId, missionId }, titles) => `reopened phase ${phaseId}${missionSuffix(missionId, titles)}`,
  },
  'phase.completed': {
    concerns: phaseUpdated,
    words: ({ phaseId, missionId }, titles) =>
      `completed phase ${phaseId}${missionSuffix(missionId, titles)}`,
  },
  'phase.edited': {
    concerns: phaseUpdated,
    words: ({ phaseId, changes }) => `edited phase ${phaseId}${changedFieldsText(changes)}`,
  },
  'milestone.created': {
    concerns: ({ milestone }) => [createdConcern({ kind: 'milestone', id: milestone.id })],
    words: ({ milestone: { id, name, phaseId } }) =>
      `set milestone ${id}${quotedNameText(name)} for phase ${phaseId}`,
  },
  'milestone.edited': {
    concerns: ({ milestoneId }) => [updatedConcern({ kind: 'milestone', id: milestoneId })],
    words: ({ milestoneId, changes }) =>
      changes.reached === true
        ? `reached milestone ${milestoneId}`
        : `edited milestone ${milestoneId}${changedFieldsText(changes)}`,
  },

  'task.planned': {
    concerns: ({ task }) => [
      createdConcern({ kind: 'task', id: task.id }),
      ...touchedMission(task.missionId),
    ],
    words: ({ task }, titles) =>
      `planned "${shortenText(task.name)}"${missionSuffix(task.missionId, titles)}`,
  },
  'task.edited': {
    concerns: taskUpdated,
    words: ({ taskId, changes }, titles) => `edited ${titles.task(taskId)}${changedFieldsText(changes)}`,
  },
  'task.marked': {
    concerns: taskOfWorkflowUpdated,
    words: ({ taskId, status }, titles) =>
      status === 'done'
        ? `marked ${titles.task(taskId)} as done by hand`
        : `put ${titles.task(taskId)} back to do`,
  },
  'task.dropped': {
    concerns: taskOfWorkflowUpdated,
    words: ({ taskId, reason }, titles) => `dropped ${titles.task(taskId)}: ${shortenText(reason)}`,
  },
  'task.forced': {
    concerns: taskUpdated,
    words: ({ taskId, open }, titles) =>
      `started ${titles.task(taskId)} although ${open.map((id) => titles.task(id)).join(', ')} ${open.length === 1 ? 'is' : 'are'} open`,
  },
  'landing.measured': {
    concerns: ({ taskId, missionId }) => [
      updatedConcern({ kind: 'task', id: taskId }),
      ...touchedMission(missionId),
    ],
    words: ({ taskId, landed }, titles) => `measured ${titles.task(taskId)}: ${landingWords(landed)}`,
  },
  'task.claimed': {
    concerns: ({ taskId }) => [
      { change: 'claimed', entity: { kind: 'task', id: taskId } },
      updatedConcern({ kind: 'workflow of task', id: taskId }),
    ],
    words: ({ taskId, claim }, titles) => `claimed ${titles.task(taskId)} for ${claim.agent}`,
  },
  'claim.ended': {
    concerns: taskOfWorkflowUpdated,
    words: ({ taskId, agent, why }, titles) =>
      `${why === 'expired' ? 'saw the claim expire' : 'released the claim'} of ${agent} on ${titles.task(taskId)}`,
  },
  'dependency.added': {
    concerns: taskUpdated,
    words: ({ taskId, dependsOnId }, titles) =>
      `made ${titles.task(taskId)} wait for ${titles.task(dependsOnId)}`,
  },
  'dependency.removed': {
    concerns: taskUpdated,
    words: ({ taskId, dependsOnId }, titles) =>
      `removed the dependency of ${titles.task(taskId)} on ${titles.task(dependsOnId)}`,
  },
  'role.declared': {
    concerns: ({ role }) => [createdConcern({ kind: 'role', role })],
    words: ({ role }) => `declared the role ${role}`,
  },

  'attempt.opened': {
    concerns: ({ attempt: { id, taskId, missionId } }) => [
      updatedConcern({ kind: 'task', id: taskId }),
      { change: 'opened', entity: { kind: 'attempt', id, taskId } },
      ...missionUpdated(missionId),
    ],
    words: ({ attempt: { number, taskId, agentName, actor } }, titles) =>
      `started ${titles.task(taskId)}${number === 1 ? '' : ` (attempt ${number})`}${agentSuffix(actor.kind === 'person' ? agentName : null)}`,
  },
  'attempt.closed': {
    // If the phase ends with the task, the phase's own log entry reports it.
    concerns: ({ attemptId: id, taskId, missionId, answer }) => [
      updatedConcern({ kind: 'task', id: taskId }),
      { change: 'closed', entity: { kind: 'attempt', id, taskId } },
      ...(answer['phase_status'] === 'completed' ? touchedMission(missionId) : missionUpdated(missionId)),
    ],
    words: ({ taskId, status, evidence, verdict }, titles) =>
      `${completionWords[status]} ${titles.task(taskId)}: ${measurementText(evidence)}${verdict ? `, ${verdict.is}` : ''}`,
  },
  'attempt.abandoned': {
    concerns: ({ attemptId: id, taskId, missionId }) => [
      updatedConcern({ kind: 'task', id: taskId }),
      { change: 'closed', entity: { kind: 'attempt', id, taskId } },
      ...missionUpdated(missionId),
    ],
    words: ({ taskId, reason }, titles) => `abandoned ${titles.task(taskId)}: ${shortenText(reason)}`,
  },
  'attempt.corrected': {
    concerns: ({ taskId, missionId }) => [
      updatedConcern({ kind: 'task', id: taskId }),
      ...touchedMission(missionId),
    ],
    words: ({ taskId, text }, titles) =>
      `corrected the report of ${titles.task(taskId)}: "${shortenText(text)}"`,
  },
  'attempt.amended': {
    concerns: ({ attemptId: id, taskId, missionId }) => [
      updatedConcern({ kind: 'task', id: taskId }),
      updatedConcern({ kind: 'attempt', id, taskId }),
      ...touchedMission(missionId),
    ],
    words: ({ taskId, status, verdict }, titles) =>
      `changed the outcome: ${completionWords[status]} ${titles.task(taskId)}${verdict ? `: ${verdict.is}` : ''}`,
  },
  'files.settled': {
    concerns: ({ attemptId: id, taskId, missionId }) => [
      updatedConcern({ kind: 'task', id: taskId }),
      updatedConcern({ kind: 'attempt', id, taskId }),
      ...touchedMission(missionId),
    ],
    words: ({ taskId, paths, candidates, cause }, titles) => {
      const why = cause === 'claimed' ? `claimed by ${candidates.join(', ')}` : 'denied by its agent'
      return `took ${nameFiles(paths)} off the files of ${titles.task(taskId)}: ${why}`
    },
  },
  'verdict.changed': {
    concerns: ({ attemptId: id, taskId, missionId }) => [
      updatedConcern({ kind: 'task', id: taskId }),
      updatedConcern({ kind: 'attempt', id, taskId }),
      ...touchedMission(missionId),
    ],
    words: ({ taskId, verdict, released }, titles) =>
      released === undefined
        ? `checked ${titles.task(taskId)} again on the same content: ${verdict.is}`
        : `judged ${titles.task(taskId)} again after the claims about ${nameFiles(released)}: ${verdict.is}`,
  },
  'attempt.continued': {
    concerns: ({ taskId, missionId }) => [
      updatedConcern({ kind: 'task', id: taskId }),
      ...touchedMission(missionId),
    ],
    words: ({ taskId }, titles) => `continued ${titles.task(taskId)}`,
  },

  'lines.recorded': {
    concerns: ({ span: { tree, steps } }) => [touchedConcern({ kind: 'lines', tree, files: steps.length })],
    words: ({ span: { steps } }) => `recorded the authors of lines in ${formatCount(steps.length, 'file')}`,
  },
  'lines.forgotten': {
    concerns: ({ steps }) => [touchedConcern({ kind: 'lines', tree: '', files: steps.length })],
    words: ({ subject }) => `removed the hashes of lines of ${shortenText(subject)}`,
  },
  'decision.logged': {
    concerns: ({ decision }) => [createdConcern({ kind: 'decision', decision }), ...touchedPlace(decision)],
    words: ({ decision }) => `decided "${shortenText(decision.question)}": ${shortenText(decision.chosen)}`,
  },
  'issue.logged': {
    concerns: ({ issue }) => [
      createdConcern({ kind: 'issue', issue }),
      ...(issue.requiresHumanReview ? missionUpdated(issue.missionId) : []),
      ...touchedPlace(issue),
    ],
    words: ({ issue }, titles) =>
      `logged an issue (${plainWord(issue.type)}) in ${titles.task(issue.taskId)}: ${shortenText(issue.description)}`,
  },
  'progress.logged': {
    concerns: ({ progress }) => [createdConcern({ kind: 'progress', progress }), ...touchedPlace(progress)],
    words: ({ progress: { taskId, message, progress } }, titles) =>
      `logged progress of ${titles.task(taskId)}: "${shortenText(message)}"${progress === null ? '' : ` (${progress} %)`}`,
  },
  'note.added': {
    concerns: ({ note }) => [createdConcern({ kind: 'note', note }), ...taskTouched(note.taskId)],
    words: ({ note }, titles) => `noted on ${titles.task(note.taskId)}: "${shortenText(note.content)}"`,
  },
  'inbox.opened': {
    concerns: ({ item }) => [
      { change: 'opened', entity: { kind: 'inbox', id: item.id } },
      ...touchedPlace(item),
    ],
    words: ({ item }, titles) =>
      `put ${itemKindPhrases[item.kind]} into the inbox${subjectSuffix(item, titles)}: ${shortenText(item.reason)}`,
  },
  'inbox.closed': {
    concerns: ({ itemId: id, taskId, missionId }) => [
      { change: 'closed', entity: { kind: 'inbox', id } },
      { change: 'resolved', entity: { kind: 'issue of inbox item', id } },
      ...missionUpdated(missionId),
      ...taskTouched(taskId),
    ],
    words: ({ answer, ...closed }, titles) => {
      const outcome = itemOutcome(closed)
      const text = answer === null || answer === outcome ? '' : `: ${shortenText(answer)}`
      const subject = subjectTitle(closed, titles)
      if (outcome === 'restored') return `restored lost files${subjectSuffix(closed, titles)}${text}`
      return outcome === 'sent back' && subject !== null
        ? `${outcome} ${subject} in the inbox${text}`
        : `${outcome} an inbox item${subjectSuffix(closed, titles)}${text}`
    },
  },

  'process.kept': {
    concerns: ({ definition: process, hash }) => [createdConcern({ kind: 'process', process, hash })],
    words: ({ definition }) =>
      `kept version ${definition.version} of process "${shortenText(definition.name)}"`,
  },
  'run.created': {
    concerns: ({ run }) => [createdConcern({ kind: 'run', id: run.id }), ...touchedPlace(run)],
    words: ({ run: { process, state, taskId, missionId } }, titles) =>
      `began a run of process ${process.id} in "${state}"${subjectSuffix({ taskId, missionId }, titles)}`,
  },
  'run.advanced': {
    concerns: runUpdated,
    words: ({ runId, event }, titles) =>
      `emitted ${event.event} in ${titles.run(runId)}: ${transitionText(event)}`,
  },
  'run.migrated': {
    concerns: runUpdated,
    words: ({ runId, process, event }, titles) =>
      `migrated ${titles.run(runId)} to version ${process.version} of its process: ${transitionText(event)}`,
  },
  'run.cancelled': {
    concerns: runUpdated,
    words: ({ runId, event }, titles) =>
      `canceled ${titles.run(runId)} in "${event.from}": ${shortenText(event.event)}`,
  },
  'run.refused': {
    concerns: ({ refusal }) => [{ change: 'refused', entity: { kind: 'refusal', refusal } }],
    words: ({ runId, refusal: { event, code, tried, message } }, titles) =>
      `tried ${event} in ${titles.run(runId)} and was refused (${code})${triedFilesText(tried)}: ${shortenText(message)}`,
  },
  'run.approved': {
    concerns: runUpdated,
    words: ({ runId, approval }, titles) =>
      `approved ${approval.artifact ?? 'the state'} of ${titles.run(runId)} as ${approval.role}`,
  },
  'run.approvals_withdrawn': {
    concerns: runUpdated,
    words: ({ runId }, titles) => `withdrew their approvals in ${titles.run(runId)} by sending it back`,
  },

  'command.started': {
    concerns: ({ command: { id, runId, status } }) => [
      updatedConcern({ kind: 'command', id, runId, status }),
    ],
    words: ({ command }) => `runs "${shortenText(command.run)}"`,
  },
  'command.ended': {
    concerns: ({ commandId: id, runId, status }) => [updatedConcern({ kind: 'command', id, runId, status })],
    words: ({ commandId, status, exitCode }) =>
      `recorded the end of command ${commandId}: ${plainWord(status)}${exitCode === null ? '' : `, exit code ${exitCode}`}`,
  },
  'command.revoked': {
    concerns: ({ hash: id }) => [updatedConcern({ kind: 'command', id, runId: null, status: 'revoked' })],
    words: ({ run, reason }) =>
      `revoked the answer for command "${shortenText(run)}"${reason === null ? '' : `: ${shortenText(reason)}`}`,
  },
  'setting.changed': {
    concerns: ({ name, value }) => [updatedConcern({ kind: 'setting', name, value })],
    words: ({ name, value }) => `set ${name} to ${value}`,
  },

  'project.named': {
    concerns: ({ projectId: id, before }) => {
      const entity = { kind: 'project', id, root: '' } as const
      return [before === null ? createdConcern(entity) : { change: 'updated', entity }]
    },
    words: ({ name, before }) =>
      before === null ? `added the project ${name}` : `renamed the project ${before} to ${name}`,
  },
  'person.added': {
    concerns: ({ person: { id, name } }) => [createdConcern({ kind: 'person', id, name })],
    words: ({ person: { name, admin } }) => `added ${name}${admin ? ' as an admin of the server' : ''}`,
  },
  'person.changed': {
    concerns: ({ personId: id, name }) => [updatedConcern({ kind: 'person', id, name })],
    words: ({ name, changes }) =>
      changes.disabledAt === undefined
        ? `changed ${name}${changedFieldsText(changes)}`
        : `${changes.disabledAt === null ? 'lets' : 'no longer lets'} ${name} in`,
  },
  'member.set': {
    concerns: ({ member: { personId: id }, name, before }) => [
      { change: before === null ? 'created' : 'updated', entity: { kind: 'member', id, name } },
    ],
    words: ({ member: { access, roles }, name, before }) =>
      `made ${name} ${access}${before === null || before === access ? '' : ` (was ${before})`}${roles.length === 0 ? '' : `, gate role ${roles.join(', ')}`}`,
  },
  'member.removed': {
    concerns: ({ personId: id, name }) => [{ change: 'closed', entity: { kind: 'member', id, name } }],
    words: ({ name }) => `removed ${name} from the project`,
  },
  'token.created': {
    concerns: ({ token: { id, name } }) => [createdConcern({ kind: 'token', id, name })],
    words: ({ token: { name, kind }, person }) => `made the token ${name} (${kind}) of ${person}`,
  },
  'token.revoked': {
    concerns: ({ tokenId: id, name }) => [{ change: 'closed', entity: { kind: 'token', id, name } }],
    words: ({ name }) => `revoked the token ${name}`,
  },
  'session.began': {
    concerns: ({ session: { id }, name }) => [{ change: 'opened', entity: { kind: 'session', id, name } }],
    words: ({ name }) => `signed ${name} in`,
  },
  'session.ended': {
    concerns: ({ sessionId: id, name }) => [{ change: 'closed', entity: { kind: 'session', id, name } }],
    words: ({ name }) => `ended a session of ${name}`,
  },

  'notification.added': {
    concerns: ({ notification: { id, name } }) => [
      createdConcern({ kind: 'notification', notification: id, name }),
    ],
    words: ({ notification: { name, form, origin, machine, owner } }) =>
      `added the notification "${shortenText(name)}" for ${owner.name} by ${form} (${origin ?? machine})`,
  },
  'notification.edited': {
    concerns: ({ notificationId, edited: { name } }) => [
      updatedConcern({ kind: 'notification', notification: notificationId, name }),
    ],
    words: ({ name, edited }) =>
      `changed the notification "${shortenText(name)}"${edited.name === name ? '' : `, which is "${shortenText(edited.name)}" now`}`,
  },
  'notification.removed': {
    concerns: ({ notificationId, name }) => [
      { change: 'closed', entity: { kind: 'notification', notification: notificationId, name } },
    ],
    words: ({ name }) => `removed the notification "${shortenText(name)}"`,
  },

  'review.sent': {
    concerns: ({ review: { id, subject, tasks } }) => [
      createdConcern({
        kind: 'review',
        id,
        taskId: subject.kind === 'task' ? subject.taskId : null,
        missionId: subject.kind === 'since' ? null : subject.missionId,
      }),
      ...tasks.flatMap((task) => [
        touchedConcern({ kind: 'review', id, taskId: task, missionId: null }),
        ...taskTouched(task),
      ]),
      ...(subject.kind === 'since' ? [] : touchedMission(subject.missionId)),
    ],
    words: ({ review }, titles) =>
      `${reviewWords[review.action]} ${reviewSubjectText(review, titles)}${reviewText(review)}`,
  },
  'review.replied': {
    concerns: ({ reply: { taskId, missionId } }) => [
      updatedConcern({ kind: 'review', id: null, taskId, missionId }),
      ...taskTouched(taskId),
      ...touchedMission(missionId),
    ],
    words: ({ reply: { commentId, done, text } }) =>
      `answers comment ${commentId}${done ? ' (done)' : ''}: ${shortenText(text)}`,
  },

  'session.opened': {
    concerns: ({ session: { id } }) => [{ change: 'opened', entity: { kind: 'captured_session', id } }],
    words: ({ session: { id, client, source } }) =>
      `opened session ${id} of ${client}${source === 'startup' ? '' : ` (${source})`}`,
  },
  'session.continued': {
    concerns: sessionUpdated,
    words: ({ sessionId, client, source }) => `resumed session ${sessionId} of ${client} (${source})`,
  },
  'session.closed': {
    concerns: ({ sessionId: id }) => [{ change: 'closed', entity: { kind: 'captured_session', id } }],
    words: ({ sessionId, client, turns, reason }) =>
      `ended session ${sessionId} of ${client} after ${formatCount(turns, 'turn')}${reason === null ? '' : `: ${shortenText(reason)}`}`,
  },
  'session.forgotten': {
    concerns: sessionUpdated,
    words: ({ sessionId, client }) => `removed the texts that were kept of session ${sessionId} of ${client}`,
  },
  'turn.opened': {
    concerns: ({ turn: { id, sessionId } }) => [
      { change: 'opened', entity: { kind: 'turn', id } },
      updatedConcern({ kind: 'captured_session', id: sessionId }),
    ],
    words: ({ turn }) =>
      `started turn ${turn.number} of session ${turn.sessionId}${agentSuffix(agentWord(turn))}`,
  },
  'turn.closed': {
    concerns: ({ turnId: id, sessionId }) => [
      { change: 'closed', entity: { kind: 'turn', id } },
      updatedConcern({ kind: 'captured_session', id: sessionId }),
    ],
    words: ({ turnId, status, evidence: { measurement, changes } }) =>
      `ended turn ${turnId}${status === 'failed' ? ' (failed)' : ''}: ${
        measurement === 'unknown'
          ? 'changes unknown'
          : `measured, ${formatCount(changes.length, 'file')} changed`
      }`,
  },
  'edits.reported': {
    concerns: touchedTurn,
    words: ({ turnId, edits }) => `reported ${formatCount(edits.length, 'edit')} in turn ${turnId}`,
  },
  'commands.seen': {
    concerns: touchedTurn,
    words: ({ turnId, commands }) => `ran ${formatCount(commands.length, 'command')} in turn ${turnId}`,
  },
  'attempt.linked': {
    concerns: ({ sessionId, taskId }) => [
      { change: 'touched', entity: { kind: 'captured_session', id: sessionId } },
      ...taskTouched(taskId),
    ],
    words: ({ taskId, sessionId, link }, titles) =>
      `works on ${titles.task(taskId)} in session ${sessionId}${link === 'assumed' ? ' (assumed)' : ''}`,
  },
  'command.guarded': {
    concerns: ({ command: { top, files } }) => [
      { change: 'touched', entity: { kind: 'lines', tree: top, files: files.length } },
    ],
    words: ({ command: { commands, answer, files, missing } }) =>
      `${answer === 'none' ? 'ran' : answer === 'ask' ? 'had to ask before' : 'was denied'} ${shortenText(commands.join(', '))}${
        files.length === 0
          ? ''
          : `, which touches ${formatCount(files.length, 'uncommitted file')} of other agents`
      }${missing === null ? '' : ', without a snapshot'}`,
  },
  'tree.written': {
    concerns: ({ write: { before, files, ...place } }) => [
      touchedConcern({ kind: 'lines', tree: treeOf(before), files: files.length }),
      ...touchedPlace(place),
    ],
    words: ({ write: { cause, files, subject, taskId } }, titles) =>
      `${cause === 'undo' ? 'undid' : 'restored'} ${formatCount(files.length, 'file')} of ${taskId === null ? subject : titles.task(taskId)}`,
  },
  'files.lost': {
    concerns: ({ loss: { from, files, ...place } }) => [
      touchedConcern({ kind: 'lines', tree: treeOf(from.place), files: files.length }),
      ...touchedPlace(place),
    ],
    words: ({ loss: { files, taskId } }, titles) =>
      `found ${formatCount(files.length, 'uncommitted file')} lost${taskId === null ? '' : ` of ${titles.task(taskId)}`}`,
  },
  'capture.lost': {
    concerns: ({ sessionId }) => [updatedConcern({ kind: 'captured_session', id: sessionId })],
    words: ({ sessionId, count, why }) =>
      `lost ${formatCount(count, 'event')} of session ${sessionId}: ${shortenText(why)}`,
  },
}

const completionWords = {
  success: 'completed',
  partial_success: 'partly completed',
  failed: 'failed',
} as const

const reviewWords = { approve: 'approved', send_back: 'sent back', comment: 'commented on' } as const

function nameFiles(paths: readonly string[]): string {
  const more = paths.length > 3 ? ` and ${paths.length - 3} more` : ''
  return `${shortenText(paths.slice(0, 3).join(', '))}${more}`
}

function reviewSubjectText({ subject, tasks }: Review, titles: EventTitles): string {
  if (subject.kind === 'task') return titles.task(subject.taskId)
  return subject.kind === 'mission'
    ? titles.mission(subject.missionId)
    : `the work on ${formatCount(tasks.length, 'task')}`
}

function reviewText({ text, comments }: Review): string {
  const count = comments.length === 0 ? '' : ` with ${formatCount(comments.length, 'comment')}`
  return `${count}${text === null ? '' : `: ${shortenText(text)}`}`
}

function createdConcern(entity: EntityReference): EntityChange {
  return { change: 'created', entity }
}

function updatedConcern(entity: EntityReference): EntityChange {
  return { change: 'updated', entity }
}

function missionUpdated(id: string | null): readonly EntityChange[] {
  return id === null ? [] : [updatedConcern({ kind: 'mission', id })]
}

function phaseUpdated({
  phaseId,
  missionId,
}: ProjectEventOf<'phase.edited' | 'phase.reopened' | 'phase.completed'>): EntityChanges {
  return [updatedConcern({ kind: 'phase', id: phaseId }), ...missionUpdated(missionId)]
}

function taskUpdated({ taskId }: { readonly taskId: TaskId }): EntityChanges {
  return [updatedConcern({ kind: 'task', id: taskId })]
}

function taskOfWorkflowUpdated({ taskId }: { readonly taskId: TaskId }): EntityChanges {
  return [
    updatedConcern({ kind: 'task', id: taskId }),
    updatedConcern({ kind: 'workflow of task', id: taskId }),
  ]
}

function runUpdated(
  projectEvent: ProjectEventOf<
    'run.advanced' | 'run.migrated' | 'run.cancelled' | 'run.approved' | 'run.approvals_withdrawn'
  >,
): EntityChanges {
  return [updatedConcern({ kind: 'run', id: projectEvent.runId }), ...touchedPlace(projectEvent)]
}

function touchedConcern(entity: EntityReference): EntityChange {
  return { change: 'touched', entity }
}

function sessionUpdated({ sessionId: id }: { readonly sessionId: CaptureSessionId }): EntityChanges {
  return [updatedConcern({ kind: 'captured_session', id })]
}

function touchedTurn({ turnId: id }: { readonly turnId: TurnId }): EntityChanges {
  return [{ change: 'touched', entity: { kind: 'turn', id } }]
}

function agentWord({ agent }: Turn): string | null {
  return agent === null ? null : (agent.type ?? agent.id)
}

function touchedMission(id: string | null): readonly EntityChange[] {
  return id === null ? [] : [{ change: 'touched', entity: { kind: 'mission', id } }]
}

function taskTouched(id: string | null): readonly EntityChange[] {
  return id === null ? [] : [{ change: 'touched', entity: { kind: 'task', id } }]
}

function touchedPlace(place: {
  readonly taskId: string | null
  readonly missionId: string | null
}): readonly EntityChange[] {
  return [...taskTouched(place.taskId), ...touchedMission(place.missionId)]
}

function measurementText({
  measurement,
  changes,
  scope,
}: ProjectEventOf<'attempt.closed'>['evidence']): string {
  if (measurement === 'unknown') return 'changes unknown'
  const counts = countChanges(changes)
  const files = counts.added + counts.modified + counts.deleted + counts.renamed
  const outside = scope.matches === false ? `, ${scope.unexpected.length} out of scope` : ''
  return `${formatCount(files, 'file')} changed${outside}${measurement === 'exact' ? '' : ', measured in part'}`
}

/** ` (name, sort order)`: the fields of an edit. */
function changedFieldsText(changes: object): string {
  const fields = Object.keys(changes).map((field) => plainWord(field))
  return fields.length === 0 ? '' : ` (${fields.join(', ')})`
}

function quotedNameText(name: string | null): string {
  return name === null ? '' : ` "${shortenText(name)}"`
}

function missionSuffix(missionId: string | null, titles: EventTitles): string {
  return missionId === null ? '' : ` in ${titles.mission(missionId)}`
}

/** The title of the task, else of the mission. */
function subjectTitle({ taskId, missionId }: ProjectEventSubject, titles: EventTitles): string | null {
  if (taskId !== null) return titles.task(taskId)
  return missionId === null ? null : titles.mission(missionId)
}

function subjectSuffix(subject: ProjectEventSubject, titles: EventTitles): string {
  const title = subjectTitle(subject, titles)
  return title === null ? '' : ` for ${title}`
}

function failedRunsText(runs: readonly string[]): string {
  return runs.length === 0 ? '' : `, although ${runs.slice(0, 3).join(', ')} did not succeed`
}

function transitionText({ from, to, stateChanged, revision }: RunEvent): string {
  const moved = stateChanged ? `"${from}" → "${to}"` : `recorded, it stays in "${from}"`
  return `${moved}, revision ${revision}`
}

function triedFilesText(tried: AttemptedEvent | null | undefined): string {
  const paths = tried?.files.map(({ path }) => shortenText(path)) ?? []
  if (paths.length === 0) return ''
  return ` with ${paths.slice(0, 3).join(', ')}${paths.length > 3 ? ` and ${paths.length - 3} more` : ''}`
}

function agentSuffix(agentName: string | null): string {
  return agentName === null ? '' : ` as ${agentName}`
}

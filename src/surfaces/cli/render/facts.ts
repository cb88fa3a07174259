import type { NewFact } from '../../../domain/fact.ts'
import type { GateFact, RunEvent, Tried } from '../../../domain/gate/run.ts'
import type { NewPlanFact } from '../../../domain/plan/plan.ts'
import { countChanges } from '../../../domain/track/completion-report.ts'
import { counted, plainWord, shortened } from './text.ts'

/** What happened, as the rest of a sentence that begins with who did it. */
export function factWords(happening: NewFact): string {
  switch (happening.kind) {
    case 'project.created':
      return `began the record of ${happening.root}`
    case 'mission.started':
      return `started ${happening.mission.kind} ${happening.mission.id} "${shortened(happening.mission.name)}"`
    case 'mission.ended':
      return `ended mission ${happening.missionId}: ${plainWord(happening.status)}${despite(happening.despiteRuns ?? [])}`
    case 'mission.extended':
      return `extended mission ${happening.missionId} from ${happening.before} to ${counted(happening.totalPhases, 'phase')}`
    case 'mission.reopened':
      return `took up mission ${happening.missionId} again`
    case 'phase.created':
      return `opened phase ${happening.phase.number ?? happening.phase.id} "${shortened(happening.phase.name)}"${inMission(happening.phase.missionId)}`
    case 'phase.reopened':
      return `took up phase ${happening.phaseId} again${inMission(happening.missionId)}`
    case 'phase.completed':
      return `completed phase ${happening.phaseId}${inMission(happening.missionId)}`
    case 'task.planned':
      return `planned task ${happening.task.id} "${shortened(happening.task.name)}"${inMission(happening.task.missionId)}`
    case 'attempt.opened':
      return `began attempt ${happening.attempt.number} at task ${happening.attempt.taskId}${asAgent(happening.attempt.agentName)}`
    case 'attempt.closed':
      return `ended task ${happening.taskId} (${plainWord(happening.status)}): ${measured(happening.evidence)}`
    case 'attempt.abandoned':
      return `gave up attempt ${happening.attemptId} at task ${happening.taskId}: ${shortened(happening.reason)}`
    case 'attempt.corrected':
      return `adds to the end of task ${happening.taskId}${asAgent(happening.agentName)}: "${shortened(happening.text)}"`
    case 'attempt.continued':
      return `let attempt ${happening.attemptId} at task ${happening.taskId} go on`
    case 'decision.logged':
      return `decided "${shortened(happening.decision.question)}": ${shortened(happening.decision.chosen)}`
    case 'issue.logged':
      return `met an issue (${plainWord(happening.issue.type)}) in task ${happening.issue.taskId}: ${shortened(happening.issue.description)}`
    case 'progress.logged':
      return `says of task ${happening.progress.taskId}: "${shortened(happening.progress.message)}"${percent(happening.progress.progress)}`
    case 'hold.opened':
      return `opened ${plainWord(happening.hold.kind)} ${happening.hold.id}, which waits for a person: ${shortened(happening.hold.reason)}`
    case 'hold.closed':
      return `${happening.status} ${happening.holdId}${happening.answer === null ? '' : `: ${shortened(happening.answer)}`}`
    case 'phase.edited':
    case 'milestone.created':
    case 'milestone.edited':
    case 'task.edited':
    case 'task.marked':
    case 'task.dropped':
    case 'task.forced':
    case 'task.claimed':
    case 'claim.ended':
    case 'dependency.added':
    case 'dependency.removed':
    case 'note.added':
    case 'role.declared':
      return planFactWords(happening)
    case 'process.kept':
    case 'run.created':
    case 'run.advanced':
    case 'run.migrated':
    case 'run.cancelled':
    case 'run.refused':
    case 'run.approved':
    case 'setting.changed':
    case 'command.revoked':
    case 'command.started':
    case 'command.ended':
      return gateFactWords(happening)
  }
}

type Closed = Extract<NewFact, { readonly kind: 'attempt.closed' }>

function measured({ verification, changes, scope }: Closed['evidence']): string {
  if (verification === 'unknown') return 'what changed is not known'
  const counts = countChanges(changes)
  const files = counts.added + counts.modified + counts.deleted + counts.renamed
  const outside = scope.matches === false ? `, ${scope.unexpected.length} outside the scope` : ''
  return `${verification === 'verified' ? 'verified' : 'verified in part'}, ${counted(files, 'file')} changed${outside}`
}

function inMission(missionId: string | null): string {
  return missionId === null ? '' : ` in ${missionId}`
}

function asAgent(agentName: string | null): string {
  return agentName === null ? '' : ` as ${agentName}`
}

function percent(progress: number | null): string {
  return progress === null ? '' : ` (${progress} %)`
}

function despite(runs: readonly string[]): string {
  return runs.length === 0 ? '' : `, although ${runs.slice(0, 3).join(', ')} did not succeed`
}

/** What happened to a plan, as the rest of a sentence that begins with who did it. */
function planFactWords(happening: NewPlanFact): string {
  switch (happening.kind) {
    case 'phase.edited':
      return `edited phase ${happening.phaseId}${changed(happening.changes)}`
    case 'milestone.created':
      return `set milestone ${happening.milestone.id}${named(happening.milestone.name)} for phase ${happening.milestone.phaseId}`
    case 'milestone.edited':
      return happening.changes.reached === true
        ? `reached milestone ${happening.milestoneId}`
        : `edited milestone ${happening.milestoneId}${changed(happening.changes)}`
    case 'task.edited':
      return `edited task ${happening.taskId}${changed(happening.changes)}`
    case 'task.marked':
      return happening.as === 'done'
        ? `says that task ${happening.taskId} is done (a claim, not measured)`
        : `put task ${happening.taskId} back to do`
    case 'task.dropped':
      return `dropped task ${happening.taskId}: ${shortened(happening.reason)}`
    case 'task.forced':
      return `began task ${happening.taskId} although ${happening.open.join(', ')} ${happening.open.length === 1 ? 'is' : 'are'} open`
    case 'task.claimed':
      return `claimed task ${happening.taskId} for ${happening.claim.agent}`
    case 'claim.ended':
      return `${happening.why === 'expired' ? 'saw the claim expire' : 'released the claim'} of ${happening.agent} on task ${happening.taskId}`
    case 'dependency.added':
      return `made task ${happening.taskId} wait for ${happening.dependsOnId}`
    case 'dependency.removed':
      return `freed task ${happening.taskId} from waiting for ${happening.dependsOnId}`
    case 'note.added':
      return `noted on task ${happening.note.taskId}: "${shortened(happening.note.content)}"`
    case 'role.declared':
      return `declared the role ${happening.role}`
  }
}

/** ` (name, sort order)`: what an edit touched. */
function changed(changes: object): string {
  const fields = Object.keys(changes).map((field) => plainWord(field))
  return fields.length === 0 ? '' : ` (${fields.join(', ')})`
}

function named(name: string | null): string {
  return name === null ? '' : ` "${shortened(name)}"`
}

/** What happened to a run, as the rest of a sentence that begins with who did it. */
function gateFactWords(happening: GateFact): string {
  switch (happening.kind) {
    case 'process.kept':
      return `kept version ${happening.definition.version} of process "${shortened(happening.definition.name)}"`
    case 'run.created':
      return `created ${happening.run.id} of process ${happening.run.process.id} in "${happening.run.state}"${subjectOf(happening.run)}`
    case 'run.advanced':
      return `emitted ${happening.event.event} in ${happening.runId}: ${way(happening.event)}`
    case 'run.migrated':
      return `moved ${happening.runId} to version ${happening.process.version} of its process: ${way(happening.event)}`
    case 'run.cancelled':
      return `cancelled ${happening.runId} in "${happening.event.from}": ${shortened(happening.event.event)}`
    case 'run.refused':
      return `was refused ${happening.refusal.event} in ${happening.runId} (${happening.refusal.code})${triedWords(happening.refusal.tried)}: ${shortened(happening.refusal.message)}`
    case 'run.approved':
      return `approved ${happening.approval.of ?? 'the state'} of ${happening.runId} as ${happening.approval.role}`
    case 'setting.changed':
      return `set ${happening.name} to ${happening.value}`
    case 'command.revoked':
      return `took back the answer whether "${shortened(happening.run)}" may run${happening.reason === null ? '' : `: ${shortened(happening.reason)}`}`
    case 'command.started':
      return `runs "${shortened(happening.command.run)}"`
    case 'command.ended':
      return `ended command ${happening.commandId}: ${plainWord(happening.status)}${happening.exitCode === null ? '' : `, exit code ${happening.exitCode}`}`
  }
}

function way({ from, to, stateChanged, revision }: RunEvent): string {
  const moved = stateChanged ? `"${from}" → "${to}"` : `recorded, it stays in "${from}"`
  return `${moved}, revision ${revision}`
}

function subjectOf({
  missionId,
  taskId,
}: {
  readonly missionId: string | null
  readonly taskId: string | null
}): string {
  const subject = taskId ?? missionId
  return subject === null ? '' : ` for ${subject}`
}

function triedWords(tried: Tried | null | undefined): string {
  const paths = tried?.files.map(({ path }) => shortened(path)) ?? []
  if (paths.length === 0) return ''
  return ` with ${paths.slice(0, 3).join(', ')}${paths.length > 3 ? ` and ${paths.length - 3} more` : ''}`
}

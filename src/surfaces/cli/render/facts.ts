import type { NewFact } from '../../../domain/fact.ts'
import type { GateFact, RunEvent, Tried } from '../../../domain/gate/run.ts'
import type { NewPlanFact } from '../../../domain/plan/plan.ts'
import { counted } from '../../../domain/text.ts'
import { countChanges } from '../../../domain/track/completion-report.ts'
import { plainWord, shortened } from './text.ts'

/** What happened, as the rest of a sentence that begins with who did it. */
export function factWords(fact: NewFact): string {
  switch (fact.kind) {
    case 'project.created':
      return `began the record of ${fact.root}`
    case 'mission.started':
      return `started ${fact.mission.kind} ${fact.mission.id} "${shortened(fact.mission.name)}"`
    case 'mission.ended':
      return `ended mission ${fact.missionId}: ${plainWord(fact.status)}${despite(fact.despiteRuns ?? [])}`
    case 'mission.extended':
      return `extended mission ${fact.missionId} from ${fact.before} to ${counted(fact.totalPhases, 'phase')}`
    case 'mission.reopened':
      return `took up mission ${fact.missionId} again`
    case 'phase.created':
      return `opened phase ${fact.phase.number ?? fact.phase.id} "${shortened(fact.phase.name)}"${inMission(fact.phase.missionId)}`
    case 'phase.reopened':
      return `took up phase ${fact.phaseId} again${inMission(fact.missionId)}`
    case 'phase.completed':
      return `completed phase ${fact.phaseId}${inMission(fact.missionId)}`
    case 'task.planned':
      return `planned task ${fact.task.id} "${shortened(fact.task.name)}"${inMission(fact.task.missionId)}`
    case 'attempt.opened':
      return `began attempt ${fact.attempt.number} at task ${fact.attempt.taskId}${asAgent(fact.attempt.agentName)}`
    case 'attempt.closed':
      return `ended task ${fact.taskId} (${plainWord(fact.status)}): ${measured(fact.evidence)}`
    case 'attempt.abandoned':
      return `gave up attempt ${fact.attemptId} at task ${fact.taskId}: ${shortened(fact.reason)}`
    case 'attempt.corrected':
      return `adds to the end of task ${fact.taskId}${asAgent(fact.agentName)}: "${shortened(fact.text)}"`
    case 'attempt.continued':
      return `let attempt ${fact.attemptId} at task ${fact.taskId} go on`
    case 'decision.logged':
      return `decided "${shortened(fact.decision.question)}": ${shortened(fact.decision.chosen)}`
    case 'issue.logged':
      return `met an issue (${plainWord(fact.issue.type)}) in task ${fact.issue.taskId}: ${shortened(fact.issue.description)}`
    case 'progress.logged':
      return `says of task ${fact.progress.taskId}: "${shortened(fact.progress.message)}"${percent(fact.progress.progress)}`
    case 'hold.opened':
      return `opened ${plainWord(fact.hold.kind)} ${fact.hold.id}, which waits for a person: ${shortened(fact.hold.reason)}`
    case 'hold.closed':
      return `${fact.status} ${fact.holdId}${fact.answer === null ? '' : `: ${shortened(fact.answer)}`}`
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
      return planFactWords(fact)
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
      return gateFactWords(fact)
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
function planFactWords(fact: NewPlanFact): string {
  switch (fact.kind) {
    case 'phase.edited':
      return `edited phase ${fact.phaseId}${changed(fact.changes)}`
    case 'milestone.created':
      return `set milestone ${fact.milestone.id}${named(fact.milestone.name)} for phase ${fact.milestone.phaseId}`
    case 'milestone.edited':
      return fact.changes.reached === true
        ? `reached milestone ${fact.milestoneId}`
        : `edited milestone ${fact.milestoneId}${changed(fact.changes)}`
    case 'task.edited':
      return `edited task ${fact.taskId}${changed(fact.changes)}`
    case 'task.marked':
      return fact.as === 'done'
        ? `says that task ${fact.taskId} is done (a claim, not measured)`
        : `put task ${fact.taskId} back to do`
    case 'task.dropped':
      return `dropped task ${fact.taskId}: ${shortened(fact.reason)}`
    case 'task.forced':
      return `began task ${fact.taskId} although ${fact.open.join(', ')} ${fact.open.length === 1 ? 'is' : 'are'} open`
    case 'task.claimed':
      return `claimed task ${fact.taskId} for ${fact.claim.agent}`
    case 'claim.ended':
      return `${fact.why === 'expired' ? 'saw the claim expire' : 'released the claim'} of ${fact.agent} on task ${fact.taskId}`
    case 'dependency.added':
      return `made task ${fact.taskId} wait for ${fact.dependsOnId}`
    case 'dependency.removed':
      return `freed task ${fact.taskId} from waiting for ${fact.dependsOnId}`
    case 'note.added':
      return `noted on task ${fact.note.taskId}: "${shortened(fact.note.content)}"`
    case 'role.declared':
      return `declared the role ${fact.role}`
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
function gateFactWords(fact: GateFact): string {
  switch (fact.kind) {
    case 'process.kept':
      return `kept version ${fact.definition.version} of process "${shortened(fact.definition.name)}"`
    case 'run.created':
      return `created ${fact.run.id} of process ${fact.run.process.id} in "${fact.run.state}"${subjectOf(fact.run)}`
    case 'run.advanced':
      return `emitted ${fact.event.event} in ${fact.runId}: ${way(fact.event)}`
    case 'run.migrated':
      return `moved ${fact.runId} to version ${fact.process.version} of its process: ${way(fact.event)}`
    case 'run.cancelled':
      return `cancelled ${fact.runId} in "${fact.event.from}": ${shortened(fact.event.event)}`
    case 'run.refused':
      return `was refused ${fact.refusal.event} in ${fact.runId} (${fact.refusal.code})${triedWords(fact.refusal.tried)}: ${shortened(fact.refusal.message)}`
    case 'run.approved':
      return `approved ${fact.approval.of ?? 'the state'} of ${fact.runId} as ${fact.approval.role}`
    case 'setting.changed':
      return `set ${fact.name} to ${fact.value}`
    case 'command.revoked':
      return `took back the answer whether "${shortened(fact.run)}" may run${fact.reason === null ? '' : `: ${shortened(fact.reason)}`}`
    case 'command.started':
      return `runs "${shortened(fact.command.run)}"`
    case 'command.ended':
      return `ended command ${fact.commandId}: ${plainWord(fact.status)}${fact.exitCode === null ? '' : `, exit code ${fact.exitCode}`}`
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

import type { Happening } from '../../domain/fact.ts'
import { countChanges } from '../../domain/track/completion-report.ts'
import { gateFactWords } from './gate-fact-words.ts'
import { planFactWords } from './plan-fact-words.ts'
import { counted } from './text/count.ts'
import { plainWord, shortened } from './text/shortened.ts'

/** What happened, as the rest of a sentence that begins with who did it. */
export function factWords(happening: Happening): string {
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

type Closed = Extract<Happening, { readonly kind: 'attempt.closed' }>

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

import type { PlanHappening } from '../../domain/plan/happening.ts'
import { plainWord, shortened } from './text/shortened.ts'

/** What happened to a plan, as the rest of a sentence that begins with who did it. */
export function planFactWords(happening: PlanHappening): string {
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

import type { GateHappening } from '../../domain/gate/happening.ts'
import type { RunEvent, Tried } from '../../domain/gate/run-record.ts'
import { plainWord, shortened } from './text/shortened.ts'

/** What happened to a run, as the rest of a sentence that begins with who did it. */
export function gateFactWords(happening: GateHappening): string {
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

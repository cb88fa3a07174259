import type { AttemptData, TaskData } from '../../api/entities.ts'
import { TerminalCommand } from '../../parts/terminal-command.tsx'
import { Since } from '../../parts/time.tsx'

/** That the task was undone, or the command that undoes it. */
export function Undo({
  task: { id, undone },
  attempt,
}: {
  readonly task: TaskData
  readonly attempt: AttemptData
}) {
  if (undone !== null) {
    return (
      <p class="task-undone muted">
        Undone by {undone.author}, <Since at={undone.undone_at} /> ago: its changes were taken back.
      </p>
    )
  }
  if (attempt.status === 'open' || attempt.measured === null) return null
  const { measured_by: measuredBy, work_tree: tree } = attempt
  const machine = measuredBy === undefined ? null : (measuredBy.machine ?? measuredBy.machine_id)
  return (
    <details class="task-undo">
      <summary>Undo this task</summary>
      <p class="muted">
        Takes back what the task changed, and leaves the lines of others. Shows the difference first. Run it
        {machine === null ? '' : ` on ${machine}`} in <code>{tree}</code>:
      </p>
      <TerminalCommand words={`undo ${id}`} />
    </details>
  )
}

import type { AttemptData, TaskData } from '../../api/entities.ts'
import { TerminalCommand } from '../../parts/terminal-command.tsx'
import { Since } from '../../parts/time.tsx'

/** That the task was undone, and the command that takes this back. */
export function UndoneNote({ task: { undone } }: { readonly task: TaskData }) {
  if (undone === null) return null
  return (
    <section class="task-undone">
      <p>
        Undone by {undone.author}, <Since at={undone.undone_at} /> ago: its changes were taken back. What
        follows is how it was. To bring them back:
      </p>
      <TerminalCommand words={`restore ${undone.snapshot_id}`} />
    </section>
  )
}

/** The command that undoes the task. */
export function Undo({
  task: { id, undone },
  attempt,
}: {
  readonly task: TaskData
  readonly attempt: AttemptData
}) {
  if (undone !== null || attempt.status === 'open' || attempt.measured === null) return null
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

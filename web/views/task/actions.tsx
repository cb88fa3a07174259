import { useState } from 'preact/hooks'
import { call, callByName } from '../../api/call.ts'
import type { TaskData } from '../../api/entities.ts'
import { denialReason, ownPermissions } from '../../api/session.ts'
import { resultLines } from '../../palette/results.ts'
import { RefusalMessage } from '../../parts/refusal.tsx'
import { moveWords, openAttemptText, statusMove } from '../../parts/task-moves.ts'
import { TerminalCommand } from '../../parts/terminal-command.tsx'
import { href } from '../../router/location.ts'
import { type OperationRequest, openOperation } from '../../shell/overlays.tsx'

interface TaskAction {
  readonly label: string
  readonly means?: string
  /** Why the person may not do it; null if they may. */
  readonly denial: string | null
  readonly does: { readonly operation: string; readonly input: object } | OperationRequest
}

/** What a person may do with a task in its state: as on the card's menu, and the forms that change its plan. */
export function Actions({ task, refresh }: { readonly task: TaskData; readonly refresh: () => void }) {
  const [refusal, setRefusal] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const act = async ({ does }: TaskAction) => {
    if ('name' in does) return openOperation(does)
    setBusy(true)
    setRefusal(null)
    try {
      await callByName(does.operation, does.input)
      refresh()
    } catch (error) {
      setRefusal(error)
    }
    setBusy(false)
  }
  const open = openAttemptOf(task)
  const { claim } = task
  return (
    <section class="task-actions" aria-label="Actions">
      {actionsOf(task).map((action) => (
        <button
          key={action.label}
          type="button"
          class="button"
          disabled={isBusy || action.denial !== null}
          title={action.denial ?? action.means ?? ''}
          onClick={() => void act(action)}
        >
          {action.label}
        </button>
      ))}
      <CheckRun task={task} refresh={refresh} />
      {task.attempts.some(({ completed_at }) => completed_at !== null) ? (
        <a class="button" href={href(`/review/task/${task.id}`)}>
          Review
        </a>
      ) : null}
      {open ? (
        <p class="muted">{openAttemptText(open.agent_name, open.lost_access)}</p>
      ) : claim ? (
        <ClaimHolder id={task.id} agent={claim.agent} />
      ) : null}
      {refusal === null ? null : <RefusalMessage error={refusal} />}
    </section>
  )
}

/** Who took the task; the person themselves is told how to go on. */
function ClaimHolder({ id, agent }: { readonly id: string; readonly agent: string }) {
  if (agent !== ownPermissions.value?.person.name) return <p class="muted">Taken by {agent}.</p>
  return (
    <>
      <p class="muted">Taken by you. To work on it, start it in a terminal:</p>
      <TerminalCommand words={`task start ${id}`} />
    </>
  )
}

/** Runs the check of completed work again, here or where the files are. */
function CheckRun({ task, refresh }: { readonly task: TaskData; readonly refresh: () => void }) {
  const [result, setResult] = useState<string | null>(null)
  const [refusal, setRefusal] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const attempt = task.attempts.at(-1)
  const hasCheck = (task.done_when?.check ?? []).length > 0
  if (!hasCheck || !attempt || attempt.completed_at === null || attempt.verdict?.is === 'proven') return null
  if (attempt.measured_by) return <TerminalCommand words={`verify ${task.id}`} />
  const denial = denialReason('verify')
  const run = async () => {
    setBusy(true)
    setRefusal(null)
    try {
      const operation = 'verify'
      setResult(resultLines(operation, await call(operation, { run_id: task.id })).join('. '))
      refresh()
    } catch (error) {
      setRefusal(error)
    }
    setBusy(false)
  }
  return (
    <>
      <button
        type="button"
        class="button"
        disabled={isBusy || denial !== null}
        title={denial ?? 'Runs its allowed commands on the files of its work tree'}
        onClick={() => void run()}
      >
        Run the check
      </button>
      {result === null ? null : (
        <p class="muted" role="status">
          {result}
        </p>
      )}
      {refusal === null ? null : <RefusalMessage error={refusal} />}
    </>
  )
}

function openAttemptOf({ attempts }: TaskData) {
  return attempts.find(({ status }) => status === 'open') ?? null
}

/** What the task promises itself, a line each. Checks with pinned files or a time of their own are not lines. */
function promiseFields(own: TaskData['own_done_when']): Readonly<Record<string, string>> {
  const { criteria = [], check = [], changes = [], keeps = [] } = own ?? {}
  const commands = check.filter((entry) => typeof entry === 'string')
  return {
    ...(commands.length === check.length && { 'done_when.check': commands.join('\n') }),
    'done_when.changes': changes.join('\n'),
    'done_when.keeps': keeps.join('\n'),
    'done_when.criteria': criteria.join('\n'),
  }
}

/** The actions that the state of the task allows. */
function actionsOf(task: TaskData): readonly TaskAction[] {
  const { id, name, resolution, goal } = task
  const isOver = resolution !== null
  const form = (label: string, request: Omit<OperationRequest, 'about'>): TaskAction => ({
    label,
    denial: denialReason(request.name),
    does: { about: name, ...request },
  })
  const status = (label: string, to: 'to_do' | 'in_progress' | 'done', means: string): TaskAction => {
    const move = statusMove(id, to, means)
    return 'refused' in move
      ? { label, denial: move.refused, does: { operation: '', input: {} } }
      : { label, means: move.does, denial: null, does: move }
  }
  const edit = form('Edit', {
    name: 'taskman_task_edit',
    verb: 'Save',
    given: { id },
    fields: {
      title: name,
      description: goal ?? '',
      role: task.role ?? '',
      assignee: task.assignee ?? '',
      areas: task.areas.join('\n'),
      ...promiseFields(task.own_done_when),
    },
  })
  const note = form('Add a note', { name: 'taskman_task_note_add', given: { id }, fields: { content: '' } })
  if (openAttemptOf(task)) return [edit, note]
  if (isOver) return [status('Reopen', 'to_do', moveWords.reopen), edit, note]
  return [
    ...(task.claim
      ? [status('Give back', 'to_do', moveWords.release)]
      : [status('Take this task', 'in_progress', moveWords.claim)]),
    ...(task.items.length > 0 ? [] : [status('Mark as done', 'done', moveWords.mark)]),
    edit,
    note,
    form('Add a dependency', {
      name: 'taskman_task_dep_add',
      given: { 'task-id': id },
      fields: { 'dep-id': '' },
      without: [id, ...(task.links?.depends_on ?? []).map((other) => other.id)],
    }),
    form('Drop', { name: 'task_drop', given: { id } }),
  ]
}

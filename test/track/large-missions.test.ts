import { describe, expect, onTestFinished, test } from 'vitest'
import type { NewProjectEvent } from '../../src/events/domain/project-event.ts'
import type { AttemptId, MissionId, PhaseId, TaskId } from '../../src/kernel/id.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import type { Context } from '../../src/kernel/operations/operation.ts'
import type { SentStatement } from '../../src/store/statement-channel.ts'
import { dialects } from '../store/dialects.ts'
import { aChange, closing, happened } from '../store/events.ts'
import { amount } from '../support/amount.ts'
import { anAttempt, aTask } from '../support/entities.ts'
import { openProject } from '../support/project.ts'
import { costOf, scansOf, statementsSent } from '../support/statements.ts'

async function call(context: Context, name: string, input: object): Promise<Record<string, string>> {
  const operation = catalog.find((candidate) => candidate.name === name)
  if (!operation) throw new Error(`no operation ${name}`)
  return (await invoke(operation, context, input)) as Record<string, string>
}

/** Three tasks of a phase, each but the last with a work tree of its own: done, worked on, planned. */
function threeTasks(number: number, home: { readonly missionId: MissionId; readonly phaseId: PhaseId }) {
  return (['done', 'open', 'planned'] as const).flatMap((kind): NewProjectEvent[] => {
    const id = `t-${kind}-${number}` as TaskId
    const planned: NewProjectEvent = { kind: 'task.planned', task: aTask({ id, ...home, status: 'to_do' }) }
    if (kind === 'planned') return [planned]
    const top = `/elsewhere/${id}`
    const snapshot = { engine: 'git' as const, directory: `${top}.git`, top, prefix: '', id: 'abc' }
    const attempt = anAttempt({ id: `a-${kind}-${number}` as AttemptId, taskId: id, ...home, snapshot })
    const opened: NewProjectEvent = { kind: 'attempt.opened', attempt }
    if (kind === 'open') return [planned, opened]
    return [planned, opened, closing(attempt, [aChange('src/auth.ts'), aChange(`src/${number}.ts`)])]
  })
}

const report = { status: 'success', outcome: { summary: 'It works.' } }

describe.each(dialects)('in a mission with many tasks in $dialect', ({ dialect, fresh, isQuick }) => {
  async function asked(threes: number) {
    const temporary = await fresh()
    onTestFinished(() => temporary[Symbol.asyncDispose]())
    const project = await openProject()
    const context = { ...project.context, store: temporary.store }
    const { mission_id = '' } = await call(context, 'start_mission', { name: 'm', objective: 'o' })
    const work = { goal: 'g', mission_id, phase: 1, phase_name: 'Build', areas: ['src/**'] }
    const { phase_id = '', task_id: before } = await call(context, 'start_task', { ...work, name: 'before' })
    await call(context, 'complete_task', { task_id: before, ...report })
    const home = { missionId: mission_id as MissionId, phaseId: phase_id as PhaseId } // as they were answered
    const events = Array.from({ length: threes }, (_, number) => threeTasks(number, home)).flat()
    await happened(temporary.store, context.clock.now(), ...events)
    const sent = statementsSent()
    const calls: { readonly name: string; readonly statements: readonly SentStatement[] }[] = []
    const counted = async (name: string, input: object) => {
      const answer = await call(context, name, input)
      calls.push({ name, statements: sent.splice(0) })
      return answer
    }
    const { task_id } = await counted('start_task', { ...work, name: 'another' })
    await counted('log_milestone', { task_id, message: 'half', progress: 50 })
    project.write('src/auth.ts', `export const auth = ${threes}\n`)
    await counted('complete_task', { task_id, ...report })
    const planned_task_id = 't-planned-0'
    await counted('start_task', { planned_task_id })
    await counted('complete_task', { task_id: planned_task_id, ...report })
    return { calls, file: temporary.file }
  }

  test.runIf(isQuick)(
    'a task is begun, spoken of and completed with as many statements and rows as in a small one',
    async () => {
      const small = await asked(3)
      const large = await asked(amount({ test: 40, soak: 120 }))
      const costs = ({ calls }: typeof small) =>
        calls.map(({ name, statements }) => ({ name, ...costOf(statements) }))
      expect(costs(large)).toEqual(costs(small))
      if (dialect !== 'sqlite') return
      const scans = scansOf(
        large.file,
        large.calls.flatMap(({ statements }) => statements),
      )
      expect(scans).toEqual([])
    },
  )
})

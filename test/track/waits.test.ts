import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, onTestFinished, test } from 'vitest'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import type { TransactionStats } from '../../src/store/record/session.ts'
import { dialects } from '../contract/store/dialects.ts'
import { openProject } from '../support/project.ts'

/** What each record asked of its database while it held the project. */
function asked(): TransactionStats[] {
  const records: TransactionStats[] = []
  const take = (message: unknown) => void records.push(message as TransactionStats) // what the channel carries
  subscribe('waymark.record', take)
  onTestFinished(() => void unsubscribe('waymark.record', take))
  return records
}

function most(name: string, { statements, waits }: Readonly<Record<'statements' | 'waits', number>>) {
  const upTo = (limit: number) => expect.toSatisfy((found: number) => found <= limit, `at most ${limit}`)
  return { name, statements: upTo(statements), waits: upTo(waits) }
}

describe.each(dialects)('while a call holds the project in $dialect', ({ dialect, fresh }) => {
  test('few statements are asked, and fewer are waited for', async () => {
    const temporary = await fresh()
    const project = await openProject()
    onTestFinished(() => temporary[Symbol.asyncDispose]())
    const records = asked()
    const context = { ...project.context, store: temporary.store }
    let keys = 0
    const call = async (name: string, input: object) => {
      const operation = catalog.find((candidate) => candidate.name === name)
      if (!operation) throw new Error(`no operation ${name}`)
      records.length = 0
      keys += 1
      const answer = await invoke(operation, context, input, { idempotencyKey: `k-${keys}` })
      const [record] = records.slice(-1)
      if (!record) throw new Error(`${name} recorded nothing`)
      return {
        answer: answer as Record<string, string>,
        cost: { name, statements: record.statements.length, waits: record.waits },
      }
    }
    const mission = await call('start_mission', { name: 'm', objective: 'o' })
    const { mission_id } = mission.answer
    const work = { name: 'a', goal: 'g', mission_id, phase: 1, phase_name: 'P', areas: ['src/**'] }
    await call('start_task', work)
    const round = async (number: number) => {
      const started = await call('start_task', { ...work, phase_name: undefined })
      const { task_id } = started.answer
      const logged = await call('log_milestone', { task_id, message: 'half', progress: 50 })
      const decided = await call('log_decision', {
        task_id,
        category: 'library_choice',
        question: 'q',
        options_considered: ['a'],
        chosen: 'a',
        reasoning: 'r',
      })
      project.write('src/new.ts', `export const one = ${number}\n`)
      const completed = await call('complete_task', { task_id, status: 'success', outcome: { summary: 's' } })
      const begun = await call('state_gate_create_run', { process_id: 'exploration' })
      project.write('exploration/hypothesis.md', `It would be slow, ${number} times.\n`)
      const emitted = await call('state_gate_emit_event', {
        run_id: begun.answer['run_id'],
        event_name: 'submit_hypothesis',
        expected_revision: 1,
        idempotency_key: `e-${number}`,
        artifact_paths: ['exploration/hypothesis.md'],
      })
      return [started, logged, decided, completed, emitted].map(({ cost }) => cost)
    }
    // Where the database has words for it, what is asked or written together is one statement once it was sent before.
    const [before, start, log, complete, emit] = dialect === 'sqlite' ? [0, 28, 9, 41, 17] : [3, 12, 5, 15, 7]
    for (let number = 0; number < before; number += 1) await round(number)
    expect(await round(before)).toEqual([
      // What these two are to measure is asked again under the lock.
      most('start_task', { statements: start, waits: 7 }),
      most('log_milestone', { statements: log, waits: 2 }),
      most('log_decision', { statements: log, waits: 2 }),
      most('complete_task', { statements: complete, waits: 11 }),
      most('state_gate_emit_event', { statements: emit, waits: 6 }),
    ])
  })
})

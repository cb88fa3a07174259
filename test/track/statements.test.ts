import { describe, expect, onTestFinished, test } from 'vitest'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import type { SentStatement } from '../../src/store/statement-channel.ts'
import { dialects } from '../store/dialects.ts'
import { openProject, person } from '../support/project.ts'
import { allStatementsSent } from '../support/statements.ts'

describe.each(dialects)('while a call holds the project in $dialect', ({ dialect, fresh, isQuick }) => {
  async function calls() {
    const temporary = await fresh()
    onTestFinished(() => temporary[Symbol.asyncDispose]())
    const project = await openProject()
    const context = { ...project.context, store: temporary.store }
    const sent = allStatementsSent()
    let keys = 0
    const call = async (name: string, input: object, actor = context.actor) => {
      const operation = catalog.find((candidate) => candidate.name === name)
      if (!operation) throw new Error(`no operation ${name}`)
      sent.length = 0
      keys += 1
      const answer = await invoke(operation, { ...context, actor }, input, { idempotencyKey: `k-${keys}` })
      return {
        answer: answer as Record<string, string>,
        statements: sent.filter(({ isHeld }) => isHeld).map(({ sql }) => sql),
        sent: [...sent],
      }
    }
    return { project, call }
  }

  /** What is asked twice with the same values, before the first write and in the write transaction. */
  function askedTwice(statements: readonly SentStatement[]): readonly string[] {
    const held = statements.filter(({ isHeld }) => isHeld)
    const written = held.findIndex(({ sql }) => /^\s*(?:insert|update|delete)/.test(sql))
    const asked = held.slice(0, written === -1 ? undefined : written)
    const questions = asked.map(({ sql, values }) => `${sql} ${JSON.stringify(values)}`)
    return questions.filter((question, at) => questions.indexOf(question) < at)
  }

  test('a call sends few statements, and none twice', async () => {
    const { project, call } = await calls()
    const { mission_id } = (await call('start_mission', { name: 'm', objective: 'o' })).answer
    const work = { name: 'a', goal: 'g', mission_id, phase: 1, phase_name: 'P', areas: ['src/**'] }
    await call('start_task', work)
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
    project.write('src/new.ts', 'export const one = 1\n')
    const completed = await call('complete_task', { task_id, status: 'success', outcome: { summary: 's' } })
    const begun = await call('state_gate_create_run', { process_id: 'exploration' })
    project.write('exploration/hypothesis.md', 'It would be slow.\n')
    const emitted = await call('state_gate_emit_event', {
      run_id: begun.answer['run_id'],
      event_name: 'submit_hypothesis',
      expected_revision: 1,
      idempotency_key: 'e-1',
      artifact_paths: ['exploration/hypothesis.md'],
    })
    const found = {
      start_task: started,
      log_milestone: logged,
      log_decision: decided,
      complete_task: completed,
      start_run: begun,
      emit_event: emitted,
    }
    const lock = dialect === 'postgres' ? 1 : 0
    // While others wait for the project, and in all. What a measurement is prepared with is asked once before that.
    const most = {
      start_task: [35, 56],
      log_milestone: [10, 12],
      log_decision: [10, 12],
      complete_task: [49, 79],
      start_run: [9, 13],
      emit_event: [18, 32],
    } as const
    for (const [name, [held, all]] of Object.entries(most)) {
      const { statements, sent } = found[name as keyof typeof most]
      expect.soft(statements.length, name).toBeLessThanOrEqual(held + lock)
      expect.soft(sent.length, `${name} in all`).toBeLessThanOrEqual(all + lock)
      expect.soft(askedTwice(sent), name).toEqual([])
    }
  })

  test.runIf(isQuick)(
    'a start and a completion send as many statements with many attempts and files as with few',
    async () => {
      async function sentWith(many: number) {
        const { project, call } = await calls()
        const { mission_id } = (await call('start_mission', { name: 'm', objective: 'o' })).answer
        const work = { name: 'a', goal: 'g', mission_id, areas: ['src/**'] }
        for (let number = 0; number < many; number += 1) {
          const { task_id } = (await call('start_task', work)).answer
          project.write(`src/before-${number}.ts`, 'export const before = 1\n')
          await call('complete_task', { task_id, status: 'success', outcome: { summary: 's' } })
        }
        for (let number = 0; number < many; number += 1) await call('start_task', work)
        const started = await call('start_task', work)
        for (let number = 0; number < many; number += 1)
          project.write(`src/file-${number}.ts`, `export const one = ${number}\n`)
        const { task_id } = started.answer
        const completed = await call('complete_task', {
          task_id,
          status: 'success',
          outcome: { summary: 's' },
        })
        const shape = (statements: readonly string[]) => statements.map((sql) => sql.trim().slice(0, 28))
        return { started: shape(started.statements), completed: shape(completed.statements) }
      }
      // Rows are inserted in groups: these two numbers are one group each.
      const few = await sentWith(1)
      const many = await sentWith(4)
      expect(many).toEqual(few)
    },
  )

  test.runIf(isQuick)(
    'tasks are planned with as many questions about what they wait for, however many that is',
    async () => {
      async function questionsWith(many: number) {
        const { call } = await calls()
        const { mission_id } = (await call('start_mission', { name: 'm', objective: 'o' })).answer
        const before = Array.from({ length: many }, (_, number) => ({
          key: `b${number}`,
          title: `Before ${number}`,
          phase: 'P',
        }))
        const { answer } = await call('plan_tasks', { mission_id, phases: [{ name: 'P' }], tasks: before })
        const depends_on = (answer as unknown as { tasks: { id: string }[] }).tasks.map(({ id }) => id)
        const tasks = [{ key: 'a', title: 'After', phase: 'P', depends_on }]
        const { statements } = await call('plan_tasks', { mission_id, tasks })
        return statements.filter((sql) => /^\s*select \* from "task" where [^)]*"id" (=|in)/.test(sql)).length
      }
      const few = await questionsWith(1)
      expect(few).toBeGreaterThan(0)
      expect(await questionsWith(4)).toBe(few)
    },
  )

  interface Calls extends Awaited<ReturnType<typeof calls>> {
    readonly many: number
  }

  const guarded = `process: { dialect: 1, id: guarded, version: "1.0.0", name: Guarded, initial_state: work }
roles: [{ name: agent, kind: agent }]
states: [{ name: work }, { name: done, is_final: true }]
events: [{ name: finish, allowed_roles: [agent] }]
transitions: [{ from: work, event: finish, to: done, guard: scoped }]
guards:
  scoped: { type: changes, condition: in_scope }
`
  const outcome = { summary: 's' }

  const planned = async ({ call, many }: Calls) => {
    const { mission_id } = (await call('start_mission', { name: 'm', objective: 'o' })).answer
    const phases = Array.from({ length: many }, (_, at) => ({ id: `p${at}`, name: `P ${at}` }))
    const tasks = (after: string) =>
      phases.map(({ id }, at) => ({ key: `${after}${at}`, title: `T ${at}`, phase: id }))
    await call('plan_tasks', { mission_id, phases, tasks: tasks('a') })
    const more = phases.map(({ id, name }) => ({ id: `${id}-more`, name }))
    return call('plan_tasks', { mission_id, phases: more, tasks: tasks('b') })
  }

  const phaseEnded = async ({ call, many }: Calls) => {
    const { mission_id } = (await call('start_mission', { name: 'm', objective: 'o' })).answer
    const work = { goal: 'g', mission_id }
    for (let at = 0; at < many; at += 1) {
      const other = { ...work, name: `run ${at}`, phase: 2, phase_name: 'Later' }
      const { task_id } = (await call('start_task', other)).answer
      await call('state_gate_create_run', { process_id: 'exploration', task_id })
      await call('complete_task', { task_id, status: 'partial', outcome })
    }
    const last = { ...work, name: 'last', phase: 1, phase_name: 'First' }
    const { task_id } = (await call('start_task', last)).answer
    return call('complete_task', { task_id, status: 'success', phase_complete: true, outcome })
  }

  const sent = async ({ call, project, many }: Calls) => {
    project.write('.waymark/processes/guarded.yaml', guarded)
    const { mission_id } = (await call('start_mission', { name: 'm', objective: 'o' })).answer
    const { run_id } = (await call('state_gate_create_run', { process_id: 'guarded', mission_id })).answer
    for (let at = 0; at < many; at += 1) {
      const work = { name: `t ${at}`, goal: 'g', mission_id, areas: ['src/**'] }
      const { task_id } = (await call('start_task', work)).answer
      project.write(`src/file-${at}.ts`, 'export const one = 1\n')
      await call('complete_task', { task_id, status: 'success', outcome })
    }
    const finish = { run_id, event_name: 'finish', expected_revision: 1, idempotency_key: 'e' }
    return call('state_gate_emit_event', finish)
  }

  const sentBack = async ({ call, project, many }: Calls) => {
    const { mission_id } = (await call('start_mission', { name: 'm', objective: 'o' })).answer
    for (let at = 0; at < many; at += 1) {
      const { task_id } = (await call('start_task', { name: `t ${at}`, goal: 'g', mission_id })).answer
      project.write(`src/file-${at}.ts`, 'export const one = 1\n')
      await call('complete_task', { task_id, status: 'success', outcome })
    }
    const subject = { mission: mission_id }
    const { content } = (await call('review_show', subject, person)).answer
    return call('review_send', { subject, action: 'send_back', text: 'Again', content }, person)
  }

  test.runIf(isQuick).each([
    ['planning tasks in several phases', planned],
    ['the end of a phase beside runs of tasks', phaseEnded],
    ['an event whose guard looks at the changes of attempts', sent],
    ['sending several tasks back', sentBack],
  ])('%s asks as many questions with many as with few', async (_, work) => {
    const questionsWith = async (many: number) => {
      const { statements } = await work({ ...(await calls()), many })
      // What comes after the first write brings one event after the other into the tables.
      const written = statements.findIndex((sql) => /^\s*(?:insert|update|delete)/.test(sql))
      return statements.slice(0, written === -1 ? undefined : written).sort()
    }
    // Lists are asked for in lengths of two, four and so on.
    const shape = (sql: string) =>
      sql.replaceAll(/'p-[0-9a-z]+'|\$\d+|\+\?/g, '?').replaceAll(/\(\?(?:, \?)*\)/g, '(…)')
    const few = (await questionsWith(2)).map(shape)
    expect(few.length).toBeGreaterThan(0)
    expect((await questionsWith(3)).map(shape)).toEqual(few)
  })
})

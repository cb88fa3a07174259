import { describe, expect, test } from 'vitest'
import type { MilestoneId, PhaseId, TaskId } from '../../src/kernel/id.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import { outline } from '../../src/plan/domain/outline.ts'
import { planSource } from '../../src/plan/operations/plan-source.ts'
import { dialects } from '../store/dialects.ts'
import { happened } from '../store/events.ts'
import { aTask } from '../support/entities.ts'
import { type Answer, openProject, person } from '../support/project.ts'
import { shared, whenFinished } from '../support/shared.ts'

const id = (number: number) => `t-${String(number).padStart(4, '0')}` as TaskId // a brand

describe.each(dialects.filter(({ isQuick }) => isQuick))(
  'a plan of more than 500 tasks in $dialect',
  ({ fresh }) => {
    const opened = shared(async () => {
      const temporary = await fresh()
      whenFinished(() => temporary[Symbol.asyncDispose]())
      const { store } = temporary
      const { context } = await openProject()
      const call = async (name: string, input: object): Promise<Answer> => {
        const operation = catalog.find((candidate) => candidate.name === name)
        if (!operation) throw new Error(`no operation ${name}`)
        return invoke(operation, { ...context, store, actor: person }, input)
      }
      for (const phase of ['P1', 'P2']) {
        await call('taskman_phase_add', { id: phase, name: `Phase ${phase}` })
        await call('taskman_milestone_add', { id: `M-${phase}`, phase })
      }
      // Of seven tasks in a row, each waits for the one before.
      const tasks = Array.from({ length: 620 }, (_, at) =>
        aTask({
          id: id(at),
          missionId: null,
          phaseId: (at < 300 ? 'P1' : at < 600 ? 'P2' : null) as PhaseId | null, // a brand
          milestoneId: (at % 5 === 0 && at < 300 ? 'M-P1' : null) as MilestoneId | null, // a brand
          parentTaskId: at % 11 === 10 ? id(at - 1) : null,
          name: `Task ${at}`,
          status: at % 21 === 0 ? 'done' : 'to_do',
          resolution: at % 42 === 0 ? 'dropped' : at % 21 === 0 ? 'success' : null,
        }),
      )
      await happened(store, Date.now(), ...tasks.map((task) => ({ kind: 'task.planned' as const, task })))
      const links = tasks.flatMap((task, at) =>
        at % 7 === 0 ? [] : [{ kind: 'dependency.added' as const, taskId: task.id, dependsOnId: id(at - 1) }],
      )
      await happened(store, Date.now(), ...links)
      const source = await store.view((reads) => planSource(reads, 'open', Date.now()))
      return { call, whole: outline(source) }
    })

    test('is shown folded, with the counts of its phases', async () => {
      const { call, whole } = await opened()
      const shown = await call('plan_show', {})
      const counts = (phases: readonly Answer[]) =>
        phases.map(({ id: phase, done, total }) => ({ id: phase, done, total }))
      expect(counts(shown.phases)).toEqual(counts(whole))
      for (const phase of shown.phases) expect(phase).toMatchObject({ folded: true, tasks: [] })
      expect(shown.phases[0].milestones).toMatchObject([{ id: 'M-P1', tasks: [] }])
      expect(shown).toMatchObject({
        tasks: whole.reduce((sum, { total }) => sum + total, 0),
        done: whole.reduce((sum, { done }) => sum + done, 0),
        ready: statesOf(whole).filter(({ mark }) => mark === 'ready').length,
      })
      expect(shown.critical_path).toHaveLength(7)
    })

    test('shows the tasks of a phase in pages, as they are in the whole outline', async () => {
      const { call, whole } = await opened()
      for (const phase of ['P1', 'P2', 'none']) {
        const states: Answer[] = []
        let cursor: string | null = null
        do {
          const page: Answer = await call('plan_show', {
            phase,
            limit: 120,
            ...(cursor !== null && { cursor }),
          })
          expect(page.phases).toHaveLength(1)
          states.push(...statesOf(page.phases))
          cursor = page.next_cursor
        } while (cursor !== null)
        const expected = statesOf(whole.filter((one) => one.id === (phase === 'none' ? null : phase)))
        expect(sorted(states)).toEqual(sorted(expected))
      }
    })

    test('has a graph of one phase, with the tasks of others that it is linked to', async () => {
      const { call } = await opened()
      const { nodes, edges, part } = await call('plan_dependencies', {})
      expect(part).toMatchObject({
        phase: 'P1',
        shown: 300,
        total: 300,
        phases: [{ id: 'P1' }, { id: 'P2' }],
      })
      expect(nodes.filter(({ outside }: Answer) => !outside)).toHaveLength(300)
      // Task 299 is the sixth of its row, so that the first of P2 waits for it.
      expect(nodes.filter(({ outside }: Answer) => outside)).toMatchObject([{ id: id(300), mark: 'blocked' }])
      expect(edges).toContainEqual({ from: id(299), to: id(300), critical: false })

      const other = await call('plan_dependencies', { phase: 'none' })
      expect(other.part).toMatchObject({ phase: 'none', shown: 20, total: 20 })
      const { text } = await call('plan_graph', { phase: 'P2' })
      expect(text).toMatch(/^flowchart LR\n.*\n%% 300 of 300 tasks of phase P2/s)
    })
  },
)

/** The tasks of an outline without what depends on the page: their place and the critical path. */
function statesOf(phases: readonly Answer[]): readonly Answer[] {
  const flat = (tasks: readonly Answer[]): readonly Answer[] =>
    tasks.flatMap(({ subtasks, critical: _, ...task }) => [task, ...flat(subtasks)])
  return phases.flatMap(({ milestones, tasks }) => [
    ...milestones.flatMap((milestone: Answer) => flat(milestone.tasks)),
    ...flat(tasks),
  ])
}

function sorted(tasks: readonly Answer[]): readonly Answer[] {
  return tasks.toSorted((one, other) => (one.id < other.id ? -1 : 1))
}

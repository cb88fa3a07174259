import { describe, expect, onTestFinished, test } from 'vitest'
import type { NewProjectEvent } from '../../src/events/domain/project-event.ts'
import type { AttemptId, TaskId } from '../../src/kernel/id.ts'
import { staleAfter } from '../../src/track/domain/task.ts'
import { dialects } from '../store/dialects.ts'
import { happened } from '../store/events.ts'
import { anAttempt, aTask } from '../support/entities.ts'
import { openProject } from '../support/project.ts'
import { allStatementsSent, costOf } from '../support/statements.ts'

const hour = 3_600_000

describe.each(dialects.filter((one) => one.isQuick))(
  'beside attempts that nobody ended in $dialect',
  ({ fresh }) => {
    async function opened() {
      const temporary = await fresh()
      onTestFinished(() => temporary[Symbol.asyncDispose]())
      const project = await openProject({ isOnMachine: false })
      const context = { ...project.context, store: temporary.store }
      const call = (name: string, input: object) => project.call(name, input, { context })
      /** Attempts in the same work tree, with the last call of each. */
      async function leave(name: string, count: number, lastCallAt: number): Promise<void> {
        const events = Array.from({ length: count }, (_, number): readonly NewProjectEvent[] => {
          const taskId = `t-${name}-${number}` as TaskId // a brand
          const id = `a-${name}-${number}` as AttemptId // a brand
          const place = { engine: 'git', directory: `/state/${id}`, prefix: '', id: 'abc' } as const
          const attempt = anAttempt({
            id,
            taskId,
            missionId: null,
            agentName: `${name}-${number}`,
            snapshot: { ...place, top: project.folder },
            openedAt: lastCallAt,
            lastCallAt,
          })
          return [
            { kind: 'task.planned', task: aTask({ id: taskId, missionId: null, status: 'to_do' }) },
            { kind: 'attempt.opened', attempt },
          ]
        })
        await happened(temporary.store, context.clock.now(), ...events.flat())
      }
      async function completed(content: string) {
        const { task_id } = await call('start_task', { name: 'a', areas: ['src/**'] })
        project.write('src/auth.ts', content)
        return call('complete_task', { task_id, status: 'success', outcome: { summary: 's' } })
      }
      return { leave, completed, now: () => context.clock.now() }
    }

    test('stale ones are not read', async () => {
      async function cost(count: number) {
        const { leave, completed, now } = await opened()
        await leave('stale', count, now() - staleAfter - hour)
        // Who wrote the lines before is asked once, back to the start of the stale ones.
        await completed('0')
        const sent = allStatementsSent()
        expect(await completed('1')).toMatchObject({
          measurement: 'exact',
          details: [{ attribution: 'certain' }],
        })
        return costOf(sent)
      }
      expect(await cost(60)).toEqual(await cost(2))
    })

    test('one that is at work counts beside many stale ones', async () => {
      const { leave, completed, now } = await opened()
      await leave('stale', 210, now() - staleAfter - hour)
      await leave('live', 1, now() - hour)
      expect(await completed('1')).toMatchObject({
        measurement: 'partial',
        details: [{ path: 'src/auth.ts', with: [{ agent: 'live-0', task_id: 't-live-0' }] }],
      })
    })

    test('at most three are named, and the number of all', async () => {
      const { leave, completed, now } = await opened()
      await leave('live', 40, now() - hour)
      const answer = await completed('1')
      expect(answer.details).toMatchObject([{ with: { length: 3 }, with_total: 40 }])
      expect(JSON.stringify(answer).match(/live-\d+/g)?.length).toBeLessThanOrEqual(9)
    })
  },
)

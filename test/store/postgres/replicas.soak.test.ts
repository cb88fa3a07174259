import { describe, expect, onTestFinished, test } from 'vitest'
import { catalog } from '../../../src/kernel/operations/catalog.ts'
import { invoke } from '../../../src/kernel/operations/invoke.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { randomIds } from '../../../src/store/random-ids.ts'
import { isPostgresLeftOut, sharedPostgres } from '../../support/postgres/database.ts'
import { type Answer, openProject, type TestProject } from '../../support/project.ts'

type Call = (name: string, input: object) => Promise<Answer>

/** A project on a server, and the same project by further servers. */
async function replicas(count: number): Promise<{ project: TestProject; at: (number: number) => Call }> {
  const url = await sharedPostgres()
  const project = await openProject({ postgres: url })
  const calls = Array.from({ length: count }, (_, number): Call => {
    const own = new URL(url)
    own.searchParams.set('application_name', `waymark-replica-${number}`)
    const place = { root: project.folder, name: null, machine: 'laptop' }
    const store = openPostgresStore({ url: own.href, project: place, ids: randomIds })
    onTestFinished(() => store.close())
    return (name, input) => {
      const operation = catalog.find((candidate) => candidate.name === name)
      if (!operation) throw new Error(`no operation ${name}`)
      return invoke(operation, { ...project.context, store }, input, {})
    }
  })
  const at = (number: number) => {
    const call = calls[number % calls.length]
    if (!call) throw new Error('there is a replica')
    return call
  }
  return { project, at }
}

describe.skipIf(isPostgresLeftOut)('replicas that decide at the same time', () => {
  test('A → B on one and B → A on another: exactly one is refused', async () => {
    const { project, at } = await replicas(2)
    await project.call('taskman_phase_add', { id: 'P1', name: 'Build' })
    const added = async (title: string) =>
      (await project.call('taskman_task_add', { title, phase: 'P1', role: 'developer' })).id
    for (let round = 0; round < 5; round += 1) {
      const [one, other] = [await added(`A${round}`), await added(`B${round}`)]
      const tried = await Promise.allSettled([
        at(0)('taskman_task_dep_add', { id: one, 'dep-id': other }),
        at(1)('taskman_task_dep_add', { id: other, 'dep-id': one }),
      ])
      expect(tried.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    }
  })

  test('50 claims of one task over three of them: one has it', async () => {
    const { project, at } = await replicas(3)
    await project.call('taskman_phase_add', { id: 'P1', name: 'Build' })
    const { id } = await project.call('taskman_task_add', { title: 'One', phase: 'P1', role: 'developer' })
    const claims = await Promise.all(
      Array.from({ length: 50 }, (_, number) => at(number)('taskman_task_next', { claim: true })),
    )
    const winners = claims.filter(({ claim }) => claim !== null)
    expect(winners).toMatchObject([{ task: { id, status: 'in_progress' } }])
  })
})

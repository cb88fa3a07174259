import { describe, expect, test } from 'vitest'
import { invoke } from '../../src/operations/invoke.ts'
import { completeTask } from '../../src/operations/task/complete-task.ts'
import type { WorkTreeWitness } from '../../src/ports/work-tree.ts'
import { openProject } from '../support/project.ts'

const done = { status: 'success', outcome: { summary: 's' } }
type Detail = { readonly path: string; readonly attribution: string; readonly via?: string }
const attributions = (details: readonly Detail[]) =>
  Object.fromEntries(details.map(({ path, attribution }) => [path, attribution]))

describe('two attempts in one work tree', () => {
  test('what changed while only one was open is certainly its own', async () => {
    const project = await openProject()
    const one = await project.call('start_task', { name: 'one', agent_name: 'one' })
    project.write('only-one.ts', '1\n')
    const two = await project.call('start_task', { name: 'two', agent_name: 'two' })
    project.write('both.ts', '1\n')
    const first = await project.call('complete_task', { task_id: one.task_id, ...done })
    expect(attributions(first.details)).toEqual({ 'only-one.ts': 'certain', 'both.ts': 'contested' })
    expect(first.verification.status).toBe('partial')
    project.write('only-two.ts', '1\n')
    const second = await project.call('complete_task', { task_id: two.task_id, ...done })
    expect(attributions(second.details)).toEqual({ 'only-two.ts': 'certain', 'both.ts': 'contested' })
  })

  test('areas narrow what is contested; the other’s file is not listed', async () => {
    const project = await openProject()
    const one = await project.call('start_task', { name: 'one', agent_name: 'one', areas: ['auth'] })
    const two = await project.call('start_task', { name: 'two', agent_name: 'two', areas: ['api'] })
    project.write('src/auth.ts', 'changed\n')
    project.write('src/api.ts', 'changed\n')
    const first = await project.call('complete_task', { task_id: one.task_id, ...done })
    expect(attributions(first.details)).toEqual({ 'src/auth.ts': 'probable' })
    expect(first.verification).toMatchObject({ scope_match: true })
    expect(first.verification.warnings.join()).toContain('changed by other attempts')
    const second = await project.call('complete_task', { task_id: two.task_id, ...done })
    expect(attributions(second.details)).toEqual({ 'src/api.ts': 'probable' })
  })
})

test('a subtask’s changes roll up into its parent’s report, in scope if either’s areas match', async () => {
  const project = await openProject()
  const parent = await project.call('start_task', { name: 'parent', areas: ['auth'] })
  const child = await project.call('start_task', {
    parent_task_id: parent.task_id,
    name: 'child',
    areas: ['api'],
  })
  project.write('src/api.ts', 'changed\n')
  const inner = await project.call('complete_task', { task_id: child.task_id, ...done })
  expect(inner.verification).toMatchObject({ scope_match: true, warnings: [] })
  project.write('src/auth.ts', 'changed\n')
  const outer = await project.call('complete_task', { task_id: parent.task_id, ...done })
  expect(outer.verification).toMatchObject({ scope_match: true, unexpected_files: [] })
  const rolled = outer.details.find(({ path }: Detail) => path === 'src/api.ts')
  expect(rolled).toMatchObject({ attribution: 'certain', via: child.attempt_id, scope: 'in' })
  expect(outer.details.find(({ path }: Detail) => path === 'src/auth.ts')).not.toHaveProperty('via')
})

test('an attempt that begins while another’s end is measured is not overlooked', async () => {
  const project = await openProject()
  const one = await project.call('start_task', { name: 'one', agent_name: 'one' })
  const { witness } = project.context
  const late: WorkTreeWitness = {
    ...witness,
    snapshot: async (request) => {
      await project.call('start_task', { name: 'two', agent_name: 'two' })
      project.write('from-two.ts', '1\n')
      return witness.snapshot(request)
    },
  }
  const first = await invoke(
    completeTask,
    { ...project.context, witness: late },
    {
      task_id: one.task_id,
      ...done,
    },
  )
  expect(attributions(first['details'] as readonly Detail[])).toEqual({ 'from-two.ts': 'contested' })
  expect(first['verification']).toMatchObject({ status: 'partial' })
})

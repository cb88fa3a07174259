import { describe, expect, test } from 'vitest'
import type { WorkTreeWitness } from '../../src/git/ports/work-tree.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import { completeTask } from '../../src/track/operations/complete-task.ts'
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
    expect(first.measurement).toBe('partial')
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
    expect(first.contested_files).toEqual([{ path: 'src/api.ts', candidates: ['two'] }])
    expect(first.verification.warnings.join()).toContain('probably theirs: src/api.ts (two)')
    const second = await project.call('complete_task', { task_id: two.task_id, ...done })
    expect(attributions(second.details)).toEqual({ 'src/api.ts': 'probable' })
  })
})

describe('several agents in one work tree are told apart honestly', () => {
  const twoAgents = async (one: object = {}, two: object = {}) => {
    const project = await openProject()
    const first = await project.call('start_task', { name: 'one', agent_name: 'one', ...one })
    const second = await project.call('start_task', { name: 'two', agent_name: 'two', ...two })
    return { project, first, second }
  }

  test('an edit in another’s area is not missing from the editor’s report: its own words settle it', async () => {
    const { project, first, second } = await twoAgents({ areas: ['auth'] }, { areas: ['api'] })
    project.write('src/api.ts', 'by one\n')
    const silent = await project.call('complete_task', { task_id: first.task_id, ...done, preview: true })
    expect(silent.contested_files).toEqual([{ path: 'src/api.ts', candidates: ['two'] }])
    expect(silent.files_changed.modified).toEqual([])
    const said = { status: 'success', outcome: { summary: 'I had to edit src/api.ts too.' } }
    const report = await project.call('complete_task', { task_id: first.task_id, ...said })
    expect(report.files_changed.modified).toEqual(['src/api.ts'])
    expect(report.claimed_paths).toEqual([{ path: 'src/api.ts', found: 'uncontested' }])
    expect(report.details[0]).toMatchObject({
      attribution: 'probable',
      with: [{ agent: 'two', task_id: second.task_id }],
      lines: 'all',
    })
    expect(report).toMatchObject({ measurement: 'partial', verification: { scope_match: false } })
  })

  test('a file that the agent explains as unexpected is its own, and judged', async () => {
    const { project, first } = await twoAgents({ areas: ['auth'] })
    project.write('utils.ts', 'by one\n')
    const unexpected = [{ path: './utils.ts', why: 'the script was wrong' }]
    const outcome = { summary: 's', unexpected }
    const report = await project.call('complete_task', { task_id: first.task_id, status: 'success', outcome })
    expect(report.details).toMatchObject([{ path: 'utils.ts', attribution: 'probable', scope: 'out' }])
    expect(report.verification).toMatchObject({ scope_match: false, unexpected_files: ['utils.ts'] })
  })

  test('no agent is accused of a file that it may not have touched', async () => {
    const { project, first } = await twoAgents({ areas: ['auth'] })
    project.write('utils.ts', 'by two\n')
    const report = await project.call('complete_task', { task_id: first.task_id, ...done })
    expect(report).toMatchObject({
      measurement: 'partial',
      verification: { scope_match: true, unexpected_files: [] },
    })
    expect(report.details).toMatchObject([{ path: 'utils.ts', attribution: 'contested', scope: null }])
    expect(report.verification.warnings.join()).toContain('also worked here: utils.ts')
    expect((await project.call('inbox', {})).items).toEqual([])
  })

  test('a measurement is exact where every path is certain', async () => {
    const { project, first, second } = await twoAgents({ areas: ['auth'] }, { areas: ['api'] })
    project.write('src/auth.ts', 'by one\n')
    const report = await project.call('complete_task', { task_id: first.task_id, ...done })
    expect(report.details).toMatchObject([{ path: 'src/auth.ts', attribution: 'probable' }])
    expect(report.measurement).toBe('partial')
    project.write('src/api.ts', 'alone again\n')
    const later = await project.call('complete_task', { task_id: second.task_id, ...done })
    expect(later.contested_files).toEqual([{ path: 'src/auth.ts', candidates: ['one'] }])
    expect(later.measurement).toBe('partial')
  })

  test('commits are listed; whose they are is said only where the time or the files tell', async () => {
    const { project, first, second } = await twoAgents({ areas: ['auth'] }, { areas: ['api'] })
    project.write('src/auth.ts', 'by one\n')
    project.git('commit', '-qam', 'Auth: as asked')
    project.write('src/api.ts', 'by two\n')
    project.git('commit', '-qam', 'Api')
    project.write('src/auth.ts', 'again by one\n')
    project.write('src/api.ts', 'again by two\n')
    project.git('commit', '-qam', 'Everything there was')
    const report = await project.call('complete_task', { task_id: first.task_id, ...done })
    const told = report.commits.map(({ subject, whose }: { subject: string; whose: string }) => [
      subject,
      whose,
    ])
    expect(told).toEqual([
      ['Auth: as asked', 'own'],
      ['Api', 'other'],
      ['Everything there was', 'unknown'],
    ])
    expect(report.verification.warnings.join()).toMatch(
      /"Everything there was" also holds changes that are probably not yours: src\/api\.ts \(two\)/,
    )
    await project.call('complete_task', { task_id: second.task_id, ...done })
    const alone = await project.call('start_task', { name: 'three' })
    project.git('commit', '-q', '--allow-empty', '-m', 'Alone')
    const last = await project.call('complete_task', { task_id: alone.task_id, ...done })
    expect(last.commits).toMatchObject([{ subject: 'Alone', whose: 'own' }])
  })

  test('words that name a file which did not change are found out', async () => {
    const project = await openProject()
    const { task_id } = await project.call('start_task', { name: 'one' })
    project.write('src/auth.ts', 'changed\n')
    const said = { status: 'success', outcome: { summary: 'Changed src/auth.ts and src/api.ts.' } }
    const report = await project.call('complete_task', { task_id, ...said })
    expect(report.claimed_paths).toEqual([{ path: 'src/api.ts', found: 'unchanged' }])
  })
})

describe('before it ends, an agent may look', () => {
  test('a preview answers the verdict and ends nothing', async () => {
    const project = await openProject()
    const { task_id } = await project.call('start_task', { name: 'one', areas: ['auth'] })
    project.write('utils.ts', 'changed\n')
    const reviewed = { ...done, outcome: { ...done.outcome, manual_review_needed: true } }
    const look = await project.call('complete_task', { task_id, ...reviewed, preview: true })
    expect(look).toMatchObject({ preview: true, completed_at: null, settled: false })
    expect(look.waits_for).toMatchObject([
      { item_id: null, kind: 'review' },
      { item_id: null, kind: 'scope' },
    ])
    expect(look.verification).toMatchObject({ scope_match: false, unexpected_files: ['utils.ts'] })
    expect((await project.call('inbox', {})).items).toEqual([])
    project.git('checkout', '-q', 'utils.ts')
    const report = await project.call('complete_task', { task_id, ...done })
    expect(report).toMatchObject({ measurement: 'exact', verification: { scope_match: true } })
  })

  test('areas that were too narrow are widened in the open', async () => {
    const project = await openProject()
    const { task_id } = await project.call('start_task', { name: 'one', areas: ['auth'] })
    project.write('utils.ts', 'changed\n')
    const report = await project.call('complete_task', { task_id, ...done, areas: ['utils.ts'] })
    expect(report).toMatchObject({ areas_added: ['utils.ts'], verification: { scope_match: true } })
    expect(report.verification.warnings).toContain('The scope was widened at the end: utils.ts.')
    const shown = await project.call('changes', { id: task_id })
    expect(shown.areas_added).toEqual(['utils.ts'])
  })

  test('what was not expected is explained, and the person who decides reads it', async () => {
    const project = await openProject()
    const { task_id } = await project.call('start_task', { name: 'one', areas: ['auth'] })
    project.write('utils.ts', 'changed\n')
    const unexpected = [{ path: 'utils.ts', why: 'the helper had the same bug' }]
    await project.call('complete_task', { task_id, status: 'success', outcome: { summary: 's', unexpected } })
    const { items } = await project.call('inbox', {})
    expect(items[0].reason).toContain('utils.ts: the helper had the same bug')
  })
})

test('whoever starts among uncommitted files is told which', async () => {
  const project = await openProject()
  project.write('src/auth.ts', 'dirty\n')
  project.write('new.ts', 'dirty\n')
  const { warnings } = await project.call('start_task', { name: 'one' })
  expect(warnings.join()).toContain('2 files already have uncommitted changes: src/auth.ts, new.ts')
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
  expect(first).toMatchObject({ measurement: 'partial' })
})

test('a contested file is not said to be shared with the agent that is told of it', async () => {
  const { call, write } = await openProject()
  const first = await call('start_task', { name: 'one', agent_name: 'solo' })
  const second = await call('start_task', { name: 'two', agent_name: 'solo' })
  write('both.ts', '1\n')
  const { verification } = await call('complete_task', { task_id: first.task_id, ...done })
  const told = verification.warnings.find((warning: string) => warning.includes('both.ts'))
  expect(told).toContain(second.task_id)
  expect(told).not.toContain('solo')
})

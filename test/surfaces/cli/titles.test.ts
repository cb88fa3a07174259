import { expect, test } from 'vitest'
import { catalog } from '../../../src/kernel/operations/catalog.ts'
import { render } from '../../../src/surfaces/cli/render/render.ts'
import { withLocalTimes } from '../../../src/surfaces/cli/render/text.ts'
import { soakTest } from '../../support/amount.ts'
import { smallProcess } from '../../support/processes.ts'
import { type CommandLineProject, openCommandLine, startWork } from './command-line.ts'
import { spoken } from './spoken.ts'

function plan(project: CommandLineProject, ...titles: readonly string[]): readonly string[] {
  project.json('phase', 'add', '--id', 'P1', '--name', 'Design')
  return titles.map((title): string => project.json('task', 'add', '--phase', 'P1', '--title', title).id)
}

test('a title names a task or a mission, as its id does', async () => {
  const project = openCommandLine()
  const { missionId, taskId } = startWork(project)
  for (const words of [
    ['show', 'Add the form'],
    ['show', 'the FORM'],
    ['changes', 'add the form'],
    ['diff', 'Add the form'],
  ])
    expect(await spoken(words, project)).toMatchObject({ code: 0, error: '' })
  expect((await spoken(['show', 'form'], project)).out).toContain(taskId)
  expect((await spoken(['mission', 'timeline', 'Sign in'], project)).out).toContain(missionId)
  const { code, error } = await spoken(['changes', 'sign in'], project)
  expect({ code, error }).toEqual({
    code: 1,
    error: expect.stringMatching(/waymark mission changes ["']sign in["']/),
  })
  expect((await spoken(['show', 'nothing like it'], project)).error).toContain('not found: nothing like it')
})

test('a title that several have is refused with their ids', async () => {
  const project = openCommandLine()
  const ids = plan(project, 'Draw', 'Draw')
  const { code, error } = await spoken(['show', 'draw'], project)
  expect(code).toBe(2)
  for (const id of ids) expect(error).toContain(`${id}  Draw`)
})

test('a command that changes something takes only a whole title', async () => {
  const project = openCommandLine()
  const [id = ''] = plan(project, 'Draw the map')
  const { code, error } = await spoken(['task', 'drop', 'map', 'Not wanted'], project)
  expect(code).toBe(1)
  expect(error).toContain(`Did you mean ${id} "Draw the map"?`)
  expect((await spoken(['task', 'drop', 'draw the map', 'Not wanted'], project)).out).toBe(
    `Dropped "Draw the map" ${id}.\n`,
  )
})

test('task start with the title of a planned task starts that task', async () => {
  const project = openCommandLine()
  const [id = ''] = plan(project, 'Draw the map')
  expect((await spoken(['task', 'start', 'draw the map'], project)).out).toMatch(
    new RegExp(`^Started "Draw the map"\\.\\ntask +${id}`),
  )
  expect(project.json('task', 'list')).toHaveLength(1)
  expect((await spoken(['task', 'start', 'Another map'], project)).out).toMatch(/^Started "Another map"\./)
  expect(project.json('task', 'list')).toHaveLength(2)
})

test('task start with the title of a claimed task starts that task', async () => {
  const project = openCommandLine()
  const [id = ''] = plan(project, 'Draw the map')
  await spoken(['task', 'next', '--claim'], project)
  expect(await spoken(['task', 'start', 'draw the map'], project)).toMatchObject({ code: 0 })
  expect(project.json('task', 'list')).toMatchObject([{ id, status: 'in_progress' }])
  await spoken(['task', 'start', id], project)
  expect(project.json('show', id).attempts).toHaveLength(1)
})

test('work that was sent back in the inbox says so where it is next and where it starts', async () => {
  const project = openCommandLine()
  const [id = ''] = plan(project, 'Draw the map')
  await spoken(['task', 'start', id], project)
  const review = ['--outcome.manual-review-needed', '--outcome.manual-review-reason', 'Please look']
  project.json('task', 'complete', id, '--status', 'success', '--outcome.summary', 'Done', ...review)
  const [{ item_id: item }] = project.json('inbox').items
  await spoken(['reject', item, 'Use whole cents.'], project)
  expect((await spoken(['task', 'next'], project)).out).toContain('sent back by Tess: Use whole cents.')
  expect((await spoken(['task', 'start', id], project)).out).toContain('Sent back by Tess: Use whole cents.')
  expect(project.json('task', 'get', id).sent_back).toMatchObject({
    author: 'Tess',
    text: 'Use whole cents.',
  })
})

test('task start asks which one if several planned tasks have the title', async () => {
  const project = openCommandLine()
  const ids = plan(project, 'Draw', 'Draw')
  const { code, error } = await spoken(['task', 'start', 'Draw'], project)
  expect(code).toBe(2)
  for (const id of ids) expect(error).toContain(`waymark task start --planned-task-id ${id}\n`)
})

test('changes and diff without a task take the one in progress, then the last one', async () => {
  const project = openCommandLine()
  expect((await spoken(['changes'], project)).error).toContain('waymark task start')
  const { taskId } = startWork(project)
  expect((await spoken(['changes'], project)).out).toMatch(/^"Add the form" a-\w+ so far: /)
  expect(project.json('changes').task_id).toBe(taskId)
  const second = startWork(project).taskId
  const { code, error } = await spoken(['diff'], project)
  expect(code).toBe(2)
  for (const id of [taskId, second]) expect(error).toContain(`waymark diff ${id}`)
  for (const id of [taskId, second])
    project.json('task', 'complete', id, '--status', 'success', '--outcome.summary', 'Done')
  expect(project.json('changes').task_id).toBe(second)
})

test('an event at the command line needs neither revision nor key', async () => {
  const project = openCommandLine({ git: false })
  project.write('.waymark/processes/small.yaml', smallProcess)
  const { run_id: id } = project.json('run', 'create', 'small')
  expect(project.run('run', 'emit', 'abandon', '--dry-run').code).toBe(0)
  expect(await spoken(['run', 'emit', 'abandon'], project)).toMatchObject({ code: 0, error: '' })
  expect(project.json('run', 'show', id).revision).toBe(2)
})

test('a task that failed is not told as completed, and a correction prints only itself', async () => {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  const failed = ['--status', 'failed', '--outcome.summary', 'No way']
  expect((await spoken(['task', 'complete', taskId, ...failed], project)).out).toMatch(
    /^Failed: "Add the form" t-\w+ after /,
  )
  const again = ['--status', 'failed', '--outcome.summary', 'Another report']
  expect((await spoken(['task', 'complete', taskId, ...again], project)).error).toContain(
    `waymark task complete --task-id ${taskId} --correction …`,
  )
  const { out } = await spoken(['task', 'complete', taskId, '--correction', 'There is a way.'], project)
  expect(out).toBe(`Added a correction to "Add the form" ${taskId}: There is a way.\n`)
})

test('one word tells how work came back, in the answer, the log, the inbox and the task', async () => {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  const review = ['--outcome.manual-review-needed', '--outcome.manual-review-reason', 'Please look']
  const done = ['--status', 'success', '--outcome.summary', 'Done']
  project.json('task', 'complete', taskId, ...done, ...review)
  const [{ item_id: item }] = project.json('inbox').items
  expect((await spoken(['inbox'], project)).out).toMatch(
    new RegExp(`waymark reject ${item} "<reason>" +Send back`),
  )
  expect((await spoken(['reject', item, 'Use whole cents.'], project)).out).toMatch(/^Sent back review h-/)
  expect((await spoken(['log'], project)).out).toContain('sent back "Add the form" in the inbox')
  expect((await spoken(['inbox', '--closed'], project)).out).toContain('sent back by Tess: Use whole cents.')
  expect((await spoken(['show', taskId], project)).out).toMatch(/Attempt 1 by .*: done, sent back by Tess/)
  expect((await spoken(['approve', item], project)).error).toContain('was already sent back by Tess')
})

test('log asks for the command that shows one task', async () => {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  expect((await spoken(['log', taskId], project)).error).toContain('waymark show <task>')
})

test('a cut list names the command of its next page', async () => {
  const project = openCommandLine()
  startWork(project)
  const { out } = await spoken(['log', '--limit', '1'], project)
  const [, command = ''] = /Earlier entries: waymark (log --limit 1 --cursor \S+)/.exec(out) ?? []
  expect(await spoken(command.split(' '), project)).toMatchObject({ code: 0, error: '' })
})

test('every command has a text of its own', () => {
  const terminal = {
    interactive: false,
    width: 80,
    ink: (_: unknown, text: string) => text,
    write: () => undefined,
    writeError: () => undefined,
  }
  const raw = catalog.filter((operation) => {
    if (operation.screen === true || operation.print !== undefined || operation.command === 'check')
      return false
    try {
      return render(operation, { answer: { of: 'none' }, input: {}, wanted: undefined }, terminal).startsWith(
        '{',
      )
    } catch {
      return false
    }
  })
  expect(raw.map(({ command }) => command)).toEqual([])
})

test('times in a refusal are those of the clock on the wall', () => {
  const now = new Date(2026, 0, 15, 20, 0).getTime()
  const at = (day: number, hour: number) => new Date(2026, 0, day, hour, 5).toISOString()
  expect(withLocalTimes(`since ${at(15, 9)}, last call ${at(14, 8)}.`, now)).toBe(
    'since 09:05, last call 2026-01-14 08:05.',
  )
})

soakTest('statistics explain their figures where asked to', async () => {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  project.json('task', 'complete', taskId, '--status', 'success', '--outcome.summary', 'Done')
  for (const command of [['stats'], ['provenance', 'stats']]) {
    const { out } = await spoken(command, project)
    expect(out).toContain(`What the figures mean: waymark ${command.join(' ')} --explain`)
    expect((await spoken([...command, '--explain'], project)).out).toContain('What the figures mean\n')
  }
})

test('context without a list of parts prints them all', async () => {
  const project = openCommandLine()
  startWork(project)
  expect((await spoken(['context', 'Sign in'], project)).out).toMatch(
    /^Sign in\n[\s\S]*Tasks\n[\s\S]*Add the form/,
  )
})

test('a short word of a task leads to its command', async () => {
  for (const word of ['start', 'complete', 'note', 'next'])
    expect((await spoken([word])).error).toContain(`Did you mean: waymark task ${word}`)
})

test('a run is known by the end of its id, and an event says the payload that it needs', async () => {
  const project = openCommandLine({ git: false })
  const { run_id: id } = project.json('run', 'create', 'change-control')
  const short = `run-${id.slice(-8)}`
  expect((await spoken(['run', 'list'], project)).out).toMatch(
    new RegExp(`^Change control .* ${short}$`, 'm'),
  )
  expect(project.json('run', 'show', short).run_id).toBe(id)
  const { out } = await spoken(['show', short], project)
  expect(out).toContain(`waymark run emit ${short} propose --payload '{"risk":"low|high"}'`)
  expect(out).not.toContain(id)
  const refused = project.refused(
    'run',
    'emit',
    short,
    'propose',
    '--expected-revision',
    '1',
    '--idempotency-key',
    'one',
  )
  expect(refused).toMatchObject({
    reason: 'payload_invalid',
    fix: {
      operation: 'state_gate_emit_event',
      input: { run_id: id, event_name: 'propose', payload: { risk: 'low|high' } },
    },
  })
  expect(refused.hint).toContain(`--payload '{"risk":"low|high"}'`)
})

test('task add takes a title alone, and goes to the last open phase or a first one', async () => {
  const project = openCommandLine({ git: false })
  expect(project.json('task', 'add', 'Draw the map').phase_id).toBe('tasks')
  project.json('phase', 'add', '--id', 'P2', '--name', 'Build')
  project.json('phase', 'add', '--id', 'P3', '--name', 'Done', '--status', 'done')
  expect(project.json('task', 'add', 'Build the map').phase_id).toBe('P2')
  expect(project.json('task', 'add', 'Ship it', '--phase', 'tasks').phase_id).toBe('tasks')
})

test('the scope of a planned task is shown, edited and emptied', async () => {
  const project = openCommandLine({ git: false })
  const { id, areas } = project.json('task', 'add', 'Draw the map', '--areas', 'src/')
  expect(areas).toEqual(['src/'])
  expect(project.json('task', 'edit', id, '--areas', 'lib/', '--areas', 'docs/').areas).toEqual([
    'lib/',
    'docs/',
  ])
  expect((await spoken(['show', id], project)).out).toMatch(/^scope +lib\/, docs\/$/m)
  expect(project.json('task', 'edit', id, '--clear', 'areas').areas).toBeUndefined()
})

test('another scope for an open attempt is said to be ignored', () => {
  const project = openCommandLine()
  const { id } = project.json('task', 'add', 'Draw the map')
  project.json('task', 'start', id, '--areas', 'src/')
  const same = project.json('task', 'start', id, '--areas', 'src/')
  const other = project.json('task', 'start', id, '--areas', 'lib/')
  expect(other.areas).toEqual(same.areas)
  expect(other.warnings).toHaveLength(same.warnings.length + 1)
})

test('a command that was meant for another kind leads there', async () => {
  const project = openCommandLine()
  const { missionId, taskId } = startWork(project)
  project.json('phase', 'add', '--id', 'P9', '--name', 'Later')
  expect(await spoken(['changes', missionId], project)).toMatchObject({ code: 0, error: '' })
  expect(await spoken(['report', 'Add the form'], project)).toMatchObject({ code: 0, error: '' })
  expect(project.refused('show', 'P9')).toMatchObject({
    reason: 'phase_id',
    fix: { operation: 'taskman_task_list', input: { phase: 'P9' } },
  })
  const { decision_id: decision } = project.json(
    'decision',
    'log',
    taskId,
    '--category',
    'architecture',
    '--question',
    'Which?',
    '--chosen',
    'This',
    '--reasoning',
    'It fits',
  )
  expect(project.json('show', decision).id).toBe(taskId)
  project.write('src/app.ts', 'export const app = 2\n')
  const review = ['--outcome.manual-review-needed', '--outcome.manual-review-reason', 'Please look']
  project.json('task', 'complete', taskId, '--status', 'success', '--outcome.summary', 'Done', ...review)
  expect((await spoken(['approve', 'add the form'], project)).out).toMatch(/^Approved review h-/)
})

test('an empty list of missions does not lead to itself', async () => {
  const project = openCommandLine({ git: false })
  expect((await spoken(['mission', 'list'], project)).out).toContain('--status all')
  const all = (await spoken(['mission', 'list', '--status', 'all'], project)).out
  expect(all).toContain('waymark mission start')
  expect(all).not.toContain('--status all')
})

test('the graph of a plan is a tree at a terminal and Mermaid in a pipe', async () => {
  const project = openCommandLine({ git: false })
  const first = project.json('task', 'add', 'Draw')
  project.json('task', 'add', 'Build', '--depends-on', first.id)
  expect((await spoken(['plan', 'graph'], project)).out).toBe('○ Draw\n└─ · Build\n')
  expect(project.run('plan', 'graph').out).toMatch(/^flowchart LR/)
})

test('a person at a terminal completes a task with a summary alone; a program names the status', async () => {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  expect(project.run('task', 'complete', taskId, 'Drew it').code).toBe(2)
  expect((await spoken(['task', 'complete', taskId], project)).error).toContain('outcome is missing')
  expect((await spoken(['task', 'complete', 'Add the form', 'Drew it'], project)).code).toBe(0)
  const [attempt] = project.json('show', taskId).attempts
  expect(attempt).toMatchObject({ status: 'success', claimed: { summary: 'Drew it' } })
})

test('an attempt that goes on is not said to have started', async () => {
  const project = openCommandLine()
  expect((await spoken(['task', 'start', 'Draw the map'], project)).out).toMatch(/^Started /)
  expect((await spoken(['task', 'start', 'Draw the map'], project)).out).toMatch(/^Continued /)
})

test('task add without a title misses the title alone, and creates no phase', async () => {
  const project = openCommandLine()
  const { code, error } = await spoken(['task', 'add'], project)
  expect(code).toBe(2)
  expect(error).not.toContain('--phase')
  expect(project.json('phase', 'list')).toEqual([])
})

test('missions are listed by the way they ended', async () => {
  const project = openCommandLine()
  const { missionId } = startWork(project)
  const names = (status: string) =>
    project
      .json('mission', 'list', '--status', status)
      .missions.map((mission: { mission_id: string }) => mission.mission_id)
  expect(names('completed')).toEqual([])
  project.json('mission', 'complete', missionId, '--status', 'failed', '--summary', 'No way')
  expect([names('failed'), names('completed'), names('done')]).toEqual([[missionId], [], []])
})

test('an inbox item of a verdict shows the claim, the figures and each reason', async () => {
  const project = openCommandLine()
  const { taskId, missionId } = startWork(project)
  await spoken(['task', 'complete', taskId, 'Wrote the form, all tests pass.'], project)
  expect(project.json('show', missionId).tasks).toMatchObject([{ id: taskId, verdict: 'contradicted' }])
  const { out } = await spoken(['inbox'], project)
  expect(out).toMatch(/^verdict {2}Add the form {2}\(Sign in\)/m)
  expect(out.split('\n')[0]).not.toContain(missionId)
  expect(out).toContain('claimed   "Wrote the form, all tests pass."')
  expect(out).toContain('measured  0 files')
  expect(out).toMatch(/^ +✗ /m)
  expect(out).toMatch(/^ +contradicted$/m)
  project.json('task', 'edit', taskId, '--status', 'to_do')
  project.json('task', 'start', '--planned-task-id', taskId)
  await spoken(['task', 'complete', taskId, 'Wrote the form, all tests pass.'], project)
  expect((await spoken(['inbox'], project)).out).toContain('measured  0 files in 2 attempts')
})

soakTest('an inbox item and a review say that the last attempt failed or is partly done', async () => {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  const end = (status: string, ...words: readonly string[]) =>
    project.json('task', 'complete', taskId, 'Wrote half.', '--status', status, ...words)
  const again = () => project.json('task', 'start', '--planned-task-id', taskId)
  const read = async () => [
    (await spoken(['inbox'], project)).out,
    (await spoken(['review', 'show', taskId], project)).out,
  ]
  project.write('src/app.ts', 'export const app = 2\n')
  end('success')
  const { content } = project.json('review', 'show', taskId)
  project.json('review', taskId, '--send-back', 'Use three.', '--content', content)
  again()
  end('failed', '--outcome.manual-review-needed', '--outcome.manual-review-reason', 'I am stuck.')
  const [failed, reviewed] = await read()
  expect(failed).toContain('claimed   failed: "Wrote half."')
  expect(failed).toContain('Answer the agent; the task stays failed')
  expect(reviewed).toContain('The last attempt failed, and the task stays to do')
  expect(reviewed).toContain('The task now, after 2 attempts: 1 file, +1 -1')
  again()
  end('partial_success')
  const [partly] = await read()
  expect(partly).toContain('“Use three.” It is now partly done.')
  expect(partly).toContain('the task stays partly done')
})

test('landed names the tasks that were undone', async () => {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  project.write('src/app.ts', 'export const app = 2\n')
  project.json('task', 'complete', taskId, 'Changed src/app.ts.', '--status', 'success')
  project.json('undo', taskId, '--yes')
  expect(project.json('landed').undone).toEqual([{ id: taskId, name: 'Add the form' }])
  expect((await spoken(['landed'], project)).out).toMatch(/Undone, so not followed\ntask +id\nAdd the form/)
  expect((await spoken(['landed', taskId], project)).out).toContain(
    'was undone, so its lines are not followed',
  )
})

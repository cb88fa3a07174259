import { renameSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openCommandLine } from './command-line.ts'

test('status counts the tasks of an imported plan, and dropped ones apart', () => {
  const { run, json, write } = openCommandLine()
  write('plan.md', '## Build\n- [ ] A\n- [ ] B (after: A)\n- [x] D\n')
  json('import', 'plan.md')
  expect(json('status').plan).toEqual({
    ready: 1,
    in_progress: 0,
    done: 1,
    done_waiting: 0,
    dropped: 0,
    tasks: 3,
    not_landed: 0,
    lost: 0,
  })
  json('task', 'next', '--claim')
  expect(run('status').out).toMatch(
    /^plan +0 ready, 1 claimed or set in progress, 0 running, 1 done of 3 tasks/m,
  )
  const [blocked] = json('task', 'list', '--status', 'to-do')
  run('task', 'drop', blocked.id, 'Not needed.')
  expect(run('status').out).toMatch(
    /^plan +0 ready, 1 claimed or set in progress, 0 running, 1 done of 2 tasks, 1 dropped/m,
  )
})

test('status says that the work of a done task is lost', () => {
  const { run, json, write, git } = openCommandLine()
  const { mission_id } = json('mission', 'start', 'Shop', '--objective', 'A shop')
  const { task_id } = json('task', 'start', 'Wrap', '--mission-id', mission_id)
  write('src/wrap.ts', 'export const wrap = 1\n')
  run('task', 'complete', task_id, 'Added src/wrap.ts.', '--status', 'success')
  run('landed')
  expect(run('status').out).toMatch(/^not landed +1 done task: waymark landed$/m)
  git('clean', '-fdq')
  run('landed')
  expect(json('status').missions).toMatchObject([{ lost: 1 }])
  const { out } = run('status')
  expect(out).toMatch(/^not landed +1 done task, 1 lost: waymark landed$/m)
  expect(out).toMatch(/1 task is lost: waymark landed$/m)
})

test('a hint under --project names the same project, and a shell runs nothing of its name', () => {
  const { runWith, home, folder } = openCommandLine()
  const named = `${folder} $(touch ran) 'x'`
  renameSync(folder, named)
  const words = ['show', 't-none', '--project', named]
  const quoted = `waymark --project '${named.replaceAll("'", "'\\''")}' `
  expect(runWith({ folder: home }, ...words).error).toContain(quoted)
  const { out } = runWith({ folder: home }, ...words, '--json')
  expect(JSON.parse(out).error.hint).toContain(quoted)
})

test('a format that export does not know leads to the command that does', () => {
  const { run } = openCommandLine()
  expect(run('plan', 'export', '--format', 'markdown')).toMatchObject({
    code: 2,
    error: expect.stringContaining('waymark report'),
  })
})

test('commands of the program answer JSON', () => {
  const { run } = openCommandLine()
  const asked = (...words: readonly string[]) => JSON.parse(run(...words, '--json').out)
  expect(asked('session', 'end')).toEqual({ ended: 0 })
  expect(asked('ingest', '--once')).toMatchObject({ waiting: false })
  expect(asked('disconnect')).toMatchObject({ error: { reason: 'server_not_connected' } })
  expect(asked('connect')).toMatchObject({ error: { reason: 'usage_invalid' } })
})

test('a person is told the command for a task of someone else, and a shell runs nothing of that name', () => {
  const { json } = openCommandLine()
  const { id } = json('task', 'add', 'Draw it', '--assignee', '$(touch ran)')
  const { message } = json('task', 'next')
  expect(message).toContain(`waymark task next --agent-name '$(touch ran)' finds ${id}.`)
  expect(message).not.toContain('taskman_task_next')
  const { id: own } = json('task', 'next', '--agent-name', '$(touch ran)').task
  expect(own).toBe(id)
})

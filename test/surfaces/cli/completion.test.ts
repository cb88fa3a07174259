import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { openCommandLine, startWork } from './command-line.ts'

test('commands, flags, choices and ids are completed', () => {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  const completed = (...words: readonly string[]) =>
    project
      .run('__complete', ...words)
      .out.trim()
      .split('\n')
  expect(completed('mis')).toEqual(['mission'])
  expect(completed('mission', '')).toEqual(['start', 'complete', 'list', 'timeline', 'changes'])
  expect(completed('task', 'start', '--ca')).toEqual(['--caller-type'])
  expect(completed('task', 'start', '--caller-type', 's')).toEqual(['subagent'])
  expect(completed('show', taskId.slice(0, 4))).toEqual([taskId])
  expect(completed('serve', '--allow')).toEqual(['--allow-remote', '--allow-host'])
  expect(completed('token', 'c')).toEqual(['create'])
})

test('ids are offered where one is meant, before anything is typed', () => {
  const project = openCommandLine()
  const { missionId, taskId } = startWork(project)
  project.run('phase', 'add', '--id', 'P1', '--name', 'Design')
  project.run(
    'issue',
    'log',
    '--task-id',
    taskId,
    '--type',
    'other',
    '--requires-human-review',
    '--description',
    'Which?',
    '--resolution',
    'Guessed',
  )
  const { items } = project.json('inbox')
  const completed = (...words: readonly string[]) =>
    project
      .run('__complete', ...words)
      .out.trim()
      .split('\n')
  expect(completed('show', '').toSorted()).toEqual([missionId, taskId].toSorted())
  expect(completed('context', '')).toEqual([missionId])
  expect(completed('task', 'start', 'x', '--mission-id', '')).toEqual([missionId])
  expect(completed('task', 'get', '')).toEqual([taskId])
  expect(completed('resolve', '')).toEqual([items[0].item_id])
  expect(completed('resolve', items[0].item_id, '')).toEqual([''])
  expect(completed('task', 'add', '--phase', '')).toEqual(['P1'])
  expect(completed('run', 'create', '')).toContain('change-control')
  expect(completed('show', 'x')).toEqual([''])
})

test('bash takes its script and completes with it', () => {
  const project = openCommandLine()
  const { missionId, taskId } = startWork(project)
  const script = project.run('completion', 'bash').out
  const words = `waymark() { "${process.execPath}" "$BIN" "$@"; }
COMP_WORDS=(waymark task st); COMP_CWORD=2; _waymark; echo "\${COMPREPLY[@]}"
COMP_WORDS=(waymark show ""); COMP_CWORD=2; _waymark; echo "\${COMPREPLY[@]}" | tr ' ' '\\n' | sort`
  const bin = new URL('../../../bin/waymark.js', import.meta.url).pathname
  const { stdout, stderr } = spawnSync('bash', ['-c', `${script}\n${words}`], {
    cwd: project.folder,
    env: { ...project.environment, BIN: bin },
    encoding: 'utf8',
  })
  expect({ stdout, stderr }).toEqual({
    stdout: `start\n${missionId}\n${taskId}\n`,
    stderr: '',
  })
})

test('zsh and fish get scripts of their own', () => {
  const { run } = openCommandLine({ git: false })
  expect(run('completion', 'zsh').out).toMatch(/^#compdef waymark\n/)
  expect(run('completion', 'fish').out).toContain('complete -c waymark')
})

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
  expect(completed('token', 'a')).toEqual(['add'])
})

test('bash takes its script and completes with it', () => {
  const project = openCommandLine()
  const script = project.run('completion', 'bash').out
  const words = `waymark() { "${process.execPath}" "$BIN" "$@"; }
COMP_WORDS=(waymark task st); COMP_CWORD=2; _waymark; echo "\${COMPREPLY[@]}"`
  const bin = new URL('../../bin/waymark.js', import.meta.url).pathname
  const { stdout, stderr } = spawnSync('bash', ['-c', `${script}\n${words}`], {
    cwd: project.folder,
    env: { ...project.environment, BIN: bin },
    encoding: 'utf8',
  })
  expect({ stdout, stderr }).toEqual({ stdout: 'start\n', stderr: '' })
})

test('zsh and fish get scripts of their own', () => {
  const { run } = openCommandLine({ git: false })
  expect(run('completion', 'zsh').out).toMatch(/^#compdef waymark\n/)
  expect(run('completion', 'fish').out).toContain('complete -c waymark')
})

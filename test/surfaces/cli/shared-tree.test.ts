import { expect, test } from 'vitest'
import { openCommandLine } from './command-line.ts'

test('where two work in one tree, a report says what is probably of others, with whom, which commits, and a preview that it ended nothing', () => {
  const { json, run, write, git } = openCommandLine()
  const start = (agent: string, area: string) =>
    json('task', 'start', `Work of ${agent}`, '--agent-name', agent, '--areas', area).task_id
  const [one, two] = [start('one', 'src/app.ts'), start('two', 'README.md')]
  write('src/app.ts', 'export const app = 2\n')
  write('README.md', '# Changed\n')
  git('add', 'src/app.ts')
  git('commit', '-qm', 'Second app')
  const end = (task: string, summary: string, ...more: readonly string[]) => {
    const words = ['--status', 'success', '--outcome.summary', summary, '--format', 'text']
    return run('task', 'complete', task, ...words, ...more).out
  }
  const preview = end(one, 'Done.', '--preview')
  expect(preview).toMatch(/^Preview: ".+" t-/)
  expect(json('show', one).status).toBe('IN_PROGRESS')
  const report = end(one, 'Done.')
  expect(report).toMatch(/^Completed ".+" t-/)
  for (const text of [
    report,
    run('changes', one, '--format', 'text').out,
    run('show', one, '--format', 'text').out,
  ]) {
    expect(text).toMatch(/M {2}src\/app\.ts {2}\+1 -1 {2}probably this task, or two/)
    expect(text).toMatch(/Probably by others, not counted\n +README\.md {2}two/)
    expect(text).toMatch(/Commits made meanwhile\n +[0-9a-f]{8} {2}Second app {2}(its own|author unknown)/)
  }
  expect(end(two, 'Rewrote README.md and src/app.ts.')).toMatch(
    /Files named in the claim\n(?: .*\n)* +src\/app\.ts {2}several agents could have changed it/,
  )
})

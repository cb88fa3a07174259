import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStdioProject } from '../../support/stdio-project.ts'
import { openCommandLine } from './command-line.ts'

const plan = '# Plan\n\n## P1: Begin\n\n- [ ] one-private-value\n'
const agent = { environment: { CLAUDECODE: '1' } }

test('an agent imports plans and reads processes of its project only; a person names any file', () => {
  const project = openCommandLine()
  const { runWith, run, write, folder } = project
  write('plan.md', plan)
  write('../elsewhere/plan.md', plan)
  write('../elsewhere/theirs.yaml', 'process: { id: one-private-value }\n')
  write('.env', 'process: one-private-value [\n')
  write('.waymark/processes/own.yaml', 'process: { id: own }\n')
  symlinkSync('../elsewhere/plan.md', join(folder, 'link.md'))
  symlinkSync('../../../elsewhere/theirs.yaml', join(folder, '.waymark', 'processes', 'theirs.yaml'))
  const reads = [
    ...['../elsewhere/plan.md', 'link.md', '.env', '.git/config'].map((file) => ['import', file]),
    ...['../elsewhere/theirs.yaml', './.env', './.git/config', 'theirs', '/etc/hosts'].map((file) => {
      return ['process', 'lint', file]
    }),
  ]
  for (const words of reads) {
    const { code, out, error } = runWith(agent, ...words)
    expect([words, code === 0]).toEqual([words, false])
    expect(`${out}${error}`).not.toMatch(/one-private-value|repositoryformatversion|localhost/)
  }
  expect(runWith(agent, 'import', 'plan.md', '--dry-run').code).toBe(0)
  expect(run('import', '../elsewhere/plan.md', '--dry-run').code).toBe(0)
  // A repository's own link is followed for nobody.
  expect(run('process', 'lint', 'theirs').out).not.toContain('one-private-value')
})

test('over MCP a run begins from no file outside the project', async () => {
  const { call, write } = await openStdioProject({})
  write('../elsewhere/theirs.yaml', 'process: { id: one-private-value }\n')
  write('.env', 'process: one-private-value\n')
  for (const id of ['../elsewhere/theirs.yaml', './.env', './.git/config', '/etc/hosts']) {
    const answer = await call('state_gate_create_run', { process_id: id }).catch(String)
    expect(answer).toEqual(expect.stringMatching(/^Error/))
    expect(answer).not.toMatch(/one-private-value|repositoryformatversion|localhost/)
  }
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { openTeamProject } from '../people/team-project.ts'
import { openTeam } from '../people/team-server.ts'
import { type AgentMachine, agentMachine } from '../remote/machines.ts'
import { git } from '../support/git.ts'
import { runBeside } from '../support/started-program.ts'

function processWith(guard: string): string {
  return `process: { dialect: 1, id: shipping, version: "1", name: Shipping, initial_state: work }
roles: [{ name: agent, kind: agent }]
states: [{ name: work }, { name: done, is_final: true, outcome: succeeded }]
events: [{ name: go, allowed_roles: [agent] }]
transitions: [{ from: work, event: go, to: done, guard: ok }]
guards: { ok: ${guard} }
`
}

const examples = join(import.meta.dirname, '..', '..', 'examples', 'ci')

describe('a guard of type ci', () => {
  async function team(guard: string) {
    const project = await openTeamProject()
    const { call } = project
    project.write('.waymark/processes/shipping.yaml', processWith(guard))
    await call('token_create', { admin: true, person: 'Ada' })
    await call('start_mission', { name: 'Shop', objective: 'A shop' })
    const agent = await project.as((await call('token_create', { name: 'builder', person: 'Ada' })).secret)
    const ci = await project.as(
      (await call('token_create', { name: 'ci', kind: 'runner', person: 'Ada' })).secret,
    )
    const { run_id } = await call('state_gate_create_run', { process_id: 'shipping' }, agent)
    const emit = async () => {
      const { revision } = await call('run_summary', { run_id })
      const sent = call(
        'state_gate_emit_event',
        { run_id, event_name: 'go', expected_revision: revision, idempotency_key: `k${Math.random()}` },
        agent,
      )
      return sent.then(
        () => 'done',
        (error: Error & { details?: unknown }) => `${error.message} ${JSON.stringify(error.details)}`,
      )
    }
    return { project, call, agent, ci, emit }
  }

  test('opens only for results that a runner handed in, of this tree, all of them successes', async () => {
    const { call, agent, ci, emit, project } = await team('{ type: ci, checks: [unit, lint] }')
    expect(await emit()).toContain('no runner has reported a result of \\"unit\\"')
    await expect(call('ci_report', { check: 'unit', status: 'success' }, agent)).rejects.toThrow(
      'builder cannot report CI results: that needs a token of kind runner.',
    )
    const first = await call('ci_report', { check: 'unit', status: 'success' }, ci)
    expect(first).toMatchObject({ check: 'unit', status: 'success', repeated: false })
    expect(first.tree).toMatch(/^[0-9a-f]+$/)
    // The same again is the same.
    expect(await call('ci_report', { check: 'unit', status: 'passed' }, ci)).toEqual({
      ...first,
      repeated: true,
    })
    expect(await emit()).toContain('no runner has reported a result of \\"lint\\"')
    await call('ci_report', { check: 'lint', status: 'failure' }, ci)
    expect(await emit()).toContain('\\"lint\\" failed in CI on this tree')
    await call('ci_report', { check: 'lint', status: 'success' }, ci)
    project.write('later.txt', 'changed since\n')
    expect(await emit()).toContain('not for the tree of the work')
    await call('ci_report', { check: 'unit', status: 'success' }, ci)
    await call('ci_report', { check: 'lint', status: 'success' }, ci)
    expect(await emit()).toBe('done')
    const found = await project.context.store.inspect()
    expect(found).toMatchObject({ differing: 0, error: null })
  })

  test('of a commit holds whatever is not committed, and not for another commit', async () => {
    const { call, ci, emit, project } = await team(
      '{ type: ci, checks: [unit], target: commit, max_age: 24h }',
    )
    await call('ci_report', { check: 'unit', status: 'success' }, ci)
    project.write('README.md', '# Another\n')
    git(project.context.folder, 'commit', '-qam', 'Another')
    expect(await emit()).toMatch(
      /the last result of .*unit.* is for [0-9a-f]{12}, not for the commit of the work/,
    )
    await call('ci_report', { check: 'unit', status: 'success', commit: 'HEAD~1' }, ci)
    expect(await emit()).toContain('not for the commit of the work')
    await call('ci_report', { check: 'unit', status: 'success' }, ci)
    project.write('README.md', '# Not committed\n')
    expect(await emit()).toBe('done')
  })

  test('is no older than it may be', async () => {
    const { call, ci, emit } = await team('{ type: ci, checks: [unit], max_age: 1ms }')
    await call('ci_report', { check: 'unit', status: 'success' }, ci)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await emit()).toMatch(/the result of .*unit.* is 0 minutes old; at most 0 minutes is allowed/)
  })

  test('is refused in a process file where it says too little or too much', async () => {
    const { project } = await team('{ type: ci, checks: [unit] }')
    for (const guard of [
      '{ type: ci, checks: [] }',
      '{ type: ci, checks: [unit], target: branch }',
      '{ type: ci, checks: [unit], max_age: soon }',
      '{ type: ci, checks: [unit], run: "npm test" }',
    ]) {
      project.write('.waymark/processes/shipping.yaml', processWith(guard))
      expect(await project.refused('state_gate_create_run', { process_id: 'shipping' })).toMatchObject({
        code: 'REFUSED',
        reason: 'process_has_errors',
      })
    }
  })
})

/** Beside this process, which serves. */
function ran({ folder, environment }: AgentMachine, words: readonly string[], more: Record<string, string>) {
  return runBeside(words, { folder, environment: { ...environment, ...more } })
}

describe('the examples', () => {
  test('are YAML, fetch the whole history, and their commands run in a real clone against a real server', async () => {
    const github = parse(readFileSync(join(examples, 'github.yml'), 'utf8'))
    const steps: readonly { run?: string; with?: object }[] = github.jobs.check.steps
    expect(steps[0]?.with).toEqual({ 'fetch-depth': 0 })
    const gitlab = parse(readFileSync(join(examples, 'gitlab-ci.yml'), 'utf8'))
    expect(gitlab.waymark.variables.GIT_DEPTH).toBe('0')

    const server = await openTeam()
    await server.call('token_create', { admin: true, person: 'Ada' })
    await server.call('start_mission', { name: 'First', objective: 'Something' })
    const { secret } = await server.call('token_create', { name: 'ci', kind: 'runner', person: 'Ada' })
    const agent = (await server.call('token_create', { name: 'builder', person: 'Ada' })).secret
    const machine = agentMachine()
    machine.git('branch', '-M', 'main')
    machine.git('update-ref', 'refs/remotes/origin/main', 'main')
    const base = machine.git('rev-parse', 'main').trim()
    const at = { WAYMARK_SERVER: server.address }
    const asAgent = { ...at, WAYMARK_TOKEN: agent }
    const mission = JSON.parse(
      (await ran(machine, ['mission', 'start', 'Shop', '--objective', 'A shop', '--json'], asAgent)).out,
    )
    const begun = ['task', 'start', 'Build', '--mission-id', mission.mission_id, '--areas', 'src/', '--json']
    const task = JSON.parse((await ran(machine, begun, asAgent)).out)
    machine.write('src/made.ts', 'export const made = 1\n')
    machine.git('add', 'src')
    machine.git('commit', '-qm', 'Made')
    await ran(
      machine,
      ['task', 'complete', task.task_id, '--status', 'success', '--outcome.summary', 'Done.'],
      asAgent,
    )

    const head = machine.git('rev-parse', 'HEAD').trim()
    const asRunner = { ...at, WAYMARK_TOKEN: secret, CI: 'true' }
    const onGitHub = { ...asRunner, GITHUB_ACTIONS: 'true', GITHUB_BASE_REF: 'main', HEAD_SHA: head }
    const onGitLab = { ...asRunner, GITLAB_CI: 'true', CI_MERGE_REQUEST_DIFF_BASE_SHA: base }
    const commands = [...steps.flatMap(({ run = '' }) => run), ...gitlab.waymark.script]
      .filter((line: string) => line.startsWith('npx waymark '))
      .map((line: string) => line.replace(/\$\{\{[^}]*\}\}/, 'success').replace('$HEAD_SHA', head))
    expect(commands).toHaveLength(3)
    for (const line of commands) {
      const words = line
        .split(' ')
        .slice(2)
        .map((word: string) => word.replaceAll('"', ''))
      const place = line.includes('--gitlab') ? onGitLab : onGitHub
      const json = words[0] === 'check' ? [] : ['--json']
      const { code, out, error } = await ran(machine, [...words, ...json], place)
      expect([words[0], code, error]).toEqual([words[0], 0, ''])
      if (words[0] === 'check') expect(out).toMatch(/^Passed\. 1 file in 1 commit .*: 1 by attempts/)
      else expect(JSON.parse(out)).toMatchObject({ check: 'unit', status: 'success', commit: head })
    }
    expect(JSON.parse(readFileSync(join(machine.folder, 'gl-code-quality-report.json'), 'utf8'))).toEqual([])
    const refused = await ran(machine, ['ci', 'report', '--check', 'unit', '--status', 'success'], asAgent)
    expect(refused.code).toBe(1)
    expect(refused.error).toContain('builder cannot report CI results')
  }, 180_000)
})

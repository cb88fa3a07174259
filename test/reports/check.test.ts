import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type BranchRequest, maxBranchFiles } from '../../src/git/ports/branch.ts'
import { amount } from '../support/amount.ts'
import { templateFolder } from '../support/copied-folder.ts'
import { git } from '../support/git.ts'
import { openProject } from '../support/project.ts'
import { type CommandLineProject, openCommandLine } from '../surfaces/cli/command-line.ts'

interface BranchOfWork extends CommandLineProject {
  readonly missionId: string
  readonly taskId: string
}

/** A branch `work` off `main`, with a mission whose attempt made src/made.ts and committed it. */
function branchOfWork(): BranchOfWork {
  const project = openCommandLine()
  project.git('branch', '-M', 'main')
  project.git('checkout', '-qb', 'work')
  const mission = project.json('mission', 'start', 'Sign in', '--objective', 'People can sign in')
  const task = project.json('task', 'start', 'Build', '--mission-id', mission.mission_id, '--areas', 'src/')
  project.write('src/made.ts', 'export const made = 1\n')
  project.git('add', '-A', 'src')
  project.git('commit', '-qm', 'Made')
  return { ...project, missionId: mission.mission_id, taskId: task.task_id }
}

function complete(project: CommandLineProject, taskId: string): void {
  project.json('task', 'complete', taskId, '--status', 'success', '--outcome.summary', 'Done.')
}

function measured({ json }: BranchOfWork): void {
  json('landed')
}

function lost(project: BranchOfWork): void {
  project.write('src/made.ts', 'export const other = 2\n')
  project.git('commit', '-q', '--amend', '-am', 'Made otherwise')
  project.json('landed')
}

let done: { readonly folder: string; readonly missionId: string } | undefined

/** The same with its task completed: made once, and copied from then on. */
function branchOfDoneWork(): CommandLineProject & { readonly missionId: string } {
  if (done === undefined) {
    const work = branchOfWork()
    complete(work, work.taskId)
    done = { folder: mkdtempSync(join(templateFolder(), 'done-')), missionId: work.missionId }
    cpSync(work.folder, done.folder, { recursive: true })
  }
  const project = openCommandLine({ git: false })
  cpSync(done.folder, project.folder, { recursive: true })
  return { ...project, missionId: done.missionId }
}

/** A person's commit, which no attempt saw. */
function commitAlone(project: CommandLineProject, path: string, author = 'Eve <eve@example.com>'): void {
  project.write(path, `by hand ${Math.random()}\n`)
  project.git('add', '-A', '.')
  project.git('commit', '-qm', 'By hand', `--author=${author}`)
}

describe('waymark check', () => {
  test('passes where every file is accounted for and nothing waits, and says who made what', () => {
    const project = branchOfDoneWork()
    const { code, out } = project.run('check', '--base', 'main')
    expect(out).toMatch(
      /^Passed\. 1 file in 1 commit since [0-9a-f]{12}: 1 by attempts, 0 by people; 1 mission\./,
    )
    expect(code).toBe(0)
    const json = project.json('check', '--json')
    expect(json).toMatchObject({ passed: true, reasons: [], unknown: [], files: { total: 1, attempt: 1 } })
    expect(json.missions[0].id).toBe(project.missionId)
  })

  test('holds through amend, squash and rebase, since contents are compared and not commits', () => {
    const project = branchOfDoneWork()
    project.git('commit', '-q', '--amend', '-m', 'Another message', '--author=Eve <eve@example.com>')
    project.git('checkout', '-q', 'main')
    commitAlone(project, 'other.md')
    project.git('checkout', '-q', 'work')
    project.git('rebase', '-q', 'main')
    expect(project.json('check', '--base', 'main', '--json').files).toMatchObject({
      total: 1,
      attempt: 1,
      unattributed: 0,
    })
  })

  test('fails for a file that no attempt and no person accounts for, and names the commit', () => {
    const project = branchOfDoneWork()
    commitAlone(project, 'slipped-in.txt')
    const { code, out } = project.run('check', '--base', 'main')
    expect(code).toBe(1)
    expect(out).toMatch(/- slipped-in\.txt: Commit [0-9a-f]{12} by Eve <eve@example\.com> changed it/)
    const named = project.json('check', '--base', 'main', '--people', 'EVE@example.com', '--json')
    expect(named).toMatchObject({ passed: true, files: { person: 1, unattributed: 0 } })
  })

  test('still fails for it once another task has seen the file', () => {
    const project = branchOfWork()
    complete(project, project.taskId)
    commitAlone(project, 'slipped-in.txt')
    complete(project, project.json('task', 'start', 'Next').task_id)
    const { code, out } = project.run('check', '--base', 'main')
    expect({ code, out }).toEqual({
      code: 1,
      out: expect.stringMatching(/- slipped-in\.txt: Commit .* by Eve/),
    })
  })

  test('fails for a submodule that .gitmodules tells git to leave out', () => {
    const project = branchOfDoneWork()
    const commit = (id: string, message: string) => {
      project.git('update-index', '--add', '--cacheinfo', `160000,${id.repeat(40)},lib`)
      project.git('commit', '-qm', message, '--author=Eve <eve@example.com>')
    }
    project.git('checkout', '-q', 'main')
    commit('a', 'A submodule')
    project.git('checkout', '-q', 'work')
    project.git('merge', '-q', 'main', '-m', 'Merged')
    project.write('.gitmodules', '[submodule "lib"]\n\tpath = lib\n\turl = ../lib\n\tignore = all\n')
    commit('b', 'Moved')
    const moved = JSON.parse(project.run('check', '--base', 'main', '--json').out)
    expect(moved.reasons.map(({ path }: { path: string }) => path)).toEqual(['lib'])
  })

  test('fails for files beyond those it looks at', async () => {
    const { call, context, git } = await openProject()
    await call('start_mission', { name: 'Sign in', objective: 'People can sign in' })
    const base = git('rev-parse', 'HEAD').trim()
    const file = { path: 'many', change: 'added', before: null, after: null }
    const witness = Object.assign(Object.create(context.witness), {
      branch: async (request: BranchRequest) => ({
        ...(await context.witness.branch(request)),
        files: Array.from({ length: maxBranchFiles }, () => file),
        isCut: true,
      }),
    })
    const { reasons } = await call('check', { base }, { context: { ...context, witness } })
    expect(reasons).toContainEqual({
      kind: 'change',
      message: `The branch changes more than ${maxBranchFiles} files: the others were not checked.`,
      path: null,
      id: null,
    })
  })

  test('what is not known is told as not known, and fails only when it is asked to', () => {
    const project = branchOfDoneWork()
    commitAlone(project, 'src/made.ts')
    const { code, out } = project.run('check', '--base', 'main')
    expect(out).toMatch(
      /Unknown, but no failure:\n- src\/made\.ts: Attempt a-\w+ changed it, but its content here/,
    )
    expect(code).toBe(0)
    expect(project.run('check', '--base', 'main', '--strict').code).toBe(1)
  })

  test('fails while something waits for a person, and while a gate is not passed', () => {
    const project = branchOfWork()
    project.json(
      'issue',
      'log',
      project.taskId,
      '--type',
      'other',
      '--description',
      'Which one?',
      '--requires-human-review',
    )
    complete(project, project.taskId)
    const held = project.run('check', '--base', 'main')
    expect(held.code).toBe(1)
    expect(held.out).toMatch(/- Blocker h-\w+ needs a person: Which one\?/)
    const item = project.json('inbox', '--json').items[0].item_id
    project.json('resolve', item, '--answer', 'The first.')
    expect(project.run('check', '--base', 'main').code).toBe(0)
    project.write(
      '.waymark/processes/gate.yaml',
      `process: { dialect: 1, id: gate, version: "1.0.0", name: Gate, initial_state: work }
roles: [{ name: lead, kind: human }]
states: [{ name: work }, { name: done, is_final: true, outcome: succeeded }]
events: [{ name: go, allowed_roles: [lead] }]
transitions: [{ from: work, event: go, to: done, guard: ok }]
artifacts: [{ type: plan }]
guards: { ok: { type: artifact, artifact_type: plan, condition: exists } }
`,
    )
    project.json('run', 'create', 'gate', '--mission-id', project.missionId)
    const gated = project.run('check', '--base', 'main')
    expect(gated.code).toBe(1)
    expect(gated.out).toMatch(
      /Run run-\S+ of process gate is in "work", which is not a final state\. It lacks: ok: no "plan"/,
    )
  })

  const lacking: readonly [
    why: string,
    to: string,
    prepare: (project: BranchOfWork) => void,
    code: number,
  ][] = [
    ['its lines are committed', 'done', measured, 0],
    ['nothing was measured', 'done', ({ run }) => void run('setting', 'list'), 1],
    ['the merge leads to no success', 'dropped', measured, 1],
    ['no task is done', 'done', ({ json, taskId }) => json('task', 'edit', taskId, '--status', 'to_do'), 1],
    ['lines were lost', 'done', lost, 1],
  ]
  test.each(lacking.slice(0, amount({ test: 2, soak: 5 })))(
    'a gate lacks more than the merge, or not: %s',
    (_, to, prepare, code) => {
      const project = branchOfWork()
      complete(project, project.taskId)
      prepare(project)
      project.write(
        '.waymark/processes/gate.yaml',
        `process: { dialect: 1, id: gate, version: "1.0.0", name: Gate, initial_state: land }
roles: [{ name: worker, kind: agent }]
states: [{ name: land }, { name: done, is_final: true, outcome: succeeded }, { name: dropped, is_final: true, outcome: failed }]
events: [{ name: go, allowed_roles: [worker] }, { name: close, allowed_roles: [worker] }]
transitions: [{ from: land, event: go, to: ${to}, guard: merged }, { from: land, event: close, to: done, guard: ok }]
artifacts: [{ type: plan }]
guards: { merged: { type: landed }, ok: { type: artifact, artifact_type: plan, condition: exists } }
`,
      )
      project.json('run', 'create', 'gate', '--mission-id', project.missionId)
      const ran = project.run('check', '--base', 'main')
      expect(ran.code, ran.out).toBe(code)
      if (code === 1) expect(ran.out).toContain('is in "land", which is not a final state')
    },
  )

  test('lists tasks that are not proven, and fails for them with --strict until a person accepts', () => {
    const project = branchOfWork()
    complete(project, project.taskId)
    const idle = project.json('task', 'start', 'Fix', '--mission-id', project.missionId).task_id
    complete(project, idle)
    const [item] = project.json('inbox', '--json').items
    const open = checked(project)
    expect(open.reasons).toMatchObject([{ kind: 'inbox_item', id: item.item_id }])
    expect(open.tasks).toMatchObject([
      { task_id: project.taskId, verdict: 'unproven', rules: ['no_check'] },
      { task_id: idle, verdict: 'contradicted', rules: ['nothing_changed', 'no_check'] },
    ])
    expect(checked(project, '--strict').reasons).toMatchObject([
      { kind: 'inbox_item', id: item.item_id },
      { kind: 'verdict', id: project.taskId },
      { kind: 'verdict', id: idle },
    ])

    const planned = () => project.json('plan', 'show', '--mission', project.missionId)
    expect(planned()).toMatchObject({
      tasks: 2,
      done: 2,
      done_waiting: 1,
      phases: [{ done: 2, done_waiting: 1 }],
    })

    project.json('approve', item.item_id)
    expect(planned()).toMatchObject({
      tasks: 2,
      done: 2,
      done_waiting: 0,
      phases: [{ done: 2, done_waiting: 0 }],
    })
    const { code, out } = project.run('check', '--base', 'main')
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(
        /Not proven, reverted or lost, but no failure:\n- Build .*unproven \(no check\)\n- Fix .*accepted by/,
      ),
    })
    const strict = checked(project, '--strict')
    expect(strict.reasons).toMatchObject([{ kind: 'verdict', id: project.taskId }])
    expect(strict.tasks[1]).toMatchObject({ task_id: idle, accepted_by: expect.any(String) })

    const { accepted_by: person } = strict.tasks[1]
    expect(project.json('show', idle).attempts).toMatchObject([{ accepted_by: person }])
    expect(project.json('show', project.taskId).attempts[0]).not.toHaveProperty('accepted_by')
    const { tasks } = project.json('show', project.missionId)
    expect(tasks).toContainEqual(expect.objectContaining({ id: idle, accepted_by: person }))
    const context = project.json('context', '--mission-id', project.missionId)
    expect(JSON.stringify(context)).toContain(`"accepted_by":"${person}"`)
    const cards = project.json('board').columns.done
    expect(cards).toContainEqual(expect.objectContaining({ id: idle, accepted_by: person }))
    expect(cards).toContainEqual(expect.objectContaining({ id: project.taskId, accepted_by: null }))
    expect(project.run('show', idle).out).toContain(`contradicted, accepted by ${person}`)
    expect(project.run('report', project.missionId).out).toContain(`contradicted, accepted by ${person}`)

    project.run('undo', project.taskId, '--yes')
    expect(project.json('show', project.missionId).tasks).toContainEqual(
      expect.objectContaining({ id: project.taskId, undone: expect.anything() }),
    )
    expect(project.run('show', project.missionId).out).toMatch(/Build +done, undone/)
  })

  test('fails with --strict for a task that was reverted on the default branch', () => {
    const project = branchOfDoneWork()
    project.git('checkout', '-q', 'main')
    project.git('merge', '-q', '--no-ff', '-m', 'Merge', 'work')
    project.json('landed')
    project.git('revert', '--no-edit', '-m', '1', 'HEAD')
    project.json('landed')
    project.git('checkout', '-q', 'work')
    const base = ['check', '--base', 'main~2', '--json']
    const open = JSON.parse(project.run(...base).out)
    expect(open.tasks).toMatchObject([{ landed: 'reverted' }])
    const strict = JSON.parse(project.run(...base, '--strict').out)
    expect(strict.reasons.map(({ kind }: { kind: string }) => kind)).toEqual(['verdict', 'landed'])
    expect(project.run('check', '--base', 'main~2', '--strict').out).not.toContain('but no failure')
  })

  test('ends with 2 where nothing is recorded, where it is misused, and where the history is cut', () => {
    const empty = openCommandLine()
    const nothing = empty.run('check', '--base', 'HEAD')
    expect(nothing.code).toBe(2)
    expect(nothing.error).toMatch(/nothing is recorded .*WAYMARK_SERVER/s)
    const project = branchOfDoneWork()
    expect(project.refused('check', '--base', 'nowhere')).toMatchObject({
      code: 'INVALID_INPUT',
      reason: 'commit_not_found',
    })
    expect(project.run('check', '--base', 'nowhere').code).toBe(2)
    expect(project.run('check', '--nonsense').code).toBe(2)
    expect(project.run('check', '--gitlab').code).toBe(2)

    const ran = project.runWith({ folder: shallowClone(project) }, 'check', '--base', 'origin/main')
    expect(ran.code).toBe(2)
    expect(ran.error).toMatch(/This clone is shallow.*fetch-depth: 0/s)
  })
})

function checked(project: CommandLineProject, ...flags: readonly string[]) {
  return JSON.parse(project.run('check', '--base', 'main', '--json', ...flags).out)
}

/** As actions/checkout leaves it with fetch-depth: 1: one commit, and the record in its file. */
function shallowClone(project: CommandLineProject) {
  const clone = join(mkdtempSync(join(project.home, 'ci-')), 'clone')
  git(project.folder, 'clone', '-q', '--depth', '1', '--branch', 'work', `file://${project.folder}`, clone)
  cpSync(join(project.folder, '.waymark'), join(clone, '.waymark'), { recursive: true })
  return clone
}

describe('on GitHub Actions', () => {
  function actions(project: CommandLineProject, event: object, more: Readonly<Record<string, string>> = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'waymark-actions-'))
    const file = join(folder, 'event.json')
    writeFileSync(file, JSON.stringify(event))
    const summary = join(folder, 'summary.md')
    const environment = {
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_EVENT_PATH: file,
      GITHUB_STEP_SUMMARY: summary,
      ...more,
    }
    const ran = project.runWith({ environment }, 'check')
    return { ...ran, summary: existsSync(summary) ? readFileSync(summary, 'utf8') : '' }
  }

  test('compares with the base of the pull request, and looks at its own last commit, not at the merge', () => {
    const project = branchOfDoneWork()
    commitAlone(project, 'a,b:c.txt')
    const [head, base] = [project.git('rev-parse', 'work').trim(), project.git('rev-parse', 'main').trim()]
    project.git('update-ref', 'refs/remotes/origin/main', base)
    // What actions/checkout leaves: the merge, on no branch.
    project.git('checkout', '-q', '--detach', 'main')
    project.git('merge', '-q', '--no-ff', '-m', 'Merge', 'work')
    const event = { pull_request: { head: { sha: head }, base: { sha: base } } }
    const { code, out, summary } = actions(project, event, { GITHUB_BASE_REF: 'main' })
    expect(code).toBe(1)
    expect(out).toMatch(/^::error file=a%2Cb%3Ac\.txt,title=Waymark::a,b:c\.txt: Commit /m)
    expect(summary).toMatch(/^## Waymark: not passed\n/)
    expect(summary).toMatch(/`[^`]*eve@example\.com[^`]*`/)
  })

  test('of a push, compares with what the branch was at before', () => {
    const project = branchOfDoneWork()
    const before = project.git('rev-parse', 'HEAD').trim()
    commitAlone(project, 'later.txt')
    const { code, out } = actions(project, { before }, { GITHUB_EVENT_NAME: 'push' })
    expect(code).toBe(1)
    expect(out).toMatch(/1 file in 1 commit/)
  })

  test('no name of a file and no name of a person becomes a command of the runner', () => {
    const project = branchOfDoneWork()
    commitAlone(project, '::error::x\n::add-mask::y.txt', '##[add-path]z <z@example.com>')
    const { out } = actions(
      project,
      { before: project.git('rev-parse', 'HEAD~1').trim() },
      { GITHUB_EVENT_NAME: 'push' },
    )
    const commands = out.split('\n').filter((line) => line.trimStart().startsWith('::'))
    expect(commands.every((line) => /^::(?:error|notice) (?:file=[^:]*,)?title=Waymark::/.test(line))).toBe(
      true,
    )
    expect(
      out
        .split('\n')
        .filter((line) => !line.startsWith('::'))
        .join('\n'),
    ).not.toContain('##[')
  })
})

test('in GitLab CI it compares with the base of the merge request and writes a report of code quality', () => {
  const project = branchOfDoneWork()
  commitAlone(project, 'slipped-in.txt')
  const base = project.git('rev-parse', 'main').trim()
  const environment = { CI: 'true', GITLAB_CI: 'true', CI_MERGE_REQUEST_DIFF_BASE_SHA: base }
  const file = join(project.home, 'quality.json')
  const run = () => project.runWith({ environment }, 'check', '--gitlab', file)
  expect(run().code).toBe(1)
  const entries = JSON.parse(readFileSync(file, 'utf8'))
  expect(entries).toEqual([
    {
      description: expect.stringContaining('slipped-in.txt: Commit'),
      check_name: 'waymark-change',
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      severity: 'major',
      location: { path: 'slipped-in.txt', lines: { begin: 1 } },
    },
  ])
  run()
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(entries)
})

import { describe, expect, test } from 'vitest'
import { markdownText } from '../../src/reports/domain/document.ts'
import { process } from '../gate/runs/processes.ts'
import { driving, writeProcess } from '../gate/runs/run.ts'
import { soakTest } from '../support/amount.ts'
import { type Answer, openProject, person, type TestProject } from '../support/project.ts'
import { openCommandLine, startWork } from '../surfaces/cli/command-line.ts'
import { openHttpProject } from '../surfaces/http/http-project.ts'

const hostile =
  '@everyone #123 !7 <script>alert(1)</script> [x](javascript:alert(1)) ![y](http://e.vil/z) `a`\n## Heading\n- /close fixes https://github.com/o/r/issues/1 a@b.example'

/** A mission with work, a decision, an issue that a person answered, and a gate that was passed with evidence. */
async function reported(project: TestProject) {
  writeProcess(
    project,
    process('checking', {
      guards: '  ok: { type: command, run: "node check.mjs", fresh: tree }',
      guard: 'ok',
    }),
  )
  project.write('check.mjs', 'console.log(1)\n')
  project.git('add', 'check.mjs')
  project.git('commit', '-qm', 'Check')
  const { mission_id, run } = await project.call('start_mission', {
    name: 'Sign in',
    objective: 'People can sign in',
    process_id: 'checking',
  })
  const { task_id } = await project.call('start_task', { mission_id, name: 'Add the form', areas: ['src/'] })
  project.write('src/form.ts', 'export const form = 1\n')
  project.git('mv', 'src/auth.ts', 'src/sign-in.ts')
  project.write('utils.ts', 'export const utils = 2\n')
  await project.call('log_decision', {
    task_id,
    category: 'architecture',
    question: 'Where is the session kept?',
    options_considered: ['a cookie', 'local storage'],
    chosen: 'a cookie',
    reasoning: 'Scripts cannot read it.',
  })
  const { issue_id } = await project.call('log_issue', {
    task_id,
    type: 'unclear_requirement',
    description: hostile,
    resolution: 'I took the first.',
    requires_human_review: true,
  })
  const { items } = await project.call('inbox', {})
  const item = items.find((one: { issue_id: string }) => one.issue_id === issue_id)
  await project.call('resolve', { id: item.item_id, answer: 'The first is right.' }, { actor: person })
  await project.call('complete_task', {
    task_id,
    status: 'success',
    outcome: {
      summary: 'The form is there.',
      limitations: ['No second factor.'],
      next_steps: ['Write to <b>people</b>'],
    },
  })
  const driven = driving(project, run.run_id)
  await driven.refused('go')
  const asked = await project.call('inbox', { kind: 'command' })
  await project.call('approve', { id: asked.items[0].item_id }, { actor: person })
  await driven.emit('go')
  return { mission_id, task_id, run_id: run.run_id }
}

describe('the report of a mission', () => {
  test('tells what git saw, what was decided and answered, what the gate was passed with, and what is left', async () => {
    const project = await openProject()
    const { mission_id, run_id } = await reported(project)
    const { text, cut } = await project.call('report', { mission: mission_id })
    expect(cut).toEqual([])
    expect(text.startsWith('# Sign in\n\nPeople can sign in')).toBe(true)
    expect(text).toMatch(/`src\/auth\.ts` → `src\/sign-in\.ts` renamed/)
    expect(text).toMatch(/`src\/form\.ts` added \+1 −0/)
    expect(text).toMatch(/`utils\.ts` modified \+1 −1, \*\*out of scope\*\*/)
    expect(text).toContain('## Out of scope')
    expect(text).toContain('**a cookie** — Where is the session kept?')
    expect(text).toContain('Why: Scripts cannot read it.')
    expect(text).toContain('Refused: local storage')
    expect(text).toContain('Tess answered it: The first is right.')
    expect(text).toMatch(/`node check\.mjs` passed, exit code 0 on tree `[0-9a-f]{12}`/)
    expect(text).toContain(run_id)
    expect(text).toContain('**Limit:** No second factor.')
    expect(text).toMatch(/Attempt time, median: .* \(measured, n = 1 attempt\)/)
  })

  soakTest('is the same bytes for the same records, in each form, after time has gone by', async () => {
    const project = await openProject()
    const { mission_id } = await reported(project)
    for (const format of ['markdown', 'html', 'json']) {
      const first = await project.call('report', { mission: mission_id, format })
      project.wait(3 * 60 * 60 * 1000)
      expect((await project.call('report', { mission: mission_id, format })).text).toBe(first.text)
    }
  })

  test('what agents wrote is words in it: no markup, no link, nobody told', async () => {
    const project = await openProject()
    const { mission_id } = await reported(project)
    const { text } = await project.call('report', { mission: mission_id })
    // Headings are those of the report itself.
    const headings = text.split('\n').filter((line: string) => line.startsWith('#'))
    expect(headings).not.toContain('## Heading')
    // What stands in code is no reference anywhere.
    const words = text.replace(/(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)/g, '')
    expect(words).not.toMatch(/[@#!](?=\w)/)
    expect(words).not.toMatch(/https?:\/\//)
    expect(words).not.toMatch(/<(?!!doctype)[a-z/]/i)
    expect(words).not.toMatch(/(?<!\\)\]\(/)
    expect(text).not.toMatch(/\p{Default_Ignorable_Code_Point}/u)
    const html = (await project.call('report', { mission: mission_id, format: 'html' })).text
    expect(html).not.toContain('<script')
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(html).not.toMatch(/ (?:href|src|on\w+)=/i)
    expect(html).toContain("default-src 'none'")
  })

  test('is at most 65,000 characters, and says in its place what was left out and how to get it', async () => {
    const project = await openProject()
    const { mission_id } = await project.call('start_mission', { name: 'Long', objective: 'Much' })
    const { task_id } = await project.call('start_task', { mission_id, name: 'Decide' })
    for (let at = 0; at < 120; at += 1) {
      await project.call('log_decision', {
        task_id,
        category: 'other',
        question: `Question ${at}`,
        chosen: `Choice ${at}`,
        reasoning: `${'because '.repeat(120)}${at}`,
      })
    }
    for (const format of ['markdown', 'html', 'json']) {
      const { text, cut } = await project.call('report', { mission: mission_id, format })
      expect(text.length).toBeLessThanOrEqual(65_000)
      expect(text.length).toBeGreaterThan(60_000)
      const [decisions] = cut
      expect(decisions).toMatchObject({ section: 'decisions', total: 120 })
      expect(decisions.shown).toBeGreaterThan(40)
      expect(text).toContain(`waymark report ${mission_id}`)
      expect(text).toContain('--whole')
      const whole = await project.call('report', { mission: mission_id, format, whole: true })
      expect(whole.cut).toEqual([])
      expect(whole.text).toContain('Choice 119')
    }
    const json = JSON.parse((await project.call('report', { mission: mission_id, format: 'json' })).text)
    expect(json.decisions).toHaveLength(json.cut[0].shown)
  })

  test('of a task, and since a commit or a time, tells only of that', async () => {
    const project = await openProject()
    const { mission_id, task_id } = await reported(project)
    project.git('add', '-A')
    project.git('commit', '-qm', 'Form')
    project.wait(10_000)
    const at = new Date(project.context.clock.now() - 5_000).toISOString()
    const later = await project.call('start_task', { mission_id, name: 'Second', areas: ['src/'] })
    project.write('src/more.ts', 'export const more = 1\n')
    await project.call('complete_task', {
      task_id: later.task_id,
      status: 'success',
      outcome: { summary: 'More.' },
    })
    const ofTask = await project.call('report', { task: later.task_id })
    expect(ofTask.mission_id).toBe(mission_id)
    expect(ofTask.text).toContain('src/more.ts')
    expect(ofTask.text).not.toContain('src/form.ts')
    const since = await project.call('report', { mission: mission_id, since: at })
    expect(since.text).toContain('src/more.ts')
    expect(since.text).not.toContain('a cookie')
    const commit = project.git('rev-parse', 'HEAD').trim()
    const ofCommit = await project.call('report', { mission: mission_id, since: commit.slice(0, 10) })
    expect(ofCommit.text).toContain(`the time of commit \`${commit.slice(0, 12)}\``)
    expect(await project.refused('report', { mission: mission_id, since: 'nonsense' })).toMatchObject({
      code: 'INVALID_INPUT',
      reason: 'commit_not_found',
    })
    expect(await project.refused('report', { mission: 'm-000000000000', task: task_id })).toMatchObject({
      code: 'INVALID_INPUT',
      reason: 'task_of_other_mission',
    })
    expect(await project.refused('report', {})).toMatchObject({
      code: 'INVALID_INPUT',
      reason: 'subject_missing',
    })
  })
})

test('reports a task outside the missions, with its verdict and files', async () => {
  const project = await openProject()
  const { task_id } = await project.call('start_task', { name: 'Alone', areas: ['src/'] })
  project.write('src/alone.ts', 'export {}\n')
  const outcome = { summary: 'Added src/alone.ts.' }
  await project.call('complete_task', { task_id, status: 'success', outcome })
  const answer = await project.call('report', { task: task_id, format: 'json' })
  expect(answer).toMatchObject({ mission_id: null, task_id })
  const { mission, task, totals, tasks } = JSON.parse(answer.text)
  expect({ mission, task, files: totals.files }).toMatchObject({
    mission: null,
    task: { name: 'Alone' },
    files: 1,
  })
  expect(tasks).toHaveLength(1)
  expect(await project.refused('report', { mission: 'm-000000000000', task: task_id })).toMatchObject({
    reason: 'task_of_other_mission',
  })
})

test('of a task, a file that a later attempt renamed is told once, under its new name', async () => {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'Move', objective: 'Files move' })
  const { task_id } = await project.call('start_task', { mission_id, name: 'Move' })
  const complete = (status: string) =>
    project.call('complete_task', { task_id, status, outcome: { summary: 'Done.' } })
  project.write('new.ts', 'one\ntwo\nthree\n')
  project.git('add', 'new.ts')
  project.git('mv', 'src/auth.ts', 'src/login.ts')
  await complete('failed')
  await project.call('start_task', { planned_task_id: task_id })
  project.git('mv', 'new.ts', 'newer.ts')
  project.git('mv', 'src/login.ts', 'src/sign-in.ts')
  await complete('success')
  const { text } = await project.call('report', { task: task_id, format: 'json' })
  const { changes } = JSON.parse(text)
  expect(changes.map(({ path, from, change }: Answer) => [path, from, change])).toEqual([
    ['newer.ts', null, 'added'],
    ['src/sign-in.ts', 'src/auth.ts', 'renamed'],
  ])
})

test('a file that several agents may have changed is one line, with all of them', async () => {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'Shop', objective: 'A shop' })
  const start = async (agent_name: string) =>
    (await project.call('start_task', { mission_id, name: agent_name, agent_name, areas: ['src/'] })).task_id
  const tasks = [await start('agent-a'), await start('agent-b'), await start('agent-c')]
  project.write('src/api.ts', 'export const api = 2\n')
  for (const task_id of tasks)
    await project.call('complete_task', { task_id, status: 'success', outcome: { summary: 'Worked.' } })
  const answer = await project.call('report', { mission: mission_id, format: 'json' })
  const { contested } = JSON.parse(answer.text)
  expect(
    contested.map(({ path, agents, less_likely }: Answer) => [path, new Set([...agents, ...less_likely])]),
  ).toEqual([['src/api.ts', new Set(['agent-a', 'agent-b', 'agent-c'])]])
})

test('tells what people said in reviews, and how each comment was met', async () => {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', {
    name: 'Sign in',
    objective: 'People can sign in',
  })
  const { task_id } = await project.call('start_task', { mission_id, name: 'Build', agent_name: 'backend' })
  project.write('src/auth.ts', 'export const auth = 2\n')
  const outcome = { summary: 'Done.' }
  await project.call('complete_task', { task_id, status: 'success', outcome })
  const subject = { task: task_id }
  const as = { actor: person }
  const on = { path: 'src/auth.ts', side: 'new', line: 1 }
  const { comment_id } = await project.call(
    'review_comment',
    { subject, ...on, kind: 'request', text: 'Three, not two @you' },
    as,
  )
  const { content } = await project.call('review_show', subject, as)
  await project.call('review_send', { subject, action: 'send_back', text: 'Nearly.', content }, as)
  const comments = async () => (await project.call('show', { id: task_id }, as)).review_comments
  expect(await comments()).toEqual({ total: 1, open: 1 })
  await project.call('start_task', { planned_task_id: task_id, agent_name: 'backend' })
  project.write('src/auth.ts', 'export const auth = 3\n')
  await project.call('reply_to_review', { comment_id, text: 'It is three now.', done: true })
  expect(await comments()).toEqual({ total: 1, open: 0 })
  await project.call('complete_task', { task_id, status: 'success', outcome })
  const shown = await project.call('review_show', subject, as)
  await project.call('review_send', { subject, action: 'approve', content: shown.content }, as)
  const { text } = await project.call('report', { mission: mission_id })
  expect(text).toContain('Tess sent back the work: Nearly.')
  // The review keeps the hash of its files, which is not the one that an approval names.
  expect(text).not.toContain(content.slice(0, 12))
  expect(text).toMatch(/\*\*request \(done\):\*\* Three, not two `@you` · Tess at `src\/auth\.ts:1`/)
  expect(text).toContain('  - backend (done): It is three now.')
  const json = JSON.parse((await project.call('report', { mission: mission_id, format: 'json' })).text)
  expect(text).toMatch(/Tess sent back the work: Nearly\. · Build/)
  expect(json.reviews).toMatchObject([
    { action: 'send_back', task_id },
    { action: 'approve', task_id },
  ])
  expect(json.comments).toMatchObject([{ status: 'done', replies: [{ author: 'backend', done: true }] }])
})

test('a file names each task that changed it, and answers in the inbox are reviews', async () => {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'Sign in', objective: 'Sign in' })
  const as = { actor: person }
  const work = async (start: object, file: string) => {
    const { task_id } = await project.call('start_task', start)
    project.write('src/auth.ts', file)
    const outcome = { summary: 'Done.', manual_review_needed: true, manual_review_reason: 'Is it right?' }
    await project.call('complete_task', { task_id, status: 'success', outcome })
    const { items } = await project.call('inbox', { kind: 'review' }, as)
    return { task_id, item: items.find((one: { task_id: string }) => one.task_id === task_id).item_id }
  }
  const first = await work({ mission_id, name: 'Build' }, 'export const auth = 2\n')
  await project.call('reject', { id: first.item, reason: 'Three.' }, as)
  const again = await work({ planned_task_id: first.task_id }, 'export const auth = 3\n')
  await project.call('approve', { id: again.item }, as)
  const second = await work({ mission_id, name: 'Export' }, 'export const auth = 4\n')
  const json = JSON.parse((await project.call('report', { mission: mission_id, format: 'json' })).text)
  expect(json.changes).toMatchObject([{ path: 'src/auth.ts', task_ids: [first.task_id, second.task_id] }])
  expect(json.reviews).toMatchObject([
    { action: 'send_back', task_id: first.task_id, text: 'Three.', content: null, author: 'Tess' },
    { action: 'approve', task_id: first.task_id, author: 'Tess' },
  ])
})

test('status names a task without proof once the tasks of its mission are done', async () => {
  const project = await openProject()
  const as = { actor: person }
  const { mission_id } = await project.call('start_mission', { name: 'Sign in', objective: 'Sign in' })
  const { task_id } = await project.call('start_task', { mission_id, name: 'Build' })
  const doubts = async () => (await project.call('status', {}, as)).missions[0].not_proven
  expect(await doubts()).toBeNull()
  project.write('src/auth.ts', 'export const auth = 2\n')
  await project.call('complete_task', { task_id, status: 'success', outcome: { summary: 'Done.' } })
  expect(await doubts()).toEqual({ tasks: 1, first: task_id })
  const subject = { task: task_id }
  const { content } = await project.call('review_show', subject, as)
  await project.call('review_send', { subject, action: 'approve', content }, as)
  expect(await doubts()).toBeNull()
})

test('words keep their meaning and lose every sign that GitHub or GitLab would act on', () => {
  expect(markdownText('plain words, (in) brackets: 1. first')).toBe('plain words, (in) brackets: 1. first')
  expect(markdownText('1. first')).toBe('1\\. first')
  expect(markdownText('GH-12 & $5 *b* _c_ ~d a|b')).toBe('`GH-12` &amp; `$5` \\*b\\* \\_c\\_ `~d` a\\|b')
  expect(markdownText('see @you, www.x.org and https://x.org/a_b')).toBe(
    'see `@you,` `www.x.org` and `https://x.org/a_b`',
  )
  expect(markdownText('/close')).toBe('\\/close')
  expect(markdownText('a\u202Eb\u200Bc\u0007\u00AD\u2060\u{E0041}')).toBe('abc')
})

test('the command line writes Markdown into a pipe, and the page answers the same text over HTTP', async () => {
  const project = openCommandLine()
  const { missionId } = startWork(project)
  const markdown = project.run('report', missionId)
  expect(markdown.code).toBe(0)
  expect(markdown.out).toMatch(/^# Sign in\n/)
  expect(JSON.parse(project.run('report', missionId, '--format', 'json').out).mission.id).toBe(missionId)
  expect(JSON.parse(project.run('report', missionId, '--json').out).format).toBe('markdown')
  expect(project.run('report', missionId, '--format', 'html').out).toMatch(/^<!doctype html>/)
  expect(project.run('report', 'm-nothing').code).toBe(1)

  const served = await openHttpProject()
  const ask = async (name: string, input: object) => {
    const response = await fetch(`${served.address}/api/${name}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${served.personToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(input),
    })
    return response.json() as Promise<Record<string, string>>
  }
  const { mission_id = '' } = await ask('start_mission', { name: 'Shop', objective: 'A shop' })
  expect((await ask('report', { mission: mission_id })).text).toMatch(/^# Shop\n\nA shop\n/)
})

test('a task stands with its verdict, what contradicts it, and where its lines are', async () => {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'Sign in', objective: 'o' })
  const { task_id } = await project.call('start_task', { mission_id, name: 'Build' })
  project.write('src/auth.ts', 'export const auth = 2\nexport const limit = 5\n')
  const outcome = { summary: 'Updated src/auth.ts and src/api.ts.' }
  await project.call('complete_task', { task_id, status: 'success', outcome })
  await project.call('measure_landed')
  const { text } = await project.call('report', { mission: mission_id, format: 'json' })
  const [task] = JSON.parse(text).tasks
  expect(task).toMatchObject({
    verdict: {
      is: 'contradicted',
      reasons: expect.arrayContaining([expect.objectContaining({ rule: 'claimed_not_changed' })]),
    },
    landed: { is: 'uncommitted' },
  })
})

import { expect, test, vi } from 'vitest'
import { lines, openStory } from '../lines/story.ts'
import { openStage } from '../sessions/driver.ts'
import { isPostgresLeftOut, sharedPostgres } from '../support/postgres/database.ts'
import { type Answer, type ProjectOptions, person, troubles } from '../support/project.ts'

const as = { actor: person }

/** A mission with two tasks, a decision, an issue, a review with a request that was met, and commits on a branch. */
async function told(options: ProjectOptions): Promise<readonly unknown[]> {
  const s = await openStory({ ...options, isOnMachine: false })
  const stage = openStage(s.context)
  const { call, git } = s
  // All of it made before anything is recorded, whatever second that is.
  vi.stubEnv('GIT_COMMITTER_DATE', '2026-01-05T10:00:00Z')
  git('update-ref', '-d', 'HEAD')
  git('commit', '-qm', 'base')
  vi.unstubAllEnvs()
  const main = git('branch', '--show-current').trim()
  const { mission_id } = await call('start_mission', { name: 'Sign in', objective: 'People can sign in' })
  git('checkout', '-qb', 'work')
  const player = stage.session('one', { model: 'claude-opus-4-5' })
  player.start()
  player.prompt()
  await stage.drain()
  const first = await s.begin('a1', { mission_id, areas: ['/f'] })
  player.own('mcp__waymark__start_task', first.attempt_id)
  await call('log_decision', {
    task_id: first.task_id,
    category: 'architecture',
    question: 'Where is the session kept?',
    options_considered: ['a cookie', 'local storage'],
    chosen: 'a cookie',
    reasoning: 'Scripts cannot read it.',
  })
  await call('log_issue', {
    task_id: first.task_id,
    type: 'unclear_requirement',
    description: 'Which form?',
    requires_human_review: true,
  })
  player.edit('f', `${s.read('f')}${lines('x', 1, 2, 3).join('\n')}\n`)
  await stage.drain()
  await s.end(first)
  const subject = { mission: mission_id }
  await call(
    'review_comment',
    { subject, kind: 'request', path: 'f', line: 5, side: 'new', text: 'Shorter, please' },
    as,
  )
  const shown = await call('review_show', subject, as)
  await call('review_send', { subject, action: 'send_back', content: shown.content, viewed: true }, as)
  const [comment] = (await call('review_show', subject, as)).comments
  const again = await call('start_task', { task_id: first.task_id, agent_name: 'a1' })
  s.swap('f', 'x1', 'x1 is short')
  await call('reply_to_review', { comment_id: comment.comment_id, text: 'It is.', done: true })
  await s.end(again)
  const second = await s.begin('a2', { mission_id, areas: ['/g'] })
  s.put('g', lines('y', 1))
  await s.end(second)
  s.commit('both')
  s.put('f', lines('p', 1))
  s.commit('a person')
  const plain = ids()
  const answers = [
    await call('report', { mission: mission_id }),
    await call('report', { mission: mission_id, format: 'html' }),
    await call('report', { mission: mission_id, format: 'json' }),
    await call('check', { base: main }),
    await call('check', { base: main, strict: true }),
    await call('list_missions', { include: ['work'] }, as),
    await call('review_show', subject, as),
    await call('blame', { file: 'f' }),
    await call('why', { location: 'f:6' }),
    await call('provenance_stats', { group_by: 'model', survival: true }),
  ]
  expect(troubles(await call('doctor'))).toEqual([])
  return answers.map((answer) => plain(answer))
}

/** The same with ids and times in the order in which they are met, so that two records can be compared. */
function ids(): (answer: Answer) => unknown {
  const known = new Map<string, string>()
  const named = (kind: string) => (text: string) => {
    const name = known.get(text) ?? `<${kind} ${known.size}>`
    known.set(text, name)
    return name
  }
  return (answer) =>
    JSON.parse(
      JSON.stringify(answer)
        .replace(/\b[a-z]{1,2}-[0-9a-z]{12}\b/g, named('id'))
        .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?Z?| UTC)?/g, '<time>')
        .replace(/\b[0-9a-f]{64}\b|\b[0-9a-f]{40}\b|\b[0-9a-f]{7,12}\b/g, named('hash'))
        .replace(/"(duration_seconds|seconds|took_seconds|open_seconds)":[\d.]+/g, '"$1":0')
        // A report says in words how long something took.
        .replace(/\b\d+ (?:s|min|h \d+ min)\b/g, '<length of time>'),
    )
}

test.skipIf(isPostgresLeftOut)(
  'report, check, missions, review and lines answer on PostgreSQL what they answer on SQLite',
  { timeout: 180_000 },
  async () => {
    const onFile = await told({})
    const onServer = await told({ postgres: await sharedPostgres() })
    for (const [at, answer] of onFile.entries()) expect(onServer[at]).toEqual(answer)
    const [report, , , check, strict, page] = onFile as Answer[]
    expect(report.text).toContain('a cookie')
    expect([check.passed, strict.passed]).toEqual([false, false])
    expect(page.missions[0].work).toMatchObject({ files: 2, agents_total: 2 })
  },
)

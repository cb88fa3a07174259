import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../support/program.ts'
import type { Answer } from '../support/project.ts'
import { openStdioProject, serverEnvironment } from '../support/stdio-project.ts'

const first = 'export const auth = 2\nexport const user = 1\n'

async function openTurn() {
  const agent = await openStdioProject({ 'src/auth.ts': 'export const auth = 1\n' })
  const { folder } = agent
  const environment = serverEnvironment(dirname(folder))
  const person = (words: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    // npm gives what it runs an editor; without one of a test's own there is none.
    runProgram(words, { folder, environment: { ...environment, EDITOR: '', VISUAL: '', ...more } })
  const outcome = { summary: 'Done', achievements: ['It works'] }
  const { task_id: task } = await agent.call('start_task', { name: 'Sign in', agent_name: 'backend' })
  agent.write('src/auth.ts', first)
  await agent.call('complete_task', { task_id: task, status: 'success', outcome })
  const contentIn = (text: string) => /content ([0-9a-f]{12})/.exec(text)?.[1] ?? ''
  /** An editor that adds a request below the line which holds some text. */
  const editor = (below: string, words: string) => {
    const file = join(dirname(folder), 'editor.mjs')
    writeFileSync(
      file,
      `import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
const [path] = process.argv.slice(-1)
const lines = readFileSync(path, 'utf8').split('\\n')
const at = lines.findIndex((line) => line.includes(${JSON.stringify(below)}))
lines.splice(at + 1, 0, ${JSON.stringify(words)})
writeFileSync(path, lines.join('\\n'))
`,
    )
    return { VISUAL: `"${process.execPath}" "${file}"` }
  }
  return { agent, task, person, outcome, contentIn, editor }
}

test('comment, answer, new attempt, only the new difference, approval: in a terminal and over stdio', async () => {
  const { agent, task, person, outcome, contentIn, editor } = await openTurn()
  const looked = person(['review', task])
  expect(looked.error).toBe('')
  expect(looked.out).toContain('M src/auth.ts +2 -1')
  expect(looked.out).toContain('+export const user = 1')

  const written = person(['review', task, '--write'], editor('user = 1', '! Rename user to account'))
  expect(written.error).toBe('')
  expect(written.out).toContain('1 comment kept')
  expect(await agent.resource(`waymark://reviews/${task}`)).toMatchObject({ comments: [] })

  const updated = new Promise<string>((resolve) => {
    agent.client.setNotificationHandler('notifications/resources/updated', ({ params }: Answer) => {
      if (params.uri.includes('reviews')) resolve(params.uri)
    })
  })
  await agent.client.subscribeResource({ uri: `waymark://reviews/${task}` })
  const sent = person(['review', task, '--send-back', 'One word', '--content', contentIn(looked.out)])
  expect(sent.error).toBe('')
  expect(sent.out).toContain(`Task ${task} is to do again.`)
  expect(await updated).toBe(`waymark://reviews/${task}`)

  const begun = await agent.call('start_task', { planned_task_id: task, agent_name: 'backend' })
  expect(begun.sent_back).toMatchObject({ text: 'One word' })
  expect(begun.review_comments).toMatchObject([
    {
      kind: 'request',
      path: 'src/auth.ts',
      line: 2,
      quoted: 'export const user = 1',
      text: 'Rename user to account',
    },
  ])
  const [{ comment_id: comment }] = begun.review_comments
  agent.write('src/auth.ts', first.replace('user', 'account'))
  await agent.call('reply_to_review', { comment_id: comment, text: 'Renamed.', done: true })
  const ended = await agent.call('complete_task', { task_id: task, status: 'success', outcome })
  expect(ended.review).toEqual({ total: 1, done: [comment], answered: [], changed: [], open: [] })

  const again = person(['review', task])
  const cut = `Only what changed since you looked; the whole diff: waymark review ${task} --again\n`
  expect(looked.out).not.toContain('Only what changed')
  expect(again.out.split('=== ')[0]).toContain(cut)
  expect(person(['review', task, '--again']).out).not.toContain('Only what changed')
  expect(again.out).toContain('src/auth.ts +2 -1 (changed since you viewed it)')
  const [difference = '', next = ''] = (again.out.split('=== src/auth.ts\n')[1] ?? '').split('\n\n')
  expect(`${difference}\n`).toBe(
    '@@ -1,2 +1,2 @@\n export const auth = 2\n-export const user = 1\n+export const account = 1\n',
  )
  const [, approval = ''] = /^Approve: waymark (.*)$/m.exec(next) ?? []
  const unconfirmed = person(['review', task, '--approve'])
  expect(unconfirmed.code).toBe(2)
  expect(unconfirmed.error).toContain(`Then: waymark ${approval}`)
  expect(again.out).toContain('backend says it is done: Renamed.')
  const stale = person(['review', task, '--approve', '--content', contentIn(looked.out)])
  expect(stale.code).toBe(1)
  expect(stale.error).toContain(`${task} changed after you reviewed it`)
  const approved = person(approval.split(' '))
  expect(approved.error).toBe('')
  expect(approved.out).toContain('Approved (rv-')
  expect(person(['review', task]).out).toMatch(/\n\S+ approved this\.\n/)
  expect(await agent.resource(`waymark://reviews/${task}`)).toMatchObject({
    comments: [{ comment_id: comment, status: 'done', now: { line: null, line_is: 'gone' } }],
    reviews: [{ action: 'send_back' }, { action: 'approve', author: expect.any(String) }],
  })
})

test('words alone are no look; what was looked at is shown and commented on again; drafts are seen and removed', async () => {
  const { agent, task, person, contentIn, editor } = await openTurn()
  const review = (...words: string[]) => person(['review', task, ...words])
  const content = contentIn(review().out)
  const without = review('--comment', '--content', content)
  expect(without.error).toContain(`write comments first: waymark review ${task} --write`)
  expect(review('--comment', '--text', 'just a word', '--content', content).error).toBe('')
  const seen = review().out
  expect(seen).toContain('+export const user = 1')
  expect(review('--approve', '--content', contentIn(seen)).error).toBe('')
  expect(review().out).toContain('=== src/auth.ts (unchanged since you viewed it')
  expect(review().out).toContain('--again')
  expect(review('--again').out).toContain('+export const user = 1')
  const folder = mkdtempSync(join(dirname(agent.folder), 'words-'))
  const given = (text: string) => {
    const file = join(folder, 'given.diff')
    writeFileSync(file, text)
    return file
  }
  const lost = review('--again', '--from', given('! The whole\n> === 9 nowhere.ts\n! There\n'))
  expect([lost.code, lost.error.split('\n')[0]]).toEqual([
    2,
    'waymark: Line 2 of your text names no file of this review: "> === 9 nowhere.ts".',
  ])
  const kept = review('--again', '--write')
  expect(kept.error).toContain('EDITOR')
  const line = '>             2 +export const user = 1'
  const from = review('--again', '--from', given(`! The whole\n> === 1 src/auth.ts\n${line}\n! Rename it\n`))
  expect(from.error).toBe('')
  expect(from.out).toContain('2 comments kept; only you see them')
  const listed = review().out
  const [, draft = ''] = /request (rc-\w+) on src\/auth\.ts:2: Rename it/.exec(listed) ?? []
  expect(review('--drop', draft).out).toBe('1 comment removed.\n')
  const shown = JSON.parse(review('--json').out)
  expect(shown.drafts).toMatchObject([{ text: 'The whole', line: null }])
  expect(review('--drop', 'all', '--format', 'text').out).toBe('1 comment removed.\n')
  expect(review('--format', 'xml').error).toContain('--format cannot be "xml"')
  const again = review('--again', '--write', '--send-back')
  expect(again.error).toContain('EDITOR')
  const back = person(
    ['review', task, '--again', '--write', '--send-back'],
    editor('user = 1', '! Rename user to account'),
  )
  expect([back.error, back.out.split(' (')[0]]).toEqual(['', 'Sent back with 1 comment'])
  const said = person(['review', 'comments', task, '--format', 'text']).out
  expect(said).toContain('on src/auth.ts:2 (open)\n  > export const user = 1\n  Rename user to account\n')
  expect(said).not.toContain('{')
  expect(person(['review', 'show', task, '--format', 'text']).out).toContain(
    'M src/auth.ts +2 -1 (unchanged since you viewed it)',
  )
})

test('an agent’s shell, words below no mark and what is not there are refused, and nothing is lost', async () => {
  const { task, person, editor } = await openTurn()
  const shell = { CLAUDECODE: '1' }
  for (const words of [['--approve', '--content', 'abcdef'], ['--write']]) {
    const forbidden = person(['review', task, ...words], shell)
    expect(forbidden.code).toBe(1)
    expect(forbidden.error).toContain('Only people write reviews')
  }
  expect(person(['review', task], shell).out).toContain('M src/auth.ts')

  const refused = person(['review', task, '--write'], editor('user = 1', 'no mark'))
  expect(refused.code).toBe(2)
  expect(refused.error).toContain('belongs to no comment: "no mark"')
  const [, file = ''] = /Your text is in (.+?), and is not sent\.\s/.exec(refused.error) ?? []
  writeFileSync(file, readFileSync(file, 'utf8').replace('no mark', '! a mark'))
  expect(person(['review', task, '--from', file]).out).toContain('1 comment kept')

  const nowhere = person(['review', task, '--from', 'nowhere.txt'])
  expect([nowhere.code, nowhere.error.split(':').slice(0, 2)]).toEqual([
    2,
    ['waymark', ' nowhere.txt cannot be read'],
  ])
  const unknown = person(['review', 't-000000000000'])
  expect(unknown.code).toBe(1)
  expect(unknown.error).toContain('waymark task list')
  expect(unknown.error).not.toContain('get_context')
})

test('a long difference is shown to its end, and no name of a file passes for a line', async () => {
  const { agent, person, outcome } = await openTurn()
  const lines = (added: string) =>
    Array.from({ length: 12_000 }, (_, at) => `same ${at}\n${at % 10 === 0 ? added : ''}`).join('')
  agent.write('long.txt', lines(''))
  const { task_id: task } = await agent.call('start_task', { name: 'Add lines', agent_name: 'backend' })
  agent.write('long.txt', lines('one more\n'))
  agent.write('a\n=== b.ts (viewed)', 'x\n')
  await agent.call('complete_task', { task_id: task, status: 'success', outcome })
  const { out } = person(['review', task])
  expect(out.match(/^\+one more$/gm)).toHaveLength(1_200)
  expect(out).toContain('\n=== a\\n=== b.ts (viewed)\n')
})

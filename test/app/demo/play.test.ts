import { expect, test } from 'vitest'
import { temporaryFolder } from '../../support/git-repository.ts'
import { runProgram } from '../../support/program.ts'
import type { Answer } from '../../support/project.ts'
import { serverEnvironment } from '../../support/stdio-project.ts'
import { runDemo } from './played.ts'
import { courseOf, eventsOf, recordedEvents } from './recorded.ts'

/** What plays no day ends at once. */
function played(...words: readonly string[]) {
  const folder = temporaryFolder()
  return runProgram(words, { folder, environment: { ...serverEnvironment(folder), HOME: folder } })
}

test('at once, the day is as it was recorded: missions, plan, runs, what waits, and every diff', async () => {
  const program = runDemo('demo', '--at-once', '--port', '0')
  await program.printed(/The day is over/)
  const exported: Answer = await program.ask('export')
  const [played, recorded] = [await eventsOf(exported.text), await recordedEvents()]
  expect(courseOf(played)).toEqual(courseOf(recorded))

  const { missions } = await program.ask('list_missions', { status: 'all' })
  expect(missions.map(({ name }: Answer) => name).sort()).toEqual(
    recorded.flatMap(({ body }) => (body.kind === 'mission.started' ? body.mission.name : [])).sort(),
  )
  const { mission_id: id } = missions.find(({ name }: Answer) => name === 'Gift cards')
  const { files } = await program.ask('mission_changes', { id })
  const ofCards = files.filter(({ path }: Answer) => path.includes('gift-card'))
  expect(ofCards).toMatchObject([
    { path: 'src/gift-card.ts', added_lines: 21, deleted_lines: 0 },
    { path: 'test/gift-card.test.ts', added_lines: 15, deleted_lines: 0 },
  ])
  const { runs } = await program.ask('state_gate_list_runs', { status: 'all' })
  expect(runs).toHaveLength(recorded.filter(({ body }) => body.kind === 'run.created').length)
  const { items } = await program.ask('inbox')
  expect(items.map(({ kind }: Answer) => kind).sort()).toEqual(['approval', 'blocker', 'review'])
  expect((await program.ask('doctor')).healthy).toBe(true)

  for (const { body } of recorded) {
    if (body.kind !== 'attempt.closed') continue
    const { diff } = await program.ask('diff', { id: body.taskId })
    for (const { path } of body.evidence.changes) expect(diff).toContain(path)
  }
  const { code } = await program.interrupt()
  expect(code).toBe(0)
  expect(program.leftovers()).toEqual([])
})

test('at speed, each log entry comes by itself, at its distance, and the last one is of now', async () => {
  const begun = Date.now()
  const program = runDemo('demo', '--speed', '2000', '--port', '0')
  await program.printed(/The day is over/)
  const exported: Answer = await program.ask('export')
  const played = await eventsOf(exported.text)
  expect(courseOf(played)).toEqual(courseOf(await recordedEvents()))
  expect(played.at(-1)?.recordedAt).toBeGreaterThan(begun)
  expect(played.at(-1)?.recordedAt).toBeLessThanOrEqual(Date.now() + 1)

  // Enter prints another address that logs in.
  const [, first = ''] = await program.printed(/(http:\S+login\?code=\S+)\n.*press Enter/)
  program.enter()
  const [, second = ''] = await program.printed(/over\..*(http:\S+login\?code=\S+)\n/s)
  expect(second).not.toBe(first)
  for (const address of [first, second]) {
    const { status, headers } = await fetch(address, { redirect: 'manual' })
    expect([status < 400, headers.get('set-cookie') !== null]).toEqual([true, true])
  }
  await program.interrupt()
})

test('whoever follows the log hears of entries while the day happens; interrupted midway, it leaves nothing', async () => {
  const program = runDemo('demo', '--speed', '40', '--port', '0')
  const first: Answer = await program.ask('log')
  const second = await headPast(program, Math.max(3, first.head))
  expect(second.head).toBeGreaterThan(first.head)
  expect(second.head).toBeLessThan((await recordedEvents()).length)
  expect(program.leftovers()).toHaveLength(1)
  expect(await program.interrupt()).toMatchObject({ code: 0, error: '' })
  expect(program.leftovers()).toEqual([])
})

test.each([
  [['--sped', '3'], 'demo does not take --sped.'],
  [['--speed', 'quick'], '--speed must be a whole number from 1 to 100000, not "quick".'],
  [['--port', '99999'], '--port must be a whole number from 0 to 65535, not "99999".'],
])('%j is not understood', (words, sentence) => {
  const { code, error } = played('demo', ...words)
  expect([code, error]).toEqual([2, expect.stringContaining(sentence)])
})

async function headPast(program: ReturnType<typeof runDemo>, seq: number): Promise<Answer> {
  for (;;) {
    const answer: Answer = await program.ask('log')
    if (answer.head > seq) return answer
  }
}

test('the help says what it takes', () => {
  const help = played('demo', '--help')
  expect(help).toMatchObject({ code: 0, error: '' })
  expect(help.out).toMatch(/^Play a recorded day.*Usage: waymark demo .*--at-once +The whole day at once/s)
})

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { soakTest } from '../../support/amount.ts'
import type { Answer } from '../../support/project.ts'
import { runDemo, runFile } from './played.ts'

test('waits with the recorded day until a person presses the button of its page', async () => {
  const program = runDemo('demo', '--wait', '--at-once', '--port', '0')
  await program.printed(/watch a recorded day[^,]+, a small book shop, or connect a project of yours/)
  expect((await program.ask('status')).events).toBe(0)

  const [, address = '', login = ''] = await program.printed(/ at (http:\S+)\n.*(http:\S+login\?code=\S+)\n/)
  const entered = await fetch(login, { redirect: 'manual' })
  expect(entered.headers.get('location')).toBe('/start')
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
  const session = async (): Promise<Answer> =>
    (await fetch(`${address}/api/session`, { headers: { cookie } })).json()
  const entry = await session()
  expect(entry).toMatchObject({ demo: 'waiting' })
  const { csrf } = entry

  const [, file = ''] = await program.printed(/token in ([^\n]+)\n/)
  const headers = { 'Content-Type': 'application/json', Origin: address }
  const play = (more: Record<string, string>) =>
    fetch(`${address}/api/demo/play`, { method: 'POST', headers: { ...headers, ...more }, body: '{}' })
  const agent = await play({ Authorization: `Bearer ${readFileSync(file, 'utf8').trim()}` })
  const refused: Answer = await agent.json()
  expect([agent.status, refused.error.reason]).toEqual([403, 'person_needed'])
  expect((await play({ cookie })).status).toBe(403)
  expect((await session()).demo).toBe('waiting')

  const started = await play({ cookie, 'X-Waymark-Csrf': csrf })
  expect([started.status, await started.json()]).toEqual([200, { demo: 'playing' }])
  await program.printed(/The day is over/)
  expect((await session()).demo).toBe('over')
  expect((await program.ask('status')).events).toBeGreaterThan(100)
  const { code } = await program.interrupt()
  expect(code).toBe(0)
  expect(program.leftovers()).toEqual([])
})

soakTest('npm start that is interrupted before the day begins leaves nothing', async () => {
  const program = runFile('scripts/run.mjs', 'scripts/start.ts', '--port', '0')
  await program.printed(/watch a recorded day/)
  expect(program.leftovers()).toHaveLength(1)
  expect((await program.interrupt()).code).toBe(0)
  expect(program.leftovers()).toEqual([])
})

import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { contractVersion } from '../../src/remote/operations/protocol-limits.ts'
import { openTeam } from '../people/team-server.ts'
import { slowdown, used } from '../support/longest-turn.ts'

const call = {
  contract: contractVersion,
  version: '0.1.0',
  machine: { key: 'a'.repeat(64), name: 'laptop' },
  call: 'a-call-of-an-attacker',
  folder: '/home/eve/shop',
  channel: 'stdio',
  caller: 'agent',
  operation: 'start_task',
  input: { name: 'T' },
}
const made = (measured: unknown) => ({ name: 'start', hash: 'a'.repeat(64), measured })
const text = (body: object, place: string, value: string) =>
  JSON.stringify(body).replace(JSON.stringify(place), () => value)
const many = (value: string, count: number) => `[${`${value},`.repeat(count)}1]`

const bodies: Readonly<Record<string, string>> = {
  'lists without end': text({ ...call, measured: [made('X')] }, 'X', many('[]', 6_000_000)),
  'a long text': text({ ...call, input: 'X' }, 'X', JSON.stringify('a'.repeat(15_000_000))),
  'many values that were measured': text({ ...call, measured: [made('X')] }, 'X', many('{}', 5_000_000)),
  'many values that are asked': text({ ...call, input: { areas: 'X' } }, 'X', many('{}', 300_000)),
  'many fields': text(
    { ...call, meta: 'X' },
    'X',
    `{${Array.from({ length: 300_000 }, (_, at) => `"k${at}":1`).join()}}`,
  ),
  'a deep nesting': text({ ...call, meta: 'X' }, 'X', `${'['.repeat(2_000_000)}${']'.repeat(2_000_000)}`),
  'mistakes in each value': text({ ...call, measured: 'X' }, 'X', many('{}', 390_000)),
}

/**
 * How long work held a request beside it up, in milliseconds: what this thread computed until that was answered. The rest
 * of the time belonged to whatever else the machine does, which also slows this thread down.
 */
async function longestHold(address: string, work: Promise<unknown>): Promise<number> {
  let longest = 0
  let isOver = false
  void work.finally(() => {
    isOver = true
  })
  while (!isOver) {
    const [began, before] = [performance.now(), used()]
    // Requests without a pause would be most of what is computed.
    await new Promise((resolve) => setTimeout(resolve, 5))
    await (await fetch(`${address}/healthz`)).text()
    const computed = used() - before
    longest = Math.max(longest, Math.min(performance.now() - began, computed))
  }
  return longest / slowdown()
}

test('refuses small packed bodies that unpack to much, and answers others meanwhile', async () => {
  const team = await openTeam()
  const { secret } = await team.call('token_create', { admin: true, person: 'Ada' })
  for (const [name, body] of Object.entries(bodies)) {
    const packed = gzipSync(body)
    const send = (authorization: string) =>
      fetch(`${team.address}/api/machines/call`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'Content-Encoding': 'gzip',
          Authorization: authorization,
        },
        body: packed,
      })
    const before = process.memoryUsage().arrayBuffers
    const asked = send(`Bearer ${secret}`)
    let held = await longestHold(team.address, asked)
    // A collection of garbage falls into one of them by chance; a parser that is slow is slow each time.
    for (let again = 0; again < 3 && held >= 300; again += 1)
      held = Math.min(held, await longestHold(team.address, send(`Bearer ${secret}`)))
    const { error } = (await (await asked).json()) as { error?: { code: string; message: string } }
    expect(error?.code, name).toMatch(/^(TOO_LARGE|INVALID_INPUT)$/)
    expect(error?.message.length, name).toBeLessThan(1_000)
    expect(held, name).toBeLessThan(300)
    expect(process.memoryUsage().arrayBuffers - before, name).toBeLessThan(150_000_000)
    // Whoever may not come in is not even read.
    expect((await send('Bearer wm_wrong')).status, name).toBe(401)
  }
})

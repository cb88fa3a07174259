import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { readServeFlags } from '../../src/app/settings/flags.ts'
import { runNotificationSender } from '../../src/notifications/operations/send-loop.ts'
import { isPrivate } from '../../src/notifications/senders/addresses.ts'
import { messenger } from '../../src/notifications/senders/messenger.ts'
import { soakTest } from '../support/amount.ts'
import { person } from '../support/project.ts'
import { openReceiver, signatureOf } from './receiver.ts'
import { base, openTelling } from './telling.ts'

const minute = 60_000

describe('a webhook', () => {
  test('gets each card of the inbox once, signed, with a link to the card', async () => {
    const { asPerson, ask, tell } = await openTelling()
    const receiver = await openReceiver()
    const { secret } = await asPerson('notify_add', { form: 'webhook', url: `${receiver.url}/in?key=k-1` })
    const item = await ask('Which colour?')
    await tell()
    await tell()
    expect(receiver.received).toHaveLength(1)
    const [request] = receiver.received
    if (!request) throw new Error('it came')
    expect(request.path).toBe('/in?key=k-1')
    expect(request.headers['webhook-signature']).toBe(signatureOf(request, secret))
    expect(Math.abs(Number(request.headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60)
    expect(request.said).toMatchObject({
      type: 'notice.blocker',
      data: {
        project: 'demo',
        what: 'An agent has a question',
        why: 'Which colour?',
        item_id: item,
        task: { name: 'Draw the map' },
        command: `waymark resolve ${item} "<answer>"`,
        link: `${base}/?select=${item}`,
      },
    })
  })

  test('retries with growing waits, the same id and the same body, and then gives up', async () => {
    const { asPerson, ask, tell, wait } = await openTelling()
    const receiver = await openReceiver()
    await asPerson('notify_add', { form: 'webhook', url: receiver.url })
    receiver.answer((response) => void response.writeHead(500).end())
    await ask('Which colour?')
    const waits: number[] = []
    await tell()
    for (let tries = 1; tries < 8; tries += 1) {
      let waited = 0
      while ((await tell()) === 0) {
        const step = Math.max(1_000, waited / 8)
        wait(step)
        waited += step
      }
      waits.push(waited)
    }
    expect(waits).toEqual([...waits].sort((one, other) => one - other))
    wait(100 * 60 * minute)
    expect(await tell()).toBe(0)
    const ids = new Set(receiver.received.map(({ headers, body }) => [headers['webhook-id'], body].join(' ')))
    expect([receiver.received.length, ids.size]).toEqual([8, 1])
    const { notifications } = await asPerson('notify_list')
    expect(notifications[0]).toMatchObject({ waiting: 0, last_error: `${receiver.url} answered 500.` })
    receiver.answer((response) => void response.writeHead(200).end('ok'))
    await ask('And the frame?')
    await tell()
    const after = await asPerson('notify_list')
    expect(after.notifications[0]).toMatchObject({ last_error: null, last_sent_at: expect.any(String) })
  })

  test('waits as long as the receiver asks for', async () => {
    const { asPerson, ask, tell, wait } = await openTelling()
    const receiver = await openReceiver()
    await asPerson('notify_add', { form: 'webhook', url: receiver.url })
    receiver.answer((response) => void response.writeHead(429, { 'retry-after': '120' }).end())
    await ask('Which colour?')
    await tell()
    wait(minute)
    expect(await tell()).toBe(0)
    wait(70_000)
    expect(await tell()).toBe(1)
  })

  test('retries after the clock was set back', async () => {
    const { asPerson, ask, tell, wait } = await openTelling()
    const receiver = await openReceiver()
    await asPerson('notify_add', { form: 'webhook', url: receiver.url })
    receiver.answer((response) => void response.writeHead(503).end())
    wait(24 * 60 * minute)
    await ask('Which colour?')
    await tell()
    expect(await tell()).toBe(0)
    wait(-24 * 60 * minute)
    expect(await tell()).toBe(1)
  })

  test('is followed nowhere else', async () => {
    const { asPerson, ask, tell } = await openTelling()
    const [receiver, elsewhere] = [await openReceiver(), await openReceiver()]
    receiver.answer((response) => void response.writeHead(307, { location: elsewhere.url }).end())
    await asPerson('notify_add', { form: 'webhook', url: receiver.url })
    await ask('Which colour?')
    await tell()
    expect(elsewhere.received).toEqual([])
    const { notifications } = await asPerson('notify_list')
    expect(notifications[0].last_error).toContain('answered 307 with a redirect')
  })

  test.each([
    { words: [], reachesPrivate: true },
    { words: ['--allow-remote'], reachesPrivate: false },
    { words: ['--trust-proxy'], reachesPrivate: false },
    { words: ['--allow-host', 'build.example'], reachesPrivate: false },
    { words: ['--public-url', 'https://build.example'], reachesPrivate: false },
  ])('goes to a private network unasked only from a server that is one’s own: $words', (of) =>
    expect(readServeFlags(of.words).reachesPrivate).toBe(of.reachesPrivate),
  )

  test('stops waiting for a receiver that hangs, and cuts a long response', async () => {
    const receiver = await openReceiver()
    const posting = { agent: 'test', reachesPrivate: true }
    const { post } = messenger({}, { ...posting, patience: 300 })
    const letter = { url: receiver.url, id: 'x', body: '{}', secret: null, reachesPrivate: false }
    receiver.answer(() => undefined)
    const began = Date.now()
    expect(await post(letter, AbortSignal.timeout(60_000))).toMatchObject({
      isDelivered: false,
      isFinal: false,
      error: `${receiver.url} did not answer within 0.3 seconds.`,
    })
    expect(Date.now() - began).toBeLessThan(30_000)
    receiver.answer((response) => {
      response.writeHead(200)
      response.write('x'.repeat(100_000))
    })
    const patient = messenger({}, { ...posting, patience: 60_000 })
    expect(await patient.post(letter, AbortSignal.timeout(60_000))).toEqual({ isDelivered: true })
  })

  test('goes to a private network only where that was said', async () => {
    const { asPerson, ask, tell } = await openTelling({ reachesPrivate: false })
    const receiver = await openReceiver()
    const { port } = new URL(receiver.url)
    const add = (url: string, name: string, more = {}) =>
      asPerson('notify_add', { form: 'webhook', url, name, ...more })
    await add(receiver.url, 'by address')
    await add(`http://localhost:${port}/`, 'by name')
    await add(`http://[::ffff:127.0.0.1]:${port}/`, 'in other clothes')
    await add(receiver.url, 'allowed', { private: true })
    await ask('Which colour?')
    await tell()
    expect(receiver.received).toHaveLength(1)
    const { notifications } = await asPerson('notify_list')
    const troubles = notifications.map(({ last_error }: { last_error: string | null }) => last_error)
    expect(troubles.slice(0, 3).every((error: string) => error.includes('is on a private network'))).toBe(
      true,
    )
    expect(troubles[3]).toBeNull()
  })

  test.each([
    '10.1.2.3',
    '169.254.169.254',
    '192.168.1.1',
    '100.64.0.1',
    '0.0.0.0',
    '::1',
    'fe80::1',
    'fd00::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    '::127.0.0.1',
  ])('%s is private', (address) => expect(isPrivate(address)).toBe(true))

  test.each([
    '93.184.216.34',
    '8.8.8.8',
    '172.32.0.1',
    '2606:2800:220:1::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ])('%s is public', (address) => expect(isPrivate(address)).toBe(false))

  test.each([
    ['ftp://example.com', 'address_protocol'],
    ['no address', 'address_invalid'],
    ['https://me:secret@example.com', 'address_has_credentials'],
  ])('to %s is refused, in words that hold no secret', async (url, reason) => {
    const { refused } = await openTelling()
    const said = await refused('notify_add', { form: 'webhook', url }, { actor: person })
    expect(said).toMatchObject({ code: 'INVALID_INPUT', reason })
    expect(JSON.stringify(said)).not.toContain('secret@')
  })
})

describe('Slack', () => {
  test('gets text and blocks, in which the words of an agent name nobody and are no link', async () => {
    const { asPerson, ask, tell } = await openTelling()
    const receiver = await openReceiver()
    await asPerson('notify_add', { form: 'slack', url: receiver.url })
    await ask('<!channel> *see* <https://evil.example|here> & \u001b[2J\u202e\nsecond line `x`')
    await tell()
    const [request] = receiver.received
    expect(Object.keys(request?.said)).toEqual(['text', 'blocks'])
    expect(request?.said.text).toContain(
      '&lt;!channel&gt; *see* &lt;https://evil.example|here&gt; &amp; [2J second',
    )
    expect(request?.said.text).not.toMatch(/[<>\u001b\u202e]/)
    const marked = request?.said.blocks.filter(
      ({ text }: { text: { type: string } }) => text.type === 'mrkdwn',
    )
    expect(marked).toHaveLength(1)
    expect(marked[0].text.text).toMatch(
      /^<http:\/\/127\.0\.0\.1:4747\/p\/demo\/\?select=h-\w+\|Open in the dashboard>$/,
    )
    expect(request?.headers['webhook-signature']).toBeUndefined()
  })
})

describe('who is told what', () => {
  test('only the kinds that were asked for, and only what happens from then on', async () => {
    const { asPerson, ask, tell, call } = await openTelling()
    const receiver = await openReceiver()
    await ask('Before anybody was told')
    await asPerson('notify_add', { form: 'webhook', url: receiver.url, kinds: ['attempt_failed'] })
    await ask('Which colour?')
    const { task_id } = await call('start_task', { name: 'Paint', goal: 'A picture', areas: ['*.ts'] })
    await call('complete_task', { task_id, status: 'FAILED', outcome: { summary: 'No paint left' } })
    await tell()
    expect(receiver.received.map(({ said }) => [said.type, said.data.why])).toEqual([
      ['notice.attempt_failed', 'No paint left'],
    ])
    expect(receiver.received[0]?.said.data.link).toBe(`${base}/tasks/${task_id}`)
  })

  test('sends nothing that was answered before it could be sent', async () => {
    const { asPerson, ask, tell } = await openTelling()
    const receiver = await openReceiver()
    await asPerson('notify_add', { form: 'webhook', url: receiver.url })
    const first = await ask('Which colour?')
    await asPerson('resolve', { id: first, answer: 'Blue' })
    await tell()
    expect(receiver.received).toEqual([])
    const { notifications } = await asPerson('notify_list')
    expect(notifications[0]).toMatchObject({ waiting: 0, last_error: null })
  })

  test('sends many one by one, ten at once', async () => {
    const { asPerson, ask, tell } = await openTelling()
    const receiver = await openReceiver()
    await asPerson('notify_add', { form: 'webhook', url: receiver.url })
    const questions = Array.from({ length: 12 }, (_, at) => `${at}?`)
    for (const question of questions) await ask(question)
    expect(await tell()).toBe(10)
    expect((await asPerson('notify_list')).notifications[0].waiting).toBe(2)
    expect(await tell()).toBe(2)
    expect(await tell()).toBe(0)
    expect(receiver.received.map(({ said }) => said.data.why)).toEqual(questions)
  })

  test('an attempt that went stale is told without anybody looking', async () => {
    const { asPerson, wait, sender } = await openTelling()
    const receiver = await openReceiver()
    await asPerson('notify_add', { form: 'webhook', url: receiver.url })
    wait(3 * 60 * minute)
    const ending = new AbortController()
    const running = runNotificationSender({
      sender,
      signal: ending.signal,
      onFailure: (error) => expect(error).toBeNull(),
    })
    const [request] = await receiver.has(1)
    expect(request?.said.type).toBe('notice.stale_attempt')
    ending.abort()
    await running
  })

  test('agents add and remove nothing', async () => {
    const { refused } = await openTelling()
    expect(await refused('notify_add', { form: 'desktop' })).toMatchObject({
      code: 'FORBIDDEN',
      reason: 'person_needed',
    })
  })

  test('a test is sent at once, and says what is wrong', async () => {
    const { asPerson } = await openTelling()
    const receiver = await openReceiver()
    await asPerson('notify_add', { form: 'slack', url: receiver.url, name: 'team' })
    expect(await asPerson('notify_test', { name: 'team' })).toMatchObject({ success: true })
    receiver.answer((response) => void response.writeHead(404).end())
    expect(await asPerson('notify_test', { name: 'team' })).toMatchObject({
      success: false,
      says: `${receiver.url} answered 404.`,
    })
  })
})

describe('several servers, and one that ends', () => {
  soakTest('each notice is sent once, whoever is quicker', async () => {
    const { asPerson, ask, sender } = await openTelling()
    const receiver = await openReceiver()
    await asPerson('notify_add', { form: 'webhook', url: receiver.url })
    const ending = new AbortController()
    const failed = (error: unknown) => expect(error).toBeNull()
    const running = [1, 2, 3].map(() =>
      runNotificationSender({ sender, signal: ending.signal, onFailure: failed }),
    )
    for (let round = 0; round < 6; round += 1) {
      await ask(`${round}?`)
      await receiver.has(round + 1)
    }
    await sleep(300)
    ending.abort()
    await Promise.all(running)
    const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
    expect([ids.length, new Set(ids).size]).toEqual([6, 6])
  })

  test('sends what another process could not send, unchanged', async () => {
    const { asPerson, ask, sender, wait } = await openTelling()
    const receiver = await openReceiver()
    await asPerson('notify_add', { form: 'webhook', url: receiver.url })
    receiver.answer((response) => void response.writeHead(503).end())
    await ask('a?')
    const run = () => {
      const ending = new AbortController()
      const done = runNotificationSender({
        sender,
        signal: ending.signal,
        onFailure: (error) => expect(error).toBeNull(),
      })
      return async () => {
        ending.abort()
        await done
      }
    }
    const end = run()
    await receiver.has(1)
    const error = async () => (await asPerson('notify_list')).notifications[0].last_error
    await expect.poll(error, { timeout: 30_000 }).toContain('503')
    await end()
    receiver.answer((response) => void response.writeHead(204).end())
    wait(6_000)
    const endAgain = run()
    const [first, second] = await receiver.has(2)
    await endAgain()
    expect(second?.body).toBe(first?.body)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  })
})

test('an address and a secret are in no log entry, no list and no export, and go when it is removed', async () => {
  const { asPerson, call, context } = await openTelling()
  const { secret } = await asPerson('notify_add', {
    form: 'webhook',
    url: 'https://hooks.example.com/services/T0/B0/verysecret?k=verysecret',
    name: 'ops',
  })
  expect(secret).toMatch(/^whsec_/)
  const told = JSON.stringify([
    await call('log', { limit: 100 }),
    await call('export'),
    await asPerson('notify_list', { all: true }),
    await call('doctor'),
  ])
  expect(told).not.toContain('verysecret')
  expect(told).not.toContain(secret)
  expect(told).toContain('https://hooks.example.com')
  expect(await asPerson('notify_remove', { name: 'ops' })).toMatchObject({ name: 'ops', not_sent: 0 })
  expect((await asPerson('notify_list')).notifications).toEqual([])
  const { checks } = await call('doctor')
  expect(
    checks.filter(({ check, ok }: { check: string; ok: boolean }) => !ok && check !== 'database'),
  ).toEqual([])
  expect(await context.store.view(({ notifications }) => notifications.address('nt-x'))).toBeNull()
})

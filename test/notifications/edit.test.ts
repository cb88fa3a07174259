import { expect, test } from 'vitest'
import { noticeKinds } from '../../src/notifications/domain/notification.ts'
import { person } from '../support/project.ts'
import { openReceiver, signatureOf } from './receiver.ts'
import { openTelling } from './telling.ts'

test('what is not given stays; what waits goes to the new address under the same id and secret', async () => {
  const { asPerson, ask, tell, wait } = await openTelling()
  const [first, second] = [await openReceiver(), await openReceiver()]
  const added = await asPerson('notify_add', { form: 'webhook', url: `${first.url}/a?key=1`, name: 'ops' })
  first.answer((response) => void response.writeHead(500).end())
  await ask('Which colour?')
  await tell()
  const edited = await asPerson('notify_edit', {
    name: 'ops',
    new_name: 'on call',
    url: `${second.url}/b?key=2`,
    kinds: ['blocker'],
  })
  expect(edited).toMatchObject({
    id: added.id,
    name: 'on call',
    to: second.url,
    kinds: ['blocker'],
    waiting: 1,
    secret: null,
  })
  wait(60_000)
  await tell()
  expect(second.received).toHaveLength(1)
  const [request] = second.received
  if (!request) throw new Error('it came')
  expect(request.path).toBe('/b?key=2')
  expect(request.headers['webhook-id']).toBe(first.received[0]?.headers['webhook-id'])
  expect(request.headers['webhook-signature']).toBe(signatureOf(request, added.secret))

  const renewed = await asPerson('notify_edit', { name: 'on call', kinds: [], new_secret: true })
  expect(renewed).toMatchObject({
    name: 'on call',
    kinds: noticeKinds,
    secret: expect.stringMatching(/^whsec_/),
  })
  expect(renewed.secret).not.toBe(added.secret)
  await ask('And the frame?')
  await tell()
  const latest = second.received.at(-1)
  if (!latest) throw new Error('it came')
  expect(latest.headers['webhook-signature']).toBe(signatureOf(latest, renewed.secret))
  expect(JSON.stringify(await asPerson('log'))).not.toMatch(/key=2|whsec_/)
  const { checks } = await asPerson('doctor')
  expect(checks.find(({ check }: { check: string }) => check === 'tables')).toMatchObject({ ok: true })
})

test('an edit that changes nothing is no log entry, and a wrong one says what is wrong', async () => {
  const { asPerson, context, refused } = await openTelling()
  await asPerson('notify_add', { form: 'webhook', url: 'https://example.com/a', name: 'ops' })
  await asPerson('notify_add', { form: 'slack', url: 'https://chat.example/hook' })
  await asPerson('notify_add', { form: 'desktop' })
  const events = () => context.store.view(async ({ eventLog: log }) => (await log.since(0, 500)).length)
  const before = await events()
  await asPerson('notify_edit', { name: 'ops' })
  await asPerson('notify_edit', {
    name: 'ops',
    new_name: 'ops',
    url: 'https://example.com/a',
    kinds: [...noticeKinds],
    private: false,
  })
  expect(await events()).toBe(before)
  await asPerson('notify_edit', { name: 'ops', url: 'https://example.com/b' })
  expect(await events()).toBe(before + 1)

  const says = (input: object) => refused('notify_edit', input, { actor: person })
  expect(await says({ name: 'opz', new_name: 'a' })).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'notification_not_found',
  })
  expect(await says({ name: 'ops', new_name: 'slack' })).toMatchObject({
    code: 'CONFLICT',
    reason: 'notification_exists',
  })
  expect(await says({ name: 'desktop', url: 'https://example.com' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'desktop_takes_no_address',
  })
  expect(await says({ name: 'ops', url: 'ftp://example.com' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'address_protocol',
  })
  expect(await says({ name: 'slack', new_secret: true })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'secret_not_applicable',
  })
  expect(await says({ name: 'ops', kinds: ['blockers'] })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'input_invalid',
    details: { fields: ['kinds.0'] },
  })
  expect(await events()).toBe(before + 1)
})

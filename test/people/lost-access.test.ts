import { expect, test } from 'vitest'
import { openTeamProject } from './team-project.ts'

/** Dan and Cleo, each with an agent; Dan's agent, or Dan, has an attempt at a task open. */
async function openAttempt({ kind }: { readonly kind: 'agent' | 'person' }) {
  const { call, refused, as } = await openTeamProject()
  await call('token_create', { admin: true, person: 'Ada' })
  const tokenOf = async (person: string, of: 'agent' | 'person') => {
    await call('person_add', { name: person })
    await call('member_add', { person, access: 'contributor' })
    return call('token_create', { name: person, kind: of, person })
  }
  const token = await tokenOf('Dan', kind)
  const cleo = await as((await tokenOf('Cleo', 'agent')).secret)
  const { task_id } = await call('start_task', { name: 'Tax', goal: 'g' }, await as(token.secret))
  const again = { planned_task_id: task_id as string }
  return {
    call,
    token: token.id as string,
    start: () => refused('start_task', again, cleo),
    takeOver: () => call('start_task', { ...again, take_over: true }, cleo),
    refusedTakeOver: () => refused('start_task', { ...again, take_over: true }, cleo),
    asked: async () => (await call('inbox', { kind: 'stale_attempt' })).items,
    task: () => call('show', { id: task_id as string }),
  }
}

const alive = { code: 'CONFLICT', reason: 'attempt_of_other_agent' }

test('the attempt of a disabled person waits for a person, and can be taken over at once', async () => {
  const { call, start, takeOver, refusedTakeOver, asked, task } = await openAttempt({ kind: 'agent' })
  expect(await refusedTakeOver()).toMatchObject(alive)
  expect(await asked()).toEqual([])
  expect((await call('status')).running).toMatchObject([{ stale: false, person: 'Dan' }])
  await call('person_disable', { person: 'Dan' })
  expect((await call('status')).running).toMatchObject([{ stale: true, person: 'Dan' }])
  const [item] = await asked()
  expect((await call('status')).waiting).toBe(1)
  expect(item.reason).toContain('Dan is disabled')
  expect(await call('prune')).toMatchObject({ stale_attempts: 1 })
  expect(await asked()).toMatchObject([{ item_id: item.item_id, kind: 'stale_attempt' }])
  expect((await task()).attempts).toMatchObject([{ status: 'open', lost_access: 'Dan is disabled' }])
  expect(await start()).toMatchObject({ code: 'CONFLICT', reason: 'attempt_stale' })
  await takeOver()
  expect(await asked()).toEqual([])
  expect((await task()).attempts).toMatchObject([{ status: 'abandoned' }, { status: 'open' }])
})

test('the same holds for an agent whose token was revoked', async () => {
  const { call, token, takeOver, asked } = await openAttempt({ kind: 'agent' })
  await call('token_revoke', { token })
  const [item] = await asked()
  await call('approve', { id: item.item_id })
  expect(await asked()).toEqual([])
  await takeOver()
})

test('the same holds for the agent of a person who was removed', async () => {
  const { call, takeOver, asked, task } = await openAttempt({ kind: 'agent' })
  await call('member_remove', { person: 'Dan' })
  expect((await call('status')).running).toMatchObject([{ stale: true, person: 'Dan' }])
  expect(await asked()).toMatchObject([{ reason: expect.stringContaining('Dan is no member any more') }])
  await takeOver()
  expect((await task()).attempts).toMatchObject([{ status: 'abandoned' }, { status: 'open' }])
})

test('a person with another token continues, so their attempt cannot be taken over', async () => {
  const { call, token, refusedTakeOver, asked } = await openAttempt({ kind: 'person' })
  await call('token_revoke', { token })
  expect(await asked()).toEqual([])
  expect(await refusedTakeOver()).toMatchObject(alive)
})

import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { contractVersion } from '../../src/remote/operations/protocol-limits.ts'
import { openTeam } from '../people/team-server.ts'
import { jsonOf } from '../surfaces/http/http-project.ts'

test('what a remote machine says of its caller takes from what the token may, and adds nothing', async () => {
  const team = await openTeam()
  const { call } = team
  const { secret: ada } = await call('token_create', { admin: true, person: 'Ada' })
  await call('person_add', { name: 'Vera' })
  await call('member_add', { person: 'Vera', access: 'viewer' })
  const { secret: vera } = await call('token_create', { kind: 'person', person: 'Vera' })
  const ask = async (secret: string, operation: string, input: object, more: object = {}) =>
    jsonOf(
      team.ask(secret, '/api/machines/call', {
        contract: contractVersion,
        version: '0.1.0',
        machine: { key: 'a'.repeat(64), name: 'laptop' },
        call: randomUUID(),
        folder: '/home/vera/shop',
        channel: 'cli',
        caller: 'token',
        operation,
        input,
        ...more,
      }),
    )
  const mission = { name: 'M', objective: 'It works' }
  expect(await ask(ada, 'start_mission', mission)).toMatchObject({
    answer: { mission_id: expect.any(String) },
  })
  for (const more of [{}, { inside_command: true }, { caller: 'agent', connection: 'another' }]) {
    expect(await ask(vera, 'start_mission', mission, more)).toMatchObject({ error: { code: 'FORBIDDEN' } })
  }
  const setting = { name: 'upload_diff', value: 'off' }
  expect(await ask(ada, 'setting_set', setting)).toMatchObject({ answer: { value: 'off' } })
  for (const more of [{ inside_command: true }, { caller: 'agent', client: 'some agent' }]) {
    expect(await ask(ada, 'setting_set', setting, more)).toMatchObject({ error: { code: 'FORBIDDEN' } })
  }
  expect(await ask(ada, 'machine_list', {})).toMatchObject({ answer: { machines: [{ name: 'laptop' }] } })
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { accessOf } from '../../src/kernel/operations/operation.ts'
import { type CallerPermissions, hasAccess, neededAccesses } from '../../src/people/domain/access.ts'
import { openTeamProject, standingOf, type TeamProject } from './team-project.ts'

const who: Readonly<Record<string, CallerPermissions>> = {
  stranger: standingOf(null),
  viewer: standingOf('viewer'),
  contributor: standingOf('contributor'),
  maintainer: standingOf('maintainer'),
  owner: standingOf('owner'),
  admin: standingOf('owner', { admin: true }),
}

/** What whoever may look may do besides, for themselves alone: leave, end a token, be told what they may read, mark what they saw. */
const forThemselves = [
  'session_end',
  'token_revoke',
  'notify_add',
  'notify_edit',
  'notify_remove',
  'notify_test',
  'review_mark',
]

test('the guide’s table of access says what the operations ask for', () => {
  const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'guide', 'team.md'), 'utf8')
  const rows = [...guide.matchAll(/^\| `(viewer|contributor|maintainer|owner)` \|[^|]*\|([^|]*)\|$/gm)]
  expect(rows.map(([, access]) => access)).toEqual(['viewer', 'contributor', 'maintainer', 'owner'])
  for (const [, access, examples = ''] of rows) {
    const commands = [...examples.matchAll(/`([^`]+)`/g)].map(([, command]) => command)
    expect(commands.length).toBeGreaterThan(2)
    for (const command of commands) {
      const operation = catalog.find((candidate) => candidate.command === command)
      expect([command, operation && accessOf(operation)]).toEqual([command, access])
    }
  }
})

test('every operation says what access it needs, and a viewer changes nothing but what is their own (26)', () => {
  for (const operation of catalog) {
    const needed = accessOf(operation)
    expect(neededAccesses, operation.name).toContain(needed)
    if (operation.kind === 'command' && !forThemselves.includes(operation.name)) {
      expect([operation.name, needed]).not.toEqual([operation.name, 'viewer'])
    }
  }
})

test('each operation is refused exactly to those whose access is less than it needs (26)', async () => {
  const project = await openTeamProject()
  for (const operation of catalog) {
    for (const [name, standing] of Object.entries(who)) {
      const isRefused = await isForbidden(project, operation.name, standing)
      expect([operation.name, name, isRefused]).toEqual([
        operation.name,
        name,
        !hasAccess(standing, accessOf(operation)),
      ])
    }
  }
})

/** A wrong input ends a call that is let in before it does anything: access is looked at first. */
async function isForbidden(
  { refused }: TeamProject,
  name: string,
  permissions: CallerPermissions,
): Promise<boolean> {
  const { code } = await refused(name, { 'no such field': true }, { permissions })
  expect(['FORBIDDEN', 'INVALID_INPUT'], name).toContain(code)
  return code === 'FORBIDDEN'
}

test('a viewer decides how they are told, and nothing of how others are (26)', async () => {
  const { refused, call } = await openTeamProject()
  const viewer = { permissions: standingOf('viewer') }
  const other = { permissions: { ...standingOf('viewer'), personId: 'pe-000000000002', personName: 'Otto' } }
  const slack = { form: 'slack', url: 'https://chat.example/hook' }
  const { id } = await call('notify_add', { ...slack, name: 'of Vera' }, viewer)

  expect(await call('notify_list', { all: true }, other)).toMatchObject({
    notifications: [{ name: 'of Vera', own: false }],
  })
  for (const name of ['notify_edit', 'notify_remove', 'notify_test']) {
    expect(await refused(name, { name: id }, other)).toMatchObject({
      code: 'NOT_FOUND',
      reason: 'notification_not_found',
    })
    expect(await refused(name, { name: 'of Vera' }, other)).toMatchObject({
      code: 'NOT_FOUND',
      reason: 'notification_not_found',
    })
  }
  expect(await refused('notify_add', { ...slack, private: true }, viewer)).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'private_network_needs_admin',
  })
  expect(await refused('notify_edit', { name: id, private: true }, viewer)).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'private_network_needs_admin',
  })
  // Not even of others whom they may remove.
  const owner = { permissions: { ...standingOf('owner'), personId: 'pe-000000000002', personName: 'Otto' } }
  expect(await refused('notify_edit', { name: id, url: 'https://otto.example' }, owner)).toMatchObject({
    code: 'NOT_FOUND',
    reason: 'notification_not_found',
  })
  const admins = { permissions: standingOf('owner', { admin: true }) }
  await call('notify_edit', { name: id, private: true }, admins)
  expect(await refused('notify_edit', { name: id, url: 'http://10.0.0.1/' }, viewer)).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'private_network_needs_admin',
  })
  expect(
    await call('notify_edit', { name: id, url: 'http://chat.example/b', private: false }, viewer),
  ).toMatchObject({ to: 'http://chat.example', private_network: false })
  expect(await call('notify_remove', { name: 'of Vera' }, viewer)).toMatchObject({ id })
})

test('a viewer who calls a command is told what it needs and whom to ask (26)', async () => {
  const { refused, call } = await openTeamProject()
  expect(await refused('start_mission', { name: 'A' }, { permissions: standingOf('viewer') })).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'access_too_low',
  })
  expect(await refused('person_add', { name: 'A' }, { permissions: standingOf('owner') })).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'admin_needed',
  })
  expect(await call('list_missions', {}, { permissions: standingOf('viewer') })).toMatchObject({
    missions: [],
  })
})

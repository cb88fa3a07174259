import { expect, test } from 'vitest'
import { neededAccesses, permits, type Standing } from '../../src/domain/identity/access.ts'
import { catalog } from '../../src/operations/catalog.ts'
import { accessOf } from '../../src/operations/operation.ts'
import { openTeamProject, standingOf } from './team-project.ts'

const who: Readonly<Record<string, Standing>> = {
  stranger: standingOf(null),
  viewer: standingOf('viewer'),
  contributor: standingOf('contributor'),
  maintainer: standingOf('maintainer'),
  owner: standingOf('owner'),
  admin: standingOf('owner', { admin: true }),
}

/** What whoever may look may do besides: leave, and end a token of their own. */
const leaving = ['session_end', 'token_revoke']

test('every operation says what access it needs, and a viewer has none of what changes something (26)', () => {
  for (const operation of catalog) {
    const needed = accessOf(operation)
    expect(neededAccesses, operation.name).toContain(needed)
    if (operation.kind === 'command' && !leaving.includes(operation.name)) {
      expect([operation.name, needed]).not.toEqual([operation.name, 'viewer'])
    }
  }
})

test('each operation is refused exactly to those whose access is less than it needs (26)', async () => {
  const project = openTeamProject()
  for (const operation of catalog) {
    for (const [name, standing] of Object.entries(who)) {
      const isRefused = await refused(project, operation.name, standing)
      expect([operation.name, name, isRefused]).toEqual([
        operation.name,
        name,
        !permits(standing, accessOf(operation)),
      ])
    }
  }
}, 60_000)

/** A wrong input ends a call that is let in before it does anything: access is looked at first. */
async function refused(
  { refusal }: ReturnType<typeof openTeamProject>,
  name: string,
  standing: Standing,
): Promise<boolean> {
  const said = await refusal(name, { 'no such field': true }, { standing })
  expect(said, name).toMatch(/^(FORBIDDEN|INVALID_INPUT): /)
  return said.startsWith('FORBIDDEN')
}

test('a viewer who calls a command is told what it needs and whom to ask (26)', async () => {
  const { refusal, call } = openTeamProject()
  expect(await refusal('start_mission', { name: 'A' }, { standing: standingOf('viewer') })).toBe(
    'FORBIDDEN: start_mission needs contributor access, and Vera has viewer. | Ask an owner of the project: waymark member set.',
  )
  expect(await refusal('person_add', { name: 'A' }, { standing: standingOf('owner') })).toBe(
    'FORBIDDEN: person_add is for admins of the server, and Vera is none. | Ask an admin of the server.',
  )
  expect(await call('list_missions', {}, { standing: standingOf('viewer') })).toMatchObject({ missions: [] })
})

import type { Answer } from '../support/project.ts'
import { fillBusyDay } from './busy-day.ts'
import type { ServingDay } from './serving-day.ts'

/** More than a menu shows without a field to search in. */
export const teamFolders = [
  'diffkit',
  'shop',
  'billing',
  'search',
  'mail',
  'docs-site',
  'mobile-app',
  'deploy-tools',
  'payments',
] as const

/** What each person of the team signs in with. */
export interface TeamTokens {
  /** An admin of the server. */
  readonly ada: string
  /** Owner of diffkit. */
  readonly olga: string
  /** Maintainer of diffkit and shop. */
  readonly max: string
  /** Viewer of diffkit. */
  readonly vera: string
  /** An agent of Max in diffkit. */
  readonly builder: string
}

/** Persons of a team with their tokens, and work in two of their projects. */
export async function fillTeam(serving: ServingDay): Promise<TeamTokens> {
  const { call, ask, day } = serving
  await fillBusyDay(day)
  const secretOf = async (token: Answer): Promise<string> => (await token).secret
  const ada = await secretOf(call('token_create', { admin: true, person: 'Ada' }))
  for (const [name, access, roles] of [
    ['Olga', 'owner', []],
    ['Max', 'maintainer', ['reviewer']],
    ['Vera', 'viewer', []],
  ] as const) {
    await call('person_add', { name })
    await call('member_add', { person: name, access, roles: [...roles] })
  }
  await call('member_add', { person: 'Max', access: 'maintainer' }, 1)
  await call('member_invite', { email: 'new.colleague@example.org', access: 'contributor' })
  const own = (person: string) => secretOf(call('token_create', { kind: 'person', person }))
  const builder = await secretOf(call('token_create', { name: 'builder', person: 'Max', days: 5 }))
  await call('token_create', { name: 'ci', kind: 'runner', person: 'Olga' })
  const { mission_id } = await ask(builder, 'start_mission', { name: 'By token', objective: 'Be told apart' })
  await ask(builder, 'start_task', { mission_id, name: 'Told apart by its token', areas: ['src/told/'] })
  const shop = (name: string, input: object) => call(name, input, 1)
  await shop('taskman_phase_add', { id: 'P1', name: 'Sell' })
  await shop('taskman_task_add', { title: 'Sell a thing', phase: 'P1' })
  return { ada, olga: await own('Olga'), max: await own('Max'), vera: await own('Vera'), builder }
}

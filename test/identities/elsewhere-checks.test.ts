import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { closeContext, openContext } from '../../src/app/open-context.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import { doctor } from '../../src/project/operations/doctor.ts'
import { status } from '../../src/project/operations/status.ts'
import { temporaryFolder } from '../support/git-repository.ts'
import type { Answer } from '../support/project.ts'
import { serverEnvironment } from '../support/stdio-project.ts'
import { openTeamProject } from './team-project.ts'

const actor: Actor = { name: 'Tess', kind: 'person', role: null, channel: 'http' }

test('status and doctor answer for a project whose work trees are on other machines', async () => {
  const home = temporaryFolder()
  const team = openTeamProject(home)
  await team.call('start_mission', { name: 'Begin', objective: 'Any' })
  const id = await team.context.store.view(async ({ identities }) => identities.project)
  const environment = { ...serverEnvironment(home), WAYMARK_DATABASE: join(home, 'team.db') }
  const context = openContext({ actor, environment, workingFolder: home, elsewhere: { id, name: 'shop' } })
  onTestFinished(() => closeContext(context))
  expect(await invoke(status, context, {})).toMatchObject({ witness: null, facts: 2, recorded: true })
  const { healthy, checks }: Answer = await invoke(doctor, context, {})
  expect(checks.filter(({ ok }: Answer) => !ok)).toEqual([])
  expect(healthy).toBe(true)
})

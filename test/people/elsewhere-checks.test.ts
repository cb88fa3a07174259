import { expect, onTestFinished, test } from 'vitest'
import { closeContext, openContext } from '../../src/app/open-context.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import { doctor } from '../../src/project/operations/doctor.ts'
import { status } from '../../src/project/operations/status.ts'
import { temporaryFolder } from '../support/git-repository.ts'
import { type Answer, troubles } from '../support/project.ts'
import { serverEnvironment } from '../support/stdio-project.ts'
import { openTeamProject, teamDatabase } from './team-project.ts'

const actor: Actor = { name: 'Tess', kind: 'person', role: null, channel: 'http' }

test('status and doctor answer for a project whose work trees are on other machines', async () => {
  const home = temporaryFolder()
  const team = await openTeamProject(home)
  await team.call('start_mission', { name: 'Begin', objective: 'Any' })
  const id = await team.context.store.view(async ({ identities }) => identities.project)
  const environment = { ...serverEnvironment(home), WAYMARK_DATABASE: await teamDatabase(home) }
  const context = openContext({ actor, environment, workingFolder: home, elsewhere: { id, name: 'shop' } })
  onTestFinished(() => closeContext(context))
  expect(await invoke(status, context, {})).toMatchObject({ witness: null, events: 2, recorded: true })
  const answer: Answer = await invoke(doctor, context, {})
  expect(troubles(answer)).toEqual([])
  expect(answer.checks.length).toBeGreaterThan(1)
})

test('doctor says what a shared database holds in a folder that is no project of it', async () => {
  const home = temporaryFolder()
  const team = await openTeamProject(home)
  await team.call('start_mission', { name: 'Begin', objective: 'Any' })
  const environment = { ...serverEnvironment(home), WAYMARK_DATABASE: await teamDatabase(home) }
  const workingFolder = temporaryFolder()
  const context = openContext({ actor, environment, workingFolder })
  onTestFinished(() => closeContext(context))
  const { checks }: Answer = await invoke(doctor, context, {})
  expect(checks.find(({ check }: Answer) => check === 'database')).toMatchObject({
    ok: true,
    finding: expect.stringMatching(/schema \d+\. It has 1 project\. This folder is none of them/),
  })
})

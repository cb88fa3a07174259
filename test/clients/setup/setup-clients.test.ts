import { expect, test } from 'vitest'
import type { Client } from '../../../src/clients/setup/client.ts'
import { setupClients } from '../../../src/clients/setup/setup-clients.ts'
import type { SetupScope } from '../../../src/clients/setup/setup-context.ts'
import { contextOn } from './ground.ts'
import { Files } from './planned.ts'

const everywhere = setupClients.flatMap((client) =>
  (['linux', 'darwin', 'win32'] as const).flatMap((platform) =>
    (['project', 'user'] as const).map((scope) => [client.id, platform, scope, client] as const),
  ),
)

const everything = { allow: true, rules: true, hooks: true }

test.each(everywhere)(
  '%s on %s for the %s: without a file, set up and taken back',
  (_, platform, scope, client) => {
    const context = contextOn(platform)
    const files = new Files(context)
    const plan = files.setUp([client], { scope, ...everything })
    expect(plan.findings.filter(({ state }) => state === 'refused')).toEqual([])
    expect(files.texts.size).toBeGreaterThan(0)
    expect(
      files.plan([client], { scope, ...everything }).files.filter((one) => one.before !== one.text),
    ).toEqual([])
    expect(files.undo([client], { scope }).kept).toEqual([])
    expect([...files.texts.keys()]).toEqual([])
  },
)

function written(
  client: Client,
  scope: SetupScope,
  platform = 'linux',
  asked = {},
): Readonly<Record<string, string>> {
  const files = new Files(contextOn(platform))
  files.setUp([client], { scope, ...asked })
  return Object.fromEntries(files.texts)
}

test.each(setupClients.map((client) => [client.id, client] as const))('the files of %s', (_, client) => {
  const project = client.server(contextOn('linux'), 'project') !== null
  expect({
    ...(project && { project: written(client, 'project', 'linux', everything) }),
    user: written(client, 'user', 'linux', everything),
    windows: written(client, 'user', 'win32'),
  }).toMatchSnapshot()
})

test.each(setupClients.filter(({ server }) => server(contextOn('linux'), 'project')))(
  '$id: what is allowed for a project stands in files of the project alone',
  (client) => {
    const files = Object.keys(written(client, 'project', 'linux', { ...everything, hooks: false }))
    expect(files.filter((file) => !file.startsWith(`${contextOn('linux').folder}/`))).toEqual([])
    expect(files).not.toEqual([])
  },
)

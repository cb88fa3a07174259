import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openMachinePeople } from '../../../src/app/settings/machine-people.ts'
import { isOwnToken } from '../../../src/people/domain/identity.ts'
import { amount } from '../../support/amount.ts'
import { temporaryFolder } from '../../support/git-repository.ts'
import { serverEnvironment } from '../../support/stdio-project.ts'

const source = join(import.meta.dirname, '../../../src')

/** A process of its own that makes the tokens of its user as a server does that starts. */
const script = `
import { openMachinePeople } from ${JSON.stringify(join(source, 'app/settings/machine-people.ts'))}
import { keepOwnTokens } from ${JSON.stringify(join(source, 'people/operations/owner.ts'))}
import { randomIds } from ${JSON.stringify(join(source, 'store/random-ids.ts'))}
const team = openMachinePeople(process.env, '/')
process.stdout.write(JSON.stringify(await keepOwnTokens(team, team.owner, { at: Date.now(), ids: randomIds })))
await team.store.close()
`

test('servers that start at the same time agree on the two own tokens of their user', async () => {
  const environment = serverEnvironment(temporaryFolder())
  const answers = await Promise.all(
    Array.from({ length: amount({ test: 2, soak: 4 }) }, async () => {
      const words = ['--input-type=module', '--eval', script]
      const child = spawn(process.execPath, words, {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: environment,
      })
      let out = ''
      child.stdout.on('data', (data: Buffer) => {
        out += data.toString()
      })
      await once(child, 'close')
      return out
    }),
  )
  expect(new Set(answers).size).toBe(1)
  const { store, owner } = openMachinePeople(environment, '/')
  onTestFinished(() => store.close())
  const own = { agent: owner.readToken('agent'), person: owner.readToken('person') }
  expect(JSON.parse(answers[0] ?? '')).toEqual(own)
  const { tokens, people } = await store.view(async ({ identities }) => ({
    tokens: await identities.tokens({ revoked: true }),
    people: await identities.people(),
  }))
  expect(people).toHaveLength(1)
  expect(tokens.map(({ token }) => token.kind).toSorted()).toEqual(['agent', 'person'])
  expect(tokens.every(({ token }) => isOwnToken(token))).toBe(true)
})

test('looking who may use a machine makes nothing', async () => {
  const home = temporaryFolder()
  const { store, owner } = openMachinePeople(serverEnvironment(home), '/')
  onTestFinished(() => store.close())
  expect(await store.view(({ identities }) => identities.people())).toEqual([])
  expect(owner.readToken('person')).toBeNull()
  expect(readdirSync(home)).toEqual([])
})

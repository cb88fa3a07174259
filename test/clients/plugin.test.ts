import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openCommandLine } from '../surfaces/cli/command-line.ts'
import { installed, realClients, talk, whyNot } from './real-client.ts'

const root = join(import.meta.dirname, '..', '..')
const codex = realClients.find(({ id }) => id === 'codex')
const missing = codex ? whyNot(codex) : null
const title = 'codex: its plugin brings the server, which works in the project, and the hooks, which record'
if (!codex || missing !== null) test.skip(`${title} (left out: ${missing})`)
else
  test(title, { timeout: 120_000 }, () => {
    const { home, folder, environment: user, run, json } = openCommandLine()
    const environment = { ...user, ...installed(home, user['PATH']) }
    const plugin = (...words: readonly string[]) =>
      talk(codex, { folder, environment, words: ['plugin', ...words] })
    expect(plugin('marketplace', 'add', root).code).toBe(0)
    expect(plugin('add', 'waymark@waymark').code).toBe(0)
    expect(run('capture', 'on').code).toBe(0)
    const script = [
      ...(codex.first ?? []),
      { tool: 'start_mission$', input: { name: 'From a plugin', objective: 'See that it works.' } },
      { tool: codex.write.tool, input: codex.write.input(join(folder, 'made.txt'), 'made by an agent\n') },
    ]
    const talked = talk(codex, { folder, environment, script })
    expect(talked.code, `${talked.out}\n${talked.error}`).toBe(0)
    expect(json('mission', 'list').missions).toMatchObject([{ name: 'From a plugin' }])
    expect(json('sessions').sessions).toMatchObject([
      { client: 'codex', turns: 1, files: 1, status: 'closed' },
    ])
  })

const gemini = realClients.find(({ id }) => id === 'gemini')
const without = gemini ? whyNot(gemini) : null
const ofGemini = 'gemini: it finds nothing wrong with its extension'
if (!gemini || without !== null) test.skip(`${ofGemini} (left out: ${without})`)
else
  test(ofGemini, { timeout: 60_000 }, () => {
    const { folder, environment } = openCommandLine({ git: false })
    const words = ['extensions', 'validate', join(root, 'plugin', 'gemini')]
    const { code, out, error } = talk(gemini, { folder, environment, words })
    expect({ code, said: `${out}${error}` }).toMatchObject({
      code: 0,
      said: expect.stringContaining('successfully validated'),
    })
  })

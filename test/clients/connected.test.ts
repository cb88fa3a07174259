import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openCommandLine } from '../surfaces/cli/command-line.ts'
import { installed, prepareHome, realClients, talk, whyNot } from './real-client.ts'

for (const client of realClients) {
  const reason = whyNot(client)
  const title = `${client.id}: it lists the server, also in a subfolder, where the project is the repository`
  if (reason !== null) test.skip(`${title} (left out: ${reason})`)
  else
    test(title, { timeout: 240_000 }, () => {
      const { home, folder, environment: user, run, json } = openCommandLine()
      const environment = { ...user, ...installed(home, user['PATH']) }
      prepareHome({ home, folder }, client)
      const { code, error } = run('setup', client.id, ...client.setup, '--allow', '--yes')
      expect({ code, error }).toMatchObject({ code: 0 })
      // Gemini CLI says it on standard error.
      const listed = (place: string) => {
        const { out, error } = talk(client, { folder: place, environment, words: ['mcp', 'list'] })
        return `${out}\n${error}`
      }
      expect(listed(folder)).toMatch(client.lists)

      const below = join(folder, 'src', 'deep')
      mkdirSync(below, { recursive: true })
      if (client.below) {
        expect(run('setup', client.id, '--undo', '--yes').code).toBe(0)
        expect(run('setup', client.id, ...client.below, '--allow', '--yes').code).toBe(0)
      }
      expect(listed(below)).toMatch(client.lists)
      const call = { tool: 'start_mission$', input: { name: 'From below', objective: 'Be found.' } }
      talk(client, { folder: below, environment, script: [...(client.first ?? []), call] })
      expect(json('mission', 'list').missions).toMatchObject([{ name: 'From below' }])
    })
}

const foreign = `# mine
model = "gpt-5-codex" # the large one

[[skills.config]]
path = "/one"
enabled = false

[[skills.config]]
path = "/two"
enabled = false

[mcp_servers.docs] # last
command = "docs-server"
args = [
  "--stdio", # no port
]`

const codex = realClients.find(({ id }) => id === 'codex')
const missing = codex ? whyNot(codex) : null
const ofForeign = 'codex: a config.toml of somebody’s own is read as before with our entry in it'
if (!codex || missing !== null) test.skip(`${ofForeign} (left out: ${missing})`)
else
  test(ofForeign, { timeout: 60_000 }, () => {
    const { home, folder, environment: user, run } = openCommandLine()
    const environment = { ...user, ...installed(home, user['PATH']) }
    const file = join(home, '.codex', 'config.toml')
    mkdirSync(join(home, '.codex'))
    writeFileSync(file, foreign)
    expect(run('setup', 'codex', '--user', '--allow', '--yes').code).toBe(0)
    const listed = (...more: readonly string[]) =>
      talk(codex, { folder, environment, words: ['mcp', 'list', ...more] })
    expect(listed().out).toMatch(codex.lists)
    const servers: readonly { readonly name: string; readonly transport: object }[] = JSON.parse(
      listed('--json').out,
    )
    expect(servers.map(({ name }) => name)).toEqual(['docs', 'waymark'])
    expect(servers[0]?.transport).toMatchObject({ command: 'docs-server', args: ['--stdio'] })
    expect(servers[1]?.transport).toMatchObject({ command: process.execPath })
    expect(readFileSync(file, 'utf8').startsWith(foreign)).toBe(true)
    expect(run('setup', 'codex', '--user', '--undo', '--yes').code).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(foreign)
  })

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openCommandLine } from '../surfaces/cli/command-line.ts'
import { installed, prepareHome, realClients, talk, whyNot } from './real-client.ts'

const gated = `
process:
  dialect: 1
  id: gated
  version: "1.0.0"
  name: Gated
  initial_state: plan
roles:
  - { name: agent, kind: agent }
states:
  - name: plan
    prompt: "Plan it."
    tool_permissions:
      denied: [Write, Edit, Bash]
  - { name: done, is_final: true }
events:
  - { name: submit, allowed_roles: [agent] }
transitions:
  - { from: plan, event: submit, to: done }
`

for (const client of realClients) {
  const reason = whyNot(client)
  const title = `${client.id}: what the state of a run forbids is not done, and the model reads why`
  if (reason !== null) test.skip(`${title} (left out: ${reason})`)
  else
    test(title, { timeout: 120_000 }, () => {
      const { home, folder, environment: user, run, json, write } = openCommandLine()
      const environment = { ...user, ...installed(home, user['PATH']) }
      prepareHome({ home, folder }, client)
      const { code, error } = run('setup', client.id, ...client.setup, '--allow', '--hooks', '--yes')
      expect({ code, error }).toMatchObject({ code: 0 })
      write('.waymark/processes/gated.yaml', gated)
      const { run_id: id } = json('run', 'create', 'gated')
      const file = join(folder, 'made.txt')
      const script = [{ tool: client.write.tool, input: client.write.input(file, 'made by an agent\n') }]
      const talked = talk(client, { folder, environment, script })
      expect(talked.asked.flatMap(({ called }) => called ?? [])).toHaveLength(1)
      expect(existsSync(file), talked.out).toBe(false)
      const told = talked.asked.flatMap((request) => request.told ?? [])
      expect(told, `${talked.out}\n${talked.error}`).toContainEqual(
        expect.stringContaining(`Run ${id} (Gated) is in the state`),
      )
    })
}

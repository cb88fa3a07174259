import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openCommandLine } from '../surfaces/cli/command-line.ts'
import { installed, prepareHome, realClients, talk, whyNot } from './real-client.ts'

for (const client of realClients) {
  const reason = whyNot(client)
  const title = `${client.id}: set up by one command, it lists the tools, calls one, and its turn is recorded`
  if (reason !== null) test.skip(`${title} (left out: ${reason})`)
  else
    test(title, { timeout: 180_000 }, () => {
      const { home, folder, environment: user, run, json, git } = openCommandLine()
      const environment = { ...user, ...installed(home, user['PATH']) }
      prepareHome({ home, folder }, client)
      const { code, error } = run('setup', client.id, ...client.setup, '--allow', '--hooks', '--yes')
      expect({ code, error }).toMatchObject({ code: 0 })
      git('add', '--all')
      git('commit', '--quiet', '--allow-empty', '--message', 'Set up')
      const script = [
        ...(client.first ?? []),
        { tool: 'start_mission$', input: { name: 'From a client', objective: 'See that it works.' } },
        {
          tool: client.write.tool,
          input: client.write.input(join(folder, 'made.txt'), 'made by an agent\n'),
        },
      ]
      const talked = talk(client, { folder, environment, script })
      expect(talked.code, `${talked.out}\n${talked.error}`).toBe(0)
      const offered = talked.asked.flatMap(({ tools = [] }) => tools)
      expect(offered, talked.error).toContainEqual(expect.stringMatching(/get_context$/))
      expect(json('mission', 'list').missions).toMatchObject([{ name: 'From a client' }])
      const { sessions } = json('sessions')
      expect(sessions).toHaveLength(1)
      expect(sessions[0]).toMatchObject({ client: client.id })
      const { turns } = json('sessions', 'show', sessions[0].session_id)
      expect(
        turns.flatMap(({ changes }: { changes: { path: string }[] }) => changes.map(({ path }) => path)),
      ).toEqual(['made.txt'])
    })
}

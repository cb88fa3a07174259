import { expect, onTestFinished, test } from 'vitest'
import { openCommandLine } from '../../surfaces/cli/command-line.ts'

test('waymark open starts a server that others find, signs in once, and ends it on demand', async () => {
  const project = openCommandLine()
  onTestFinished(() => void project.run('serve', '--stop'))
  const opened = project.run('open', '--no-open')
  expect({ code: opened.code, error: opened.error }).toEqual({ code: 0, error: '' })
  expect(opened.out).toMatch(
    /The server now runs at \S+ in the background \(process \d+\)\.\n.*waymark serve --stop/,
  )
  const [, login = '', address = ''] =
    /Dashboard: (http:\S+login\?code=\S+)\n[\s\S]* at (http:\S+) /.exec(opened.out) ?? []
  const entered = await fetch(login, { redirect: 'manual' })
  expect([entered.status, entered.headers.get('set-cookie')]).toEqual([
    303,
    expect.stringContaining('waymark'),
  ])

  const again = project.run('open', '--no-open')
  expect(again.out).toContain(`The server runs already at ${address} in the background`)
  expect(again.out).not.toContain(login)
  expect(project.run('serve').out).toContain(`Waymark is already serving here, at ${address}`)
  const asAgent = project.runWith({ environment: { CLAUDECODE: '1' } }, 'open', '--json')
  expect(JSON.parse(asAgent.out)).toMatchObject({ dashboard: address, started: false })

  expect(project.run('serve', '--stop').out).toBe(`Stopped the server at ${address}.\n`)
  await expect(fetch(address)).rejects.toThrow()
  expect(project.run('serve', '--stop').out).toMatch(/^No server runs for /)
})

test('waymark open says why a server does not start', () => {
  const project = openCommandLine({ git: false })
  const { code, error } = project.runWith({ folder: project.home }, 'open', '--no-open')
  expect(code).toBe(1)
  expect(error).toMatch(/^waymark: No project: /)
})

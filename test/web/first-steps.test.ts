import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { machineSetup } from '../../src/app/setup/health.ts'
import { temporaryFolder } from '../support/git-repository.ts'
import { useScreens } from '../support-web/screen.ts'

const { open, serving } = useScreens()

test('the first steps tick what is set up, when the person comes back from the terminal', async () => {
  const file = join(serving().day.context.folder, '.mcp.json')
  const screen = await open('/start')
  await screen.see(/ init/, '.first-steps li:first-child pre')
  writeFileSync(file, JSON.stringify({ mcpServers: { waymark: { command: 'waymark', args: ['mcp'] } } }))
  window.dispatchEvent(new Event('focus'))
  await screen.see('Claude Code', '.first-steps li:first-child')
  expect(screen.all('.first-steps li:first-child .status-icon')).toHaveLength(1)
  expect(screen.all('.first-steps li:first-child pre')).toEqual([])
  rmSync(file)
})

test('a person starts a mission from the first steps', async () => {
  const screen = await open('/start')
  await screen.click('Start a mission')
  await expect.poll(() => screen.all('dialog form').length).toBe(1)
})

test('a command has the name of the program where the PATH leads to this copy', () => {
  const folder = temporaryFolder()
  const bin = join(import.meta.dirname, '..', '..', 'bin')
  const setUp = () => machineSetup(folder, { HOME: folder, PATH: join(folder, 'bin') }).on_path
  const link = (to: string) => {
    rmSync(join(folder, 'bin'), { recursive: true, force: true })
    mkdirSync(join(folder, 'bin'))
    symlinkSync(to, join(folder, 'bin', 'waymark'))
  }
  expect(setUp()).toBe(false)
  link(join(bin, 'waymark.js'))
  expect(setUp()).toBe(true)
  // Another copy.
  link(join(bin, 'other-node.js'))
  expect(setUp()).toBe(false)
})

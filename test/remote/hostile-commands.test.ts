import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hasPty, openScreen } from '../app/screen.ts'
import { commandAt, type HostileServer, hostileServer, machineOf } from './hostile-server.ts'
import { ranAt } from './machines.ts'

const reasons = ({ measured }: HostileServer) => measured().map(({ failure }) => failure?.reason ?? null)
const approve = ['approve', 'h-1', '--json']

test('refuses an approval that no person at the machine was shown, and runs nothing', async () => {
  const server = await hostileServer()
  const machine = await machineOf(server)
  const evil = commandAt(machine.folder, 'touch ../ran')
  for (const { words, start } of [
    { words: approve, start: 'command_not_approved' },
    { words: ['reject', 'h-1', 'no', '--json'], start: 'command_not_approved' },
    { words: ['resolve', 'h-1', '--json'], start: 'unknown_measurement' },
    { words: ['status', '--json'], start: 'unknown_measurement' },
  ]) {
    server.askToMeasure(words[0] ?? '', [evil.approve], [evil.start])
    await ranAt(machine, words)
    expect(reasons(server), words[0]).toEqual([expect.any(String), start])
  }
  expect(existsSync(join(machine.home, 'ran'))).toBe(false)
})

test.runIf(hasPty)('runs only the command that was shown, and only as it was shown', async () => {
  const server = await hostileServer()
  const machine = await machineOf(server)
  machine.write('check.sh', 'touch ../checked\n')
  const shown = commandAt(machine.folder, 'sh check.sh', { 'check.sh': 'touch ../checked\n' })
  const other = commandAt(machine.folder, 'touch ../ran')
  const answered = async (answers: readonly string[]) => {
    const screen = openScreen(machine, approve)
    for (const [at, answer] of answers.entries()) {
      await screen.shows(new RegExp(`(?:whenever a guard needs it[^]*){${at + 1}}`))
      screen.type(`${answer}\r`)
    }
    await screen.ended
    return screen.text()
  }

  // A yes to one command is no yes to another of the same exchange.
  server.askToMeasure('approve', [shown.approve], [other.start], [other.approve], [other.start])
  const text = await answered(['yes'])
  expect(text).toContain('sh check.sh')
  expect(text).not.toContain('touch ../ran')
  expect(reasons(server)).toEqual([null, 'command_not_approved', 'applied_once', 'command_not_approved'])

  server.askToMeasure('verify', [shown.start])
  await ranAt(machine, ['verify', 'r-1', '--json'])
  expect(server.measured()).toMatchObject([{ measured: [{ report: { status: 'passed' } }] }])
  expect(existsSync(join(machine.home, 'checked'))).toBe(true)

  // A pinned file changed since: neither its old hash nor its new one is approved.
  machine.write('check.sh', 'touch ../ran\n')
  const now = commandAt(machine.folder, 'sh check.sh', { 'check.sh': 'touch ../ran\n' })
  server.askToMeasure('approve', [shown.start], [now.start], [shown.approve])
  await ranAt(machine, approve)
  expect(reasons(server)).toEqual(['command_changed', 'command_not_approved', 'command_changed'])

  // A yes that was taken back does not come back by itself.
  machine.write('check.sh', 'touch ../checked\n')
  const revoked = async (hash: string) => {
    server.askToMeasure('command_revoke', [{ name: 'apply', brief: shown.revoke }])
    await ranAt(machine, ['command', 'revoke', hash, '--json'])
    return server.measured()
  }
  expect(await revoked('a'.repeat(64))).toMatchObject([{ failure: { reason: 'not_named_here' } }])
  expect(await revoked(shown.revoke.hash.slice(0, 8))).toMatchObject([{ measured: null }])
  server.askToMeasure('approve', [shown.approve], [shown.start])
  await ranAt(machine, approve)
  expect(reasons(server)).toEqual(['command_not_shown', 'command_not_approved'])
  expect(existsSync(join(machine.home, 'ran'))).toBe(false)
})

test.runIf(hasPty)('shows what a terminal would hide, and refuses what is too long to check', async () => {
  const server = await hostileServer()
  const machine = await machineOf(server)
  const hidden = commandAt(machine.folder, 'echo fine\u200b; \u001b[8mtouch ../ran\u001b[0m')
  server.askToMeasure('approve', [hidden.approve])
  const screen = openScreen(machine, approve, { columns: 200 })
  await screen.shows('echo fine\\u{200b}; \\u{1b}[8mtouch ../ran\\u{1b}[0m')
  screen.type('\r')
  await screen.ended
  expect(reasons(server)).toEqual(['command_declined'])
  const long = commandAt(machine.folder, `echo fine${' '.repeat(3_000)}; touch ../ran`)
  server.askToMeasure('approve', [long.approve])
  await ranAt(machine, approve)
  expect(reasons(server)).toEqual(['command_too_long'])
})

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { defunctDescendants } from '../../test/support/defunct.ts'
import { launch, tooLong } from './launcher.ts'
import { type GitCall, noGit, runGit } from './process.ts'

/** A git that does what its first argument says, in a folder with an odd name. */
function fakeGit() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "it's $HOME \n")))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'bin'))
  const script = [
    '#!/bin/sh',
    'while [ "$1" = -c ]; do shift 2; done',
    'case "$1" in',
    'say) shift; printf "%s|" "$@" "$WORD" "$PWD"; echo aside >&2;;',
    'fail) exit 3;;',
    'repeat) cat;;',
    'hang) sleep 60;;',
    'flood) exec yes;;',
    'wait) sleep 0.3; echo waited;;',
    'esac',
  ]
  writeFileSync(join(folder, 'bin/git'), script.join('\n'))
  chmodSync(join(folder, 'bin/git'), 0o755)
  const path = `${join(folder, 'bin')}:${process.env['PATH']}`
  const call = { folder, environment: { PATH: path, GIT_DIR: folder, WORD: 'o\'word\nwith "$PATH"' } }
  return { folder, call }
}

/** Launches as soon as a shell is free: what other tests began may still be under way in this process. */
async function launchWhenFree(args: readonly string[], call: GitCall) {
  for (;;) {
    const found = launch(args, call)
    if (found !== null) return found
    await sleep(20)
  }
}

test('arguments, variables and the folder reach git as they are', async () => {
  const { folder, call } = fakeGit()
  const odd = ["'", '"$(echo no)"', 'a\nb', '\\', '', '*', 'é', '-n']
  const { code, output, stderr } = await runGit(['say', ...odd], call)
  expect(output.toString()).toBe([...odd, call.environment.WORD, folder, ''].join('|'))
  expect([code, stderr]).toEqual([0, 'aside\n'])
})

test('output over the limit of a call ends git, and none of it beyond is kept', async () => {
  const { call } = fakeGit()
  const { code, output } = await runGit(['flood'], { ...call, maxOutput: 100_000 })
  expect(code).toBe(tooLong)
  expect(output.length).toBeLessThanOrEqual(100_000)
  expect((await runGit(['say', 'x'], { ...call, maxOutput: 100_000 })).code).toBe(0)
})

test('more calls than there are shells are answered, each with its own code', async () => {
  const { call } = fakeGit()
  const results = await Promise.all(
    Array.from({ length: 12 }, (_, at) => runGit(at % 2 === 0 ? ['say', String(at)] : ['fail'], call)),
  )
  expect(results.map(({ code }) => code)).toEqual(results.map((_, at) => (at % 2 === 0 ? 0 : 3)))
})

test('the shells leave no defunct process, however many calls they answered', async () => {
  const { call } = fakeGit()
  const calls = Array.from({ length: 15 }, (_, at) => runGit(at % 3 === 0 ? ['fail'] : ['say', 'x'], call))
  await Promise.all(calls)
  for (let at = 0; at < 5; at += 1) await runGit(['say', 'x'], call)
  await expect.poll(defunctDescendants, { timeout: 20_000 }).toEqual([])
})

test('a call that is ended does not end what runs beside it', async () => {
  const { call } = fakeGit()
  const hanging = await launchWhenFree(['hang'], call)
  const beside = runGit(['wait'], call)
  hanging.end()
  expect(await hanging.result).toBeNull()
  expect((await beside).output.toString()).toBe('waited\n')
})

test('what a call is given reaches git as it is, and is not left behind', async () => {
  const { folder, call } = fakeGit()
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = folder
  onTestFinished(() => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  })
  const input = Buffer.from('a\0b\n"$HOME"\xff', 'latin1')
  const repeating = await launchWhenFree(['repeat'], { ...call, input })
  expect(await repeating.result).toEqual({ code: 0, output: input, stderr: '' })
  expect(readdirSync(folder)).toEqual(['bin'])
})

test('in a folder that is gone nothing is run', async () => {
  const { folder, call } = fakeGit()
  const { code, output } = await runGit(['say'], { ...call, folder: join(folder, 'gone') })
  expect([code, output.toString()]).toEqual([noGit, ''])
})

test('what may write to a repository of the user is never run in the shell', async () => {
  const { folder, call } = fakeGit()
  const environment = { PATH: call.environment.PATH }
  expect(launch(['say'], { folder, environment })).toBeNull()
  const { result } = await launchWhenFree(['say'], { folder, environment, onlyReads: true })
  expect(await result).toMatchObject({ code: 0 })
})

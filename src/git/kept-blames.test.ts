import { mkdirSync, mkdtempSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sweepBlames } from './kept-blames.ts'

test('removes the blames that were not kept anew for thirty days', async () => {
  const state = mkdtempSync(join(tmpdir(), 'waymark-blames-'))
  await sweepBlames(state, Date.now())
  mkdirSync(join(state, 'blames'))
  for (const [name, days] of [
    ['old', 31],
    ['new', 29],
  ] as const) {
    writeFileSync(join(state, 'blames', name), '{}')
    const time = new Date(Date.now() - days * 86_400_000)
    utimesSync(join(state, 'blames', name), time, time)
  }
  await sweepBlames(state, Date.now())
  expect(readdirSync(join(state, 'blames'))).toEqual(['new'])
})

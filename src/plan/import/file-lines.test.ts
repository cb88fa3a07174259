import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRegular } from '../../kernel/files/regular-file.ts'
import { fileLines } from './file-lines.ts'

async function linesOf(content: string | Uint8Array) {
  const file = join(mkdtempSync(join(tmpdir(), 'waymark-lines-')), 'file')
  writeFileSync(file, content)
  const lines = fileLines(() => openRegular(file))
  const [once, again] = [await Array.fromAsync(lines), await Array.fromAsync(lines)]
  expect(again).toEqual(once)
  return once
}

test('reads the lines of a file as often as asked, without empty ones', async () => {
  expect(await linesOf('')).toEqual([])
  expect(await linesOf('one\n\ntwo\n')).toEqual(['one', 'two'])
  expect(await linesOf('one\ntwo')).toEqual(['one', 'two'])
})

test('joins lines that are read in several pieces, also inside a character', async () => {
  const lines = [1, 262_141, 262_144, 700_000].map((length) => `ö${'x'.repeat(length)}€`)
  expect(await linesOf(lines.join('\n'))).toEqual(lines)
})

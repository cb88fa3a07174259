import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../support/git-repository.ts'
import { runDemo } from './played.ts'
import { recordingFolder } from './recorded.ts'

const damages: readonly (readonly [string, (folder: string) => void, string])[] = [
  ['a log cut short', (folder) => cut(join(folder, 'log.jsonl.gz')), 'log.jsonl.gz cannot be read'],
  ['a log entry that was changed', changeEvent, 'does not follow from the ones before it'],
  ['no repository', (folder) => rmSync(join(folder, 'work.json.gz')), 'work.json.gz cannot be read'],
  ['no objects', (folder) => rmSync(join(folder, 'objects.pack')), 'objects.pack is missing'],
  ['objects cut short', (folder) => cut(join(folder, 'objects.pack')), 'git cannot read its objects'],
]

test.each(damages)('%s is refused with a sentence, and nothing is left', async (_, damage, sentence) => {
  const folder = join(temporaryFolder(), 'recording')
  cpSync(recordingFolder, folder, { recursive: true })
  damage(folder)
  const program = runDemo('demo', '--at-once', '--port', '0', '--recording', folder)
  const { code, error } = await program.ended
  expect(error).toContain(`The recording in ${folder} is damaged: `)
  expect(error).toContain(sentence)
  expect(code).toBe(1)
  expect(program.leftovers()).toEqual([])
})

function cut(file: string): void {
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.subarray(0, bytes.length / 2))
}

function changeEvent(folder: string): void {
  const file = join(folder, 'log.jsonl.gz')
  const text = gunzipSync(readFileSync(file)).toString()
  writeFileSync(file, gzipSync(text.replace('"status":"success"', '"status":"failed"')))
}

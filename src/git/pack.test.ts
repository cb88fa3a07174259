import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type NewObject, objectId, PackWriter } from './pack.ts'

test.each(['sha1', 'sha256'])(
  'git reads what was packed, and finds nothing wrong with it (%s)',
  async (format) => {
    const folder = mkdtempSync(join(tmpdir(), 'pack-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: folder, maxBuffer: 1e9 })
    git('init', '-q', '--bare', `--object-format=${format}`)
    const contents = [0, 1, 15, 16, 127, 2047, 2048, 100_000, 1_200_000].map((size) => {
      return Buffer.from('line of text\n'.repeat(Math.ceil(size / 13))).subarray(0, size)
    })
    const blobs = contents.map((content): NewObject => ({ type: 'blob', content }))
    const named = blobs.map((blob, at) => ({ oid: objectId(format, blob), name: `f${at}` }))
    const records = named.map(({ oid, name }) => [Buffer.from(`100644 ${name}\0`), Buffer.from(oid, 'hex')])
    const tree: NewObject = { type: 'tree', content: Buffer.concat(records.flat()) }
    const objects = new Map([...blobs, tree].map((object) => [objectId(format, object), object]))
    const writer = new PackWriter(join(folder, 'objects'), format)
    for (const [oid, object] of [...objects, ...objects]) expect(await writer.add(object)).toBe(oid)
    await writer.close()
    const packs = readdirSync(join(folder, 'objects/pack')).filter((name) => name.endsWith('.idx'))
    expect(packs).toHaveLength(1)
    git('verify-pack', join('objects/pack', packs[0] ?? ''))
    git('fsck', '--strict', '--full')
    for (const [oid, { type, content }] of objects) {
      expect(git('cat-file', type, oid).equals(content)).toBe(true)
    }
  },
)

test('nothing is written of nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pack-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  await new PackWriter(folder, 'sha1').close()
  expect(readdirSync(folder)).toEqual([])
})

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { Store } from '../../../src/store/ports/store.ts'
import { Anchor } from '../../../src/store/safety/rollback-detection.ts'
import { temporaryFolder } from '../../support/git-repository.ts'
import { temporaryStore } from '../../support/store.ts'
import { recordMission } from './processes/store-of.ts'

const at = Date.now()
const point = (seq: number) => ({ projectId: 'p-1', seq, hash: `hash-${seq}` })

function anchors() {
  const path = join(temporaryFolder(), 'anchors', 'record.json')
  const [one, other] = [new Anchor(path), new Anchor(path)]
  one.begin(point(1), at)
  return { one, other, lineage: one.read()?.lineage ?? '' }
}

test('a process that is behind does not take back what another one anchored', () => {
  const { one, other, lineage } = anchors()
  one.keep({ point: point(5), lineage, at })
  other.keep({ point: point(8), lineage, at })
  other.flush()
  one.flush()
  expect(one.read()).toEqual({ point: point(8), lineage, at })
})

test('what was known before a person restored a backup is not anchored afterwards', () => {
  const { one, other, lineage } = anchors()
  one.keep({ point: point(9), lineage, at })
  other.begin(point(3), at)
  one.flush()
  expect(one.read()).toMatchObject({ point: point(3) })
  expect(one.read()?.lineage).not.toBe(lineage)
})

test('while a record is replaced both are vouched for, afterwards the one that is there', async () => {
  const { one, other, lineage } = anchors()
  await one.replace(point(3), at, async () => {
    expect(other.read()).toMatchObject({ point: point(3), before: { point: point(1), lineage } })
  })
  expect(other.read()).toMatchObject({ point: point(3) })
  expect(other.read()).not.toHaveProperty('before')
  const after = other.read()
  const failing = one.replace(point(2), at, async () => {
    throw new Error('the disk is full')
  })
  await expect(failing).rejects.toThrow('the disk is full')
  expect(other.read()).toEqual(after)
})

test('a process that begins while a record is replaced reads the old one, and then the new one', async () => {
  await using temporary = await temporaryStore()
  const anchorFolder = join(temporary.root, 'anchors')
  const store = temporary.another({ anchorFolder })
  const record = (name: string) => recordMission(store, name)
  await record('m-first')
  const backup = join(temporary.root, 'backup.db')
  await store.backup(backup)
  await record('m-later')
  await store.close()
  const path = join(anchorFolder, 'anchor.json')
  const before = JSON.parse(readFileSync(path, 'utf8'))
  await temporary.another({ anchorFolder }).putBack(backup, Date.now())
  const after = readFileSync(path, 'utf8')
  // As it is in the middle, and where the process was killed there.
  const middle = JSON.stringify({ ...JSON.parse(after), before })
  const missions = (from: Store) => from.view((reads) => reads.missions.list({ limit: 9 }))
  const [kept = ''] = readdirSync(dirname(temporary.file)).filter((name) => name.includes('.replaced-'))
  const old = join(dirname(temporary.file), kept)
  writeFileSync(path, middle)
  const beginning = temporary.another({ anchorFolder, file: old })
  expect((await missions(beginning)).total).toBe(2)
  await recordMission(beginning, 'm-last')
  expect((await missions(temporary.another({ anchorFolder }))).total).toBe(1)
})

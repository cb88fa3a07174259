import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Anchor } from '../../../src/store/safety/watch.ts'
import { temporaryFolder } from '../../support/git-repository.ts'

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

import { expect, test } from 'vitest'
import type { Answer } from '../support/project.ts'
import { lines, openStory, type Story } from './story.ts'

const x = (...numbers: number[]) => lines('x', ...numbers)
const y = (...numbers: number[]) => lines('y', ...numbers)
const p = (...numbers: number[]) => lines('p', ...numbers)

const allX = { x1: 'a1', x2: 'a1', x3: 'a1' }

/** Of files that took another's name, or came from elsewhere, and were written in before anybody looked. */

test('a file whose name another one takes keeps its lines, though others stand between them', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('g', x(1, 2, 3)))
  s.commit()
  await s.attempt('a2', () => {
    for (const number of [1, 2, 3]) s.put('g', y(number), `x${number}`)
    s.git('mv', 'g', 'h')
    s.git('mv', 'f', 'g')
  })
  expect(await s.owners('h')).toEqual({ ...allX, y1: 'a2', y2: 'a2', y3: 'a2' })
  expect((await s.whose('g')).join()).not.toContain('a2')
})

test('a file that takes the name of another one keeps its lines, though others stand between them', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('g', x(1, 2, 3)))
  s.commit()
  await s.attempt('a2', () => {
    for (const number of [1, 2, 3]) s.put('g', y(number), `x${number}`)
    s.git('mv', 'f', 'h')
    s.git('mv', 'g', 'f')
  })
  expect(await s.owners('f')).toEqual({ ...allX, y1: 'a2', y2: 'a2', y3: 'a2' })
})

test('lines that a new file shares with one of which more is gone are the writer’s', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('g', x(1, 2, 3, 4, 5, 6, 7, 8)))
  await s.attempt('a2', () => {
    s.take('g', 'x')
    s.write('h', [...x(2), ...y(1), ...x(4), ...y(2), ...x(7), ''].join('\n'))
  })
  expect(await s.owners('h')).toEqual({ x2: 'a2', y1: 'a2', x4: 'a2', y2: 'a2', x7: 'a2' })
})

test('half of a small file, under another name on another branch, is nobody’s who only added to it', async () => {
  const s = await openStory()
  s.git('branch', 'other')
  await s.attempt('a1', () => {
    s.write('f', s.read('f').replace(/^/gm, ' ').trimEnd())
    s.put('f', x(1, 2, 3, 4, 5, 6))
  })
  s.commit()
  await s.attempt('a2', () => {
    s.git('checkout', '-q', 'other')
    s.take('f', 'base line one', 'base line four')
    s.git('mv', 'f', 'h')
    s.put('h', y(1, 2, 3, 4, 5))
  })
  expect((await s.whose('h')).slice(0, 2)).toEqual(['base author git', 'base author git'])
  expect(await s.owners('h')).toEqual({ y1: 'a2', y2: 'a2', y3: 'a2', y4: 'a2', y5: 'a2' })
})

/** The first one's lines are in a commit on a branch of their own. */
async function elsewhere(): Promise<Story> {
  const s = await openStory()
  s.git('checkout', '-qb', 'first')
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.commit()
  s.git('checkout', '-q', '-')
  await s.attempt('a0', () => s.put('g', lines('v', 1)))
  return s
}

test('a file that a person checks out of another branch and writes in keeps its lines', async () => {
  const s = await elsewhere()
  s.git('checkout', 'first', '--', 'f')
  s.put('f', p(1), 'x2')
  await s.attempt('a2', () => s.put('g', y(1)))
  expect(await s.owners('f')).toEqual({ ...allX, p1: 'outside' })
})

test('so does one that an agent checks out, and writes in', async () => {
  const s = await elsewhere()
  await s.attempt('a2', () => {
    s.git('checkout', 'first', '--', 'f')
    s.put('f', y(1), 'x2')
  })
  expect(await s.owners('f')).toEqual({ ...allX, y1: 'a2' })
})

test('lines that git brought keep their owner in a file that is again what was committed', async () => {
  const s = await openStory()
  s.git('branch', 'other')
  await s.attempt('a1', () => {
    s.put('f', x(1, 2, 3))
    s.commit()
    s.git('checkout', '-q', 'other')
  })
  s.put('f', p(1), 'base line one')
  s.commit()
  s.git('merge', '-q', '--no-edit', 'main')
  await s.attempt('a0', () => s.put('g', y(1)))
  await s.attempt('a2', () => s.write('f', s.git('show', 'main:f')))
  expect(await s.owners('f')).toEqual(allX)
})

test('lines of another branch that are typed again are the typist’s', async () => {
  const s = await elsewhere()
  await s.attempt('a2', () => s.put('f', [...x(1), ...y(1), ...x(2, 3)]))
  s.git('add', 'f')
  await s.attempt('a3', () => s.put('f', y(2)))
  expect(await s.owners('f')).toEqual({ x1: 'a2', x2: 'a2', x3: 'a2', y1: 'a2', y2: 'a3' })
})

test('a line that is typed again while the index still has it is the typist’s', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.git('add', 'f')
  s.take('f', 'x2')
  await s.attempt('a2', () => s.put('g', y(1)))
  s.git('commit', '-qm', 'of g', '--', 'g')
  await s.attempt('a3', () => s.put('f', [...x(2), ...y(2)], 'x3'))
  expect(await s.owners('f')).toEqual({ x1: 'a1', x2: 'a3', y2: 'a3', x3: 'a1' })
})

test('a merge did not bring a line that is put back into a file that it left as it was', async () => {
  const s = await openStory()
  s.git('checkout', '-qb', 'other')
  s.put('g', x(1))
  s.commit()
  s.git('checkout', '-q', '-')
  await s.attempt('a1', () => s.take('f', 'base line two'))
  s.commit()
  const { details } = await s.attempt('a2', () => {
    s.git('merge', '-q', '--no-edit', 'other')
    s.put('f', ['base line two'], 'base line three')
    s.commit()
  })
  const by = Object.fromEntries(details.map((one: Answer) => [one.path, one.brought_by.command]))
  expect(by).toEqual({ f: undefined, g: 'merge' })
})

test('a stash that is popped with a conflict into a file with a new name keeps its lines', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('g', x(1)))
  s.commit()
  s.put('f', p(1, 2), 'base line two')
  s.git('stash', '-q')
  s.put('f', y(9), 'base line two')
  s.git('mv', 'f', 'h')
  await s.attempt('a2', () => {
    s.commit()
    try {
      s.git('stash', 'pop', '-q')
    } catch {}
    const kept = s.read('h').split('\n')
    s.write('h', kept.filter((line) => !/^(?:<{7}|={7}|>{7})/.test(line)).join('\n'))
    s.git('add', '-A')
  })
  expect(s.read('h')).toContain('p1')
  expect((await s.whose('h')).join()).not.toContain('a2')
})

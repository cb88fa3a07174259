import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { jsonc } from '../../src/clients/setup/client.ts'
import { insertJson } from '../../src/clients/setup/edit/json.ts'
import { processFiles } from '../../src/gate/process-files/process-files.ts'
import { readYaml } from '../../src/gate/process-files/yaml-text.ts'
import { parseReflog } from '../../src/git/git-folder.ts'
import { pathsOfPatch } from '../../src/kernel/apply-patch-format.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { name } from '../../src/kernel/operations/input/fields.ts'
import { parseInput } from '../../src/kernel/operations/input/parse-input.ts'
import { patternProblem } from '../../src/kernel/path-pattern.ts'
import { readPlanText } from '../../src/plan/import/read-plan.ts'
import { contentAfterEdit } from '../../src/sessions/capture/edit-explanation.ts'
import { claimedChanges } from '../../src/track/domain/claimed-changes/claimed-changes.ts'
import { weakenings } from '../../src/track/domain/weakened/weakened.ts'
import { temporaryFolder, WorkFolder } from '../support/git-repository.ts'
import { processorTime } from '../support/processor-time.ts'

/** What others write, of any size, is read in a time that grows with the size: never with its square. */
const readers: Readonly<Record<string, (size: number) => unknown>> = {
  'a number of digits without end': (size) => parseInput(listing(), { limit: `${'0'.repeat(size)}x` }),
  'a name of spaces': (size) =>
    z.object({ name: name('A name') }).safeParse({ name: `a${' '.repeat(size)}b` }),
  'a path pattern of dots in braces': (size) => patternProblem(`{${'.'.repeat(size)}`),
  'a patch with spaces behind a path': (size) => pathsOfPatch(`*** Update File: a${' '.repeat(size)}b`),
  'a reflog with a time without end': (size) => parseReflog(`a b ${'0'.repeat(size)}\tcommit: x`),
  'a patch of a file whose lines are alike': (size) => {
    const alike = 'a\n'.repeat(size / 2)
    const hunk = ' a\n'.repeat(size / 4)
    const patch = `*** Begin Patch\n*** Update File: f\n@@\n${hunk} b\n`
    return contentAfterEdit({ kind: 'patch', patch }, { path: 'f', before: alike })
  },
  'a report of brackets': (size) => claimedChanges({ summary: '['.repeat(size), achievements: [] }),
  'a report of links without end': (size) =>
    claimedChanges({ summary: '[a]('.repeat(size / 4), achievements: [] }),
  'a report of one sentence': (size) => claimedChanges({ summary: '('.repeat(size), achievements: [] }),
  'a changed test of one line': (size) =>
    weakenings([{ path: 'a.test.ts', before: '', after: 'it("'.repeat(size / 4) }], () => true),
  'a JSON plan of tasks without titles': (size) =>
    readPlanText({ format: 'json', name: 'p', text: `{"tasks":[${'{},'.repeat(size / 32)}{}]}` }),
  'a Task Master file whose ids are alike': (size) =>
    readPlanText({
      format: 'task-master',
      name: 'p',
      text: `{"tasks":[${'{"id":1,"title":"a"},'.repeat(size / 16)}{"id":1,"title":"a"}]}`,
    }),
  'a Markdown plan with a milestone behind each task': (size) =>
    readPlanText({ format: 'markdown', name: 'p', text: `# a\n${'- a\nmilestone: a\n'.repeat(size / 16)}` }),
  'a patch of many hunks': (size) => {
    const patch = `*** Begin Patch\n*** Update File: f\n${'@@\n-a\n+b\n'.repeat(size / 8)}`
    return contentAfterEdit({ kind: 'patch', patch }, { path: 'f', before: 'a\n'.repeat(size / 8) })
  },
  "a client's file with comments of slashes": (size) =>
    insertJson(`{\n  "a": { "b": 1 ${'/'.repeat(size)}\n}\n}\n`, jsonc, { keys: ['a', 'c'], item: false }, 1),
  "a client's file with many comments": (size) =>
    insertJson(
      `{\n  "a": { "b": 1 ${'/**/'.repeat(size / 4)}\n}\n}\n`,
      jsonc,
      { keys: ['a', 'c'], item: false },
      1,
    ),
}

function listing() {
  const found = catalog.find((operation) => operation.name === 'list_missions')
  if (!found) throw new Error('there is no list_missions')
  return found
}

function timeOf(read: (size: number) => unknown, size: number): Promise<number> {
  return processorTime(() => {
    try {
      read(size)
    } catch {
      // A refusal is an answer, too.
    }
  })
}

const small = 20_000

test.each(Object.entries(readers))('reads %s in linear time', async (_, read) => {
  await timeOf(read, 100)
  const [one, eight] = [await timeOf(read, small), await timeOf(read, 8 * small)]
  // Its square would be 64 times as much. What takes next to nothing is not measured well.
  expect(eight).toBeLessThan(24 * Math.max(one, 20))
})

test('a process file that is wrong in every line holds nobody up', async () => {
  const time = await timeOf((size) => readYaml('\t- %\n'.repeat(size)), 160_000)
  expect(time).toBeLessThan(1_000)
})

test('looks for a process in a file of empty lines in linear time', async () => {
  const folder = new WorkFolder(temporaryFolder())
  const files = processFiles({
    project: folder.top,
    working: folder.top,
    shipped: join(folder.top, 'none'),
    isConfined: true,
  })
  folder.put('.waymark/processes/empty.yaml', '\n'.repeat(100_000))
  expect(await processorTime(() => files.load('empty'))).toBeLessThan(2_000)
})

import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

// Every refusal has an id for programs and tests: a reason of its own, the default of what is missing, or the one that it copies.
const files = globSync('src/**/*.ts').filter((file) => !file.endsWith('.test.ts'))

/** The arguments of `new Failure(…)`, `new Refusal(…)` and of the `super(…)` of their subclasses. */
const opening = /\bnew (?:Failure|Refusal)\(|\bclass \w+ extends (?:Failure|Refusal) \{[^}]*?\bsuper\(/g

const failures = files.flatMap((file) => {
  const source = readFileSync(file, 'utf8')
  return [...source.matchAll(opening)].map((match) => {
    const start = match.index + match[0].length
    return {
      place: `${file}:${source.slice(0, start).split('\n').length}`,
      args: source.slice(start, closing(source, start)),
    }
  })
})

/** Where the parenthesis closes that was opened before `start`. Texts hold pairs of them only. */
function closing(source: string, start: number): number {
  let depth = 1
  let at = start
  for (; depth > 0; at += 1) depth += source[at] === '(' ? 1 : source[at] === ')' ? -1 : 0
  return at - 1
}

// Not a reason in a sentence or among the details.
const named = /(?<!\$\{|\.|details: \{ )\breason\s*[:,}]|\bmissing:/
const reasons = files.flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/\breason: '([a-z]\w*)',/g)].map(([, reason = '']) => reason),
)

test('the source refuses', () => {
  expect(failures.length).toBeGreaterThan(400)
  expect(new Set(reasons).size).toBeGreaterThan(250)
})

describe('a refusal names its reason', () => {
  test.each(failures)('$place', ({ args }) => {
    expect(args).toMatch(named)
  })
})

test('reasons are in snake case', () => {
  expect(reasons.filter((reason) => !/^[a-z]+(?:_[a-z]+)*$/.test(reason))).toEqual([])
})

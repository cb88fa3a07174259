import { expect, test } from 'vitest'
import { matchPath } from './match.ts'
import { meantPath } from './meant-path.ts'

test('a pattern names the parts of a path', () => {
  expect(matchPath('/missions/:id/:tab?', '/missions/m-7/log')).toEqual({ id: 'm-7', tab: 'log' })
  expect(matchPath('/missions/:id/:tab?', '/missions/m-7/')).toEqual({ id: 'm-7' })
  expect(matchPath('/tasks/:id', '/tasks/a%2Fb')).toEqual({ id: 'a/b' })
})

test('a path with more, fewer or other parts is not of the pattern', () => {
  expect(matchPath('/missions/:id', '/missions')).toBeNull()
  expect(matchPath('/missions', '/missions/m-7')).toBeNull()
  expect(matchPath('/board', '/plan')).toBeNull()
})

test('a part that cannot be decoded stays as it is', () => {
  expect(matchPath('/tasks/:id', '/tasks/100%')).toEqual({ id: '100%' })
})

test.for([
  ['/inbox', '/'],
  ['/t-7', '/tasks/t-7'],
  ['/inbox/t-7', '/tasks/t-7'],
  ['/missions/t-7', '/tasks/t-7'],
  ['/mission/m-7/', '/missions/m-7'],
  ['/w-7', '/missions/w-7'],
  ['/run-0a1b-7', '/runs/run-0a1b-7'],
  ['/review/t-7', '/review/task/t-7'],
  ['/review/m-7', '/review/mission/m-7'],
  ['/tasks/t-7', null],
  ['/missions/m-7/log', null],
  ['/review/task/t-7', null],
  ['/processes/run-checks', null],
  ['/nowhere', null],
] as const)('the typed path %s means %s', ([path, meant]) => {
  expect(meantPath(path)).toBe(meant)
})

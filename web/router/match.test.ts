import { expect, test } from 'vitest'
import { matchPath } from './match.ts'

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

import { expect, test, vi } from 'vitest'
import { ApiFailure } from '../../src/surfaces/http/client/client.ts'

vi.stubGlobal('location', new URL('http://127.0.0.1/tasks/t-nope'))
vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/', querySelector: () => null })
const { reasonOf } = await import('./call.ts')

const hint = 'waymark task list shows the tasks.'

test('the page of an unknown id gives no advice for the command line', () => {
  const unknown = new ApiFailure(404, { code: 'NOT_FOUND', message: 'task not found: t-nope', hint })
  expect(reasonOf(unknown)).toBe('task not found: t-nope')
})

test('the page of any other failure says what to do', () => {
  const conflict = new ApiFailure(409, { code: 'CONFLICT', message: 'It is held.', hint })
  expect(reasonOf(conflict)).toBe(`It is held. ${hint}`)
})

import { expect, test } from 'vitest'
import { legacy } from './eras.ts'
import { startServer } from './server-process.ts'

const cases = [
  ['tools/call', {}, '"name" is missing: it must be a string'],
  ['tools/call', { name: 7 }, '"name" must be a string, not 7'],
  [
    'tools/call',
    { name: 'start_mission', arguments: [] },
    '"arguments" must be an object of named fields, not []',
  ],
  ['tools/call', { name: 'get_context', _meta: [] }, '"_meta" must be an object, not []'],
  ['tools/call', { name: 'get_context', _meta: { progressToken: {} } }, 'progressToken'],
  ['tools/list', { cursor: 7 }, '"cursor" must be a string, not 7'],
  ['resources/list', { cursor: [] }, '"cursor"'],
  ['resources/templates/list', { cursor: {} }, '"cursor"'],
  ['resources/read', {}, '"uri" is missing: it must be a string'],
  ['resources/read', { uri: { a: 1 } }, '"uri" must be a string, not {"a":1}'],
  ['resources/subscribe', { uri: null }, '"uri" must be a string, not null'],
  ['resources/unsubscribe', {}, '"uri"'],
  ['prompts/list', { cursor: true }, '"cursor"'],
  ['prompts/get', {}, '"name"'],
  [
    'prompts/get',
    { name: 'plan_mission', arguments: { objective: 7 } },
    '"objective" that must be a string, not 7',
  ],
  ['completion/complete', {}, '"ref" must be { type: "ref/prompt", name }'],
  ['completion/complete', { ref: { type: 'ref/prompt' } }, '"name" that is missing'],
  [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'plan_mission' }, argument: 'x' },
    '"argument" must be an object, not "x"',
  ],
] as const

test('malformed parameters of any method are -32602 with one short sentence, and the server goes on', async () => {
  const server = startServer()
  const { ask } = await legacy(server)
  for (const [method, params, words] of cases) {
    const { error } = await ask(method, params)
    expect({ method, params, code: error?.code }).toEqual({ method, params, code: -32602 })
    expect(error.message).toContain(words)
    expect(error.message.length).toBeLessThan(250)
    expect(error.message).not.toContain('\n')
  }
  expect((await ask('ping')).result).toEqual({})
})

test('the handshake too', async () => {
  const server = startServer()
  const { error } = await server.ask('initialize', { protocolVersion: 3, capabilities: {}, clientInfo: {} })
  expect(error).toEqual({
    code: -32602,
    message: 'Invalid params of initialize: "protocolVersion" must be a string, not 3.',
  })
})

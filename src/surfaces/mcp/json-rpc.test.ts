import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { legacyVersions } from './introduction.ts'
import { isMessage, isRequest } from './json-rpc.ts'

const part = fc.oneof(
  fc.constantFrom(null, true, '', 'a', 0, -1, 1.5, 2 ** 60),
  fc.constant([]),
  fc.constant({}),
)
const meta = fc.oneof(
  part,
  fc.record(
    {
      progressToken: part,
      'io.modelcontextprotocol/related-task': fc.oneof(part, fc.record({ taskId: part })),
      other: part,
    },
    { requiredKeys: [] },
  ),
)
const members = fc.record({ _meta: meta, name: part }, { requiredKeys: [] })
const message = fc.record(
  {
    jsonrpc: fc.constantFrom('2.0', '2.0', '2.0', '1.0', 2),
    id: fc.oneof(fc.constantFrom(1, 'a'), part),
    method: fc.oneof(fc.constant('ping'), part),
    params: fc.oneof(members, part),
    result: fc.oneof(members, part),
    error: fc.oneof(
      part,
      fc.record({ code: part, message: part, data: part, more: part }, { requiredKeys: ['code', 'message'] }),
    ),
    more: part,
  },
  { requiredKeys: [] },
)

test('a message is one to the SDK, too, and a request a request', () => {
  const agrees = fc.property(message, (value) => {
    expect(isRequest(value)).toBe(isJSONRPCRequest(value))
    const isValid = isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value)
    expect(isMessage(value)).toBe(isValid)
  })
  fc.assert(agrees, { numRuns: 3_000 })
})

test('the revisions that begin with initialize are those of the SDK', () => {
  expect(legacyVersions).toEqual(SUPPORTED_PROTOCOL_VERSIONS)
})

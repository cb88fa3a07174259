import { expect, test } from 'vitest'
import { canonicalText, fingerprint } from './fingerprint.ts'

test('the order of keys and the way of writing a number do not matter', () => {
  expect(canonicalText({ b: [1.0, 1e2], a: { d: null, c: 'é' } })).toBe(
    '{"a":{"c":"é","d":null},"b":[1,100]}',
  )
  expect(fingerprint({ b: 1, a: 2 })).toBe(fingerprint({ a: 2, b: 1 }))
  expect(fingerprint({ a: 1 })).not.toBe(fingerprint({ a: '1' }))
})

test('it is the sha-256 of the canonical text', () => {
  expect(fingerprint({})).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a')
})

test('half a surrogate pair is U+FFFD, as it is in every database, and a key without a value is none', () => {
  expect(canonicalText({ a: 'x\ud800', b: undefined })).toBe('{"a":"x\ufffd"}')
})

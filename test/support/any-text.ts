import fc, { type StringSharedConstraints } from 'fast-check'

const surrogates = { first: 0xd800, count: 0x800 }
const maxCodePoint = 0x10ffff

/**
 * Any character of Unicode, as fast-check's unit `binary`: that one keeps a table of all 1.1 million of them, which every
 * later collection of memory goes through.
 */
const character = fc.nat({ max: maxCodePoint - surrogates.count }).map(
  (number) => String.fromCodePoint(number < surrogates.first ? number : number + surrogates.count),
  (text) => {
    const codePoint = typeof text === 'string' ? text.codePointAt(0) : undefined
    if (codePoint === undefined || String.fromCodePoint(codePoint) !== text)
      throw new Error('not one character')
    if (codePoint >= surrogates.first && codePoint < surrogates.first + surrogates.count)
      throw new Error('half of a pair')
    return codePoint < surrogates.first ? codePoint : codePoint - surrogates.count
  },
)

export function anyText(constraints: StringSharedConstraints = {}): fc.Arbitrary<string> {
  return fc.string({ ...constraints, unit: character })
}

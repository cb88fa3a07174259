/** The position that a reader has come to: null where it asks only for what is new. */
export type Since = { readonly seq: number | null } | { readonly problem: string }

export function readSince(address: string): Since {
  const text = new URL(address, 'http://localhost').searchParams.get('since')
  if (text === null || text === '') return { seq: null }
  const seq = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(seq)) return { seq }
  return { problem: `since must be a whole number, 0 or more, and is "${text.slice(0, 20)}".` }
}

import type { StoredContent } from '../../git/ports/work-tree.ts'
import { hexDigest } from '../../kernel/operations/digest.ts'

/** Encoding of contents that are sent between machines. */

export function base64Of(bytes: Uint8Array): string {
  let text = ''
  const step = 8_192
  for (let at = 0; at < bytes.length; at += step)
    text += String.fromCharCode(...bytes.subarray(at, at + step))
  return btoa(text)
}

export function decodeBase64(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

/** Checks contents from another machine: bytes that do not match their id are left out. */
export async function sentContents(
  sent: readonly { readonly id: string; readonly size: number; readonly base64: string | null }[],
): Promise<ReadonlyMap<string, StoredContent>> {
  const contents = new Map<string, StoredContent>()
  for (const { id, size, base64 } of sent) {
    const bytes = base64 === null ? null : decodeBase64(base64)
    if (bytes === null || (await isContentOf(id, bytes))) contents.set(id, { size, bytes })
  }
  return contents
}

/** Whether an id is git's id of a content. */
export async function isContentOf(id: string, bytes: Uint8Array): Promise<boolean> {
  const head = new TextEncoder().encode(`blob ${bytes.length}\0`)
  const whole = new Uint8Array(head.length + bytes.length)
  whole.set(head)
  whole.set(bytes, head.length)
  return (await hexDigest(id.length === 40 ? 'SHA-1' : 'SHA-256', whole)) === id
}

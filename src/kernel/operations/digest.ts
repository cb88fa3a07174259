/** A hash of bytes, hexadecimal. */
export async function hexDigest(
  algorithm: 'SHA-1' | 'SHA-256',
  bytes: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest(algorithm, bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The version of the protocol. A machine with an older one must upgrade. */
export const contractVersion = 10

/** The header with the address that a remote machine uses for its project. */
export const addressHeader = 'X-Waymark-Address'

/** Limits of a request of a remote machine: its JSON, and the body as it is sent, packed with gzip. */
export const callLimits = { maxBytes: 16_000_000, maxValues: 400_000, maxPackedBytes: 8_000_000 }

/** Limits of a server's answer, as a machine reads it. */
export const answerLimits = { maxBytes: 64_000_000, maxValues: 4_000_000 }

/** A machine's id, derived from the hash of its key: the id does not reveal the key. */
export function machineIdOf(keyHash: string): string {
  return `e-${keyHash.slice(0, 20)}`
}

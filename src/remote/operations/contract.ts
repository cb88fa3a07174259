/** What both sides agree on. A machine with an older contract is asked to upgrade. */
export const contractVersion = 7

/** The header with the address at which a remote machine reaches its project. */
export const addressHeader = 'X-Waymark-Address'

/** Limits of a request of a remote machine: its JSON, and the body as it is sent, packed with gzip. */
export const callLimits = { maxBytes: 16_000_000, maxValues: 400_000, maxPackedBytes: 8_000_000 }

/** Limits of a server's answer, as a machine reads it. */
export const answerLimits = { maxBytes: 64_000_000, maxValues: 4_000_000 }

/** Of the id of a machine, made from the hash of its key: whoever knows the id does not know the key. */
export function machineIdOf(keyHash: string): string {
  return `e-${keyHash.slice(0, 20)}`
}

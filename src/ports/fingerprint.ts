/** The sha-256, in hexadecimal, of a value's canonical JSON (RFC 8785). */
export type Fingerprint = (value: unknown) => string

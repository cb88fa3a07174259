import type { PortCallName } from './port-calls.ts'

/** What a server may ask of a machine during an operation that does not declare its measurements: none is left. */
export const looks: Readonly<Record<string, readonly PortCallName[]>> = {}

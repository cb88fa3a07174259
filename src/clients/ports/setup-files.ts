/** The files of clients that `waymark setup` changed on this machine. */
export interface SetupFiles {
  /** Whether setup found a file with the one content, null for none, and left it with the other. */
  wrote(file: string, before: Uint8Array | null, after: Uint8Array): Promise<boolean>
}

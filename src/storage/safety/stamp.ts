/** Part of a file's name: sorts by time, and no file system refuses it. */
export function stamp(at: number): string {
  return new Date(at).toISOString().replace(/[:.]/g, '-')
}

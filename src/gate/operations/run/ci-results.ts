/**
 * A result of CI is kept as that of a command which a runner ran: under a line that no shell is given, and under its
 * commit where a command has its folder, which is an absolute path.
 */

export function ciLine(check: string): string {
  return `ci: ${check}`
}

export function ciFolder(commit: string): string {
  return `commit ${commit}`
}

/** The commit of such a folder; null for any other. */
export function commitOfFolder(folder: string): string | null {
  return /^commit ([0-9a-f]{40,64})$/.exec(folder)?.[1] ?? null
}

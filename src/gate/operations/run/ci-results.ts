/**
 * A CI result is stored like a runner's command: with a line that is never run, and with the commit instead of a folder,
 * which would be an absolute path.
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

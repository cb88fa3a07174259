/** What a client calls itself, as it is shown beside what was measured: one line, and no longer than a name. */
export function shownName(given: string | undefined): string | undefined {
  return given?.replace(/\s+/g, ' ').trim().slice(0, 100) || undefined
}

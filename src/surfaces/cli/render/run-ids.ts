/** Ids of runs by their ends, as people type them: the beginning of one is a time. */
export function shortRunIds(text: string): string {
  return text.replace(/run-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{4}([0-9a-f]{8})\b/g, 'run-$1')
}

/** The parts of a task's text below its `## ` headings, without the markers that Backlog.md puts around them. */
export interface Section {
  /** Null before the first heading. */
  readonly title: string | null
  readonly text: string
}

const marker =
  /^\s*<!--\s*(?:SECTION:[A-Z_]+|AC|DOD|COMMENTS?|DESCRIPTION|PLAN|NOTES)\s*:\s*(?:BEGIN|END)\s*-->\s*$/

export function sections(body: string): readonly Section[] {
  const found: { title: string | null; lines: string[] }[] = [{ title: null, lines: [] }]
  let fence: string | null = null
  for (const line of body.split(/\r?\n/)) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? null
    const title = fence === null ? /^## +(.+?)\s*$/.exec(line)?.[1] : undefined
    if (fence === null) fence = mark
    else if (mark?.startsWith(fence)) fence = null
    if (title !== undefined) found.push({ title, lines: [] })
    else if (!marker.test(line)) found.at(-1)?.lines.push(line)
  }
  return found
    .map(({ title, lines }) => ({ title, text: lines.join('\n').trim() }))
    .filter(({ text }) => text !== '')
}

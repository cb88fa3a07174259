import type { RawHeading, RawPlan } from './raw-plan.ts'

export interface MarkdownPhase {
  readonly heading: RawHeading
  readonly name: string
  readonly key: string | null
}

/** Headings that are phases: all but the title, and those that only have deeper headings below them. */
export function phasesOf({ headings, milestones, tasks }: RawPlan): readonly MarkdownPhase[] {
  const filled = new Set([...milestones, ...tasks].map(({ heading }) => heading))
  const phases: MarkdownPhase[] = []
  /** Headings without tasks of their own, which the headings below them are named with. */
  let above: RawHeading[] = []
  for (const [place, heading] of headings.entries()) {
    above = above.filter(({ level }) => level < heading.level)
    const next = headings[place + 1]
    if (!filled.has(heading)) {
      if (place === 0) continue
      if (next && next.level > heading.level) {
        above.push(heading)
        continue
      }
    }
    phases.push({ heading, name: [...above, heading].map(({ name }) => name).join(' / '), key: heading.key })
  }
  return phases
}

import type { RawHeading, RawPlan } from './raw-plan.ts'

export interface MarkdownPhase {
  readonly heading: RawHeading
  readonly name: string
  readonly key: string | null
}

export interface MarkdownPhases {
  readonly phases: readonly MarkdownPhase[]
  /** Headings over nothing but text. */
  readonly leftOut: readonly RawHeading[]
}

/**
 * Headings that are phases: those with tasks or milestones directly below them, and those with nothing at all, except
 * the title. A heading over deeper ones lends them its name.
 */
export function phasesOf({ headings, milestones, tasks, withProse }: RawPlan): MarkdownPhases {
  const filled = new Set([...milestones, ...tasks].map(({ heading }) => heading))
  const phases: MarkdownPhase[] = []
  const leftOut: RawHeading[] = []
  /** Headings without tasks of their own, which the headings below them are named with. */
  let above: RawHeading[] = []
  for (const [place, heading] of headings.entries()) {
    above = above.filter(({ level }) => level < heading.level)
    const next = headings[place + 1]
    if (!filled.has(heading)) {
      if (place === 0) continue
      if (next && next.level > heading.level) above.push(heading)
      else if (withProse.has(heading)) leftOut.push(heading)
      if (above.includes(heading) || withProse.has(heading)) continue
    }
    phases.push({ heading, name: [...above, heading].map(({ name }) => name).join(' / '), key: heading.key })
  }
  return { phases, leftOut }
}

import type { DocumentStatus } from '../../domain/plan/document/plan-document.ts'

/** What the lines of a plan say, before keys are given and references are followed. */
export interface RawPlan {
  readonly headings: readonly RawHeading[]
  readonly milestones: readonly RawMilestone[]
  readonly tasks: readonly RawTask[]
  readonly notices: readonly LineNotice[]
  /** Headings with text below them that belongs to no task. */
  readonly withProse: ReadonlySet<RawHeading>
  /** Lines that say nothing: empty ones and rules. */
  readonly silent: ReadonlySet<number>
}

export interface LineNotice {
  readonly line: number
  readonly text: string
}

export interface RawHeading {
  readonly line: number
  readonly level: number
  readonly name: string
  readonly key: string | null
}

export interface RawMilestone {
  readonly line: number
  readonly heading: RawHeading
  readonly name: string
  readonly criterion: string | null
  readonly key: string | null
  readonly reached: boolean
}

export interface RawTask {
  readonly line: number
  readonly title: string
  /** Its number in a numbered list. */
  readonly number: string | null
  readonly key: string | null
  readonly role: string | null
  readonly status: DocumentStatus
  readonly dropped: boolean
  readonly heading: RawHeading | null
  readonly parent: RawTask | null
  readonly after: readonly { readonly line: number; readonly text: string }[]
  readonly description: readonly string[]
  milestone: RawMilestone | null
}

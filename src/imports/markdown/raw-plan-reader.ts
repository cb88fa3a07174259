import type { DocumentStatus } from '../../domain/plan/document/plan-document.ts'
import { attributesOf } from './attributes.ts'
import type { LineNotice, RawHeading, RawMilestone, RawPlan, RawTask } from './raw-plan.ts'
import { indented, type SourceLine, sourceLine } from './source-line.ts'
import { withoutComments } from './without-comments.ts'

/** A task whose subtasks and description may still follow. */
interface OpenTask extends RawTask {
  readonly indent: number
  readonly after: { readonly line: number; readonly text: string }[]
  readonly description: string[]
}

interface Marked {
  readonly status: DocumentStatus
  readonly dropped: boolean
}

const marks: Readonly<Record<string, Marked>> = {
  '': { status: 'to_do', dropped: false },
  ' ': { status: 'to_do', dropped: false },
  '/': { status: 'in_progress', dropped: false },
  '~': { status: 'in_progress', dropped: false },
  x: { status: 'done', dropped: false },
  X: { status: 'done', dropped: false },
  '-': { status: 'done', dropped: true },
}

export function readRawPlan(text: string): RawPlan {
  const headings: RawHeading[] = []
  const milestones: RawMilestone[] = []
  const tasks: OpenTask[] = []
  const notices: LineNotice[] = []
  const withProse = new Set<RawHeading>()
  const silent = new Set<number>()
  /** The task of the lines to come and its parents, outermost first. */
  let open: OpenTask[] = []
  let heading: RawHeading | null = null
  let milestone: RawMilestone | null = null

  const owner = (indent: number): OpenTask | undefined => {
    open = open.filter((task) => task.indent < indent)
    return open.at(-1)
  }
  const say = (line: number, what: string): void => {
    notices.push({ line, text: what })
  }
  const sayProse = (line: number): void => {
    if (heading) withProse.add(heading)
    say(line, 'left out: text outside any task')
  }
  const take = (found: PlanLine, { line, raw }: { readonly line: number; readonly raw: string }): void => {
    switch (found.kind) {
      case 'rule':
        silent.add(line)
        return
      case 'blank':
        silent.add(line)
        open.at(-1)?.description.push('')
        return
      case 'heading': {
        const { title, key } = attributesOf(found.text)
        heading = { line, level: found.level, name: title, key }
        if (title === '') say(line, 'left out: a heading without text')
        else headings.push(heading)
        open = []
        milestone = null
        return
      }
      case 'milestone': {
        open = []
        if (!heading) {
          say(line, 'left out: a milestone before the first heading, and so without a phase')
          return
        }
        milestone = milestoneOf(found, { line, heading })
        if (milestone.name === '') say(line, 'left out: a milestone without a name')
        else milestones.push(milestone)
        return
      }
      case 'task': {
        const { title, key, role, after, repeated } = attributesOf(found.text)
        const parent = owner(found.indent) ?? null
        if (title === '') {
          say(line, 'left out: a checkbox without text')
          return
        }
        const marked = marks[found.mark]
        if (!marked) say(line, `the mark "[${found.mark}]" is unknown; the task counts as to do`)
        for (const name of repeated) say(line, `a second ${name}; the last one counts`)
        const task: OpenTask = {
          line,
          title,
          number: found.number,
          key,
          role,
          ...(marked ?? { status: 'to_do', dropped: false }),
          heading,
          parent,
          milestone: parent?.milestone ?? milestone,
          after: after.map((reference) => ({ line, text: reference })),
          description: [],
          indent: found.indent,
        }
        tasks.push(task)
        open.push(task)
        return
      }
      case 'after': {
        const task = owner(found.indent)
        if (task) task.after.push({ line, text: found.after })
        else sayProse(line)
        return
      }
      case 'text': {
        const task = owner(found.indent)
        if (task) task.description.push(raw)
        else sayProse(line)
        return
      }
    }
  }

  const lines = linesOf(text)
  // Where there are checkboxes, other lists are text; where there are none, the lists are the tasks.
  const withBoxes = lines.some(({ found }) => found.kind === 'task')
  for (const { found, line, raw } of lines) take(meant(found, withBoxes), { line, raw })
  return { headings, milestones, tasks: gathered(tasks, milestones), notices, withProse, silent }
}

interface Line {
  readonly found: SourceLine
  readonly line: number
  readonly raw: string
}

/** What each line is by its looks; within a fence it is text. */
function linesOf(text: string): readonly Line[] {
  let fence: string | null = null
  return withoutComments(text.replace(/^\ufeff/, ''))
    .split(/\r\n|\n|\r/)
    .map((raw, index) => {
      const mark = /^\s*(`{3,}|~{3,})/.exec(raw)?.[1] ?? null
      const inside = fence !== null
      if (fence === null) fence = mark
      else if (mark?.startsWith(fence)) fence = null
      const found = inside || mark !== null ? { kind: 'text' as const, ...indented(raw) } : sourceLine(raw)
      const blank = found.kind === 'text' && found.text === ''
      return { found: blank ? { kind: 'blank' } : found, line: index + 1, raw }
    })
}

type PlanLine = Exclude<SourceLine, { kind: 'item' }>

function meant(found: SourceLine, withBoxes: boolean): PlanLine {
  if (found.kind !== 'item') return found
  const { indent, number, text } = found
  return withBoxes ? { kind: 'text', indent, text } : { kind: 'task', indent, mark: ' ', number, text }
}

function milestoneOf(
  { text, reached }: Extract<SourceLine, { kind: 'milestone' }>,
  { line, heading }: { readonly line: number; readonly heading: RawHeading },
): RawMilestone {
  const { title, key } = attributesOf(text)
  const [, name = title, criterion = null] = /^(.+?)(?:\s+(?:—|–|--?)\s+|:\s+)(.+)$/.exec(title) ?? []
  return { line, heading, name, criterion, key, reached }
}

/** A milestone that nothing follows gathers the tasks of its phase that stand above it and lead to none. */
function gathered(tasks: OpenTask[], milestones: readonly RawMilestone[]): readonly RawTask[] {
  for (const milestone of milestones) {
    if (tasks.some((task) => task.milestone === milestone)) continue
    for (const task of tasks) {
      const above = task.heading === milestone.heading && task.line < milestone.line
      if (above && task.milestone === null) task.milestone = milestone
    }
  }
  return tasks
}

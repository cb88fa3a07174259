import type { DocumentTask } from '../domain/document.ts'
import { criteriaOf, doneWhenFrom, keyGiver, phaseStatusOfTasks } from './foreign-task.ts'
import { type ImportResult, importResultOf } from './import-result.ts'
import {
  type LineNotice,
  type RawHeading,
  type RawPlan,
  type RawTask,
  readRawPlan,
} from './markdown-lines.ts'

/**
 * Reads a plan in Markdown. Nothing in it is required, and most lists that people and agents write are plans already.
 * `docs/guide/plan.md` tells people of it.
 *
 * - **Headings are phases**, unless only text stands below them. The first heading is the title when no tasks stand
 *   directly below it. A heading over deeper ones, without tasks of its own, lends them its name: `Backend / Storage`.
 * - **Checkboxes are tasks**: `- [ ]` to do, `- [/]` or `- [~]` in progress, `- [x]` done, `- [-]` dropped. Indented
 *   checkboxes are subtasks. Other indented text is the description of the task above it.
 * - **Without any checkbox** in the file, the entries of its lists are the tasks, numbered or not. Beside checkboxes, a
 *   numbered list is tasks too, unless it stands below a checkbox: then it is the task's description.
 * - **`Acceptance criteria:`** (or `Done when:`) and a list at the end of a task's description are its criteria.
 * - **Bold marks** are left out of titles.
 * - **At the end of a task's line**, in any order: `#key` (with a letter in it) or `(id: key)`; `@role`; and what has to
 *   be done before, `(after: …)` or `after: …`. The latter may also stand on an indented line of its own.
 * - **A dependency** names a key, a whole title, the number that a title begins with (`1.2`, `T004`), or its
 *   number in a numbered list; several are separated by commas. `depends on:` means the same as `after:`.
 * - **`**Milestone:** name — criterion #key`** gathers the tasks below it up to the next milestone or heading; at the end
 *   of a phase, the tasks above it. As a checkbox it can be reached: `- [x] **Milestone:** …`.
 * - **Left out without a word**: empty lines, rules, and HTML comments. Every other line that is not understood is
 *   reported with its number.
 */
export function readMarkdownPlan(text: string): ImportResult {
  const raw = readRawPlan(text)
  const { phases, leftOut } = phasesOf(raw)
  const tasksBelow = Map.groupBy(raw.tasks, ({ heading }) => heading)
  const phaseKeys = keysOf(phases, ({ heading }) => heading)
  const keyOfHeading = new Map(phases.map((phase) => [phase.heading, phaseKeys.get(phase) ?? null]))
  const milestoneKeys = keysOf(raw.milestones, (milestone) => milestone)
  const taskKeys = keysOf(raw.tasks, ({ key, title }) => ({ key, name: title }))
  const keyOf = (task: RawTask): string => taskKeys.get(task) ?? ''
  const { dependsOn, notices } = dependenciesOf(raw.tasks, keyOf)
  const tasks = raw.tasks.map(
    (task): DocumentTask => ({
      key: keyOf(task),
      title: task.title,
      ...promisedIn(descriptionOf(task.description)),
      phase: task.heading && (keyOfHeading.get(task.heading) ?? null),
      milestone: task.milestone && (milestoneKeys.get(task.milestone) ?? null),
      parent: task.parent && keyOf(task.parent),
      role: task.role,
      assignee: null,
      areas: [],
      status: task.status,
      resolution: task.dropped ? 'dropped' : null,
      sortOrder: null,
      dependsOn: dependsOn.get(task) ?? [],
      notes: [],
      creator: null,
      createdAt: null,
      updatedAt: null,
      foreignId: null,
    }),
  )
  const line = (entity: { readonly line: number }): string => `line ${entity.line}`
  return importResultOf({
    document: {
      phases: phases.map((phase) => ({
        key: phaseKeys.get(phase) ?? '',
        name: phase.name,
        status: phaseStatusOfTasks(tasksBelow.get(phase.heading) ?? []),
        sortOrder: null,
        foreignId: null,
      })),
      milestones: raw.milestones.map((milestone) => ({
        key: milestoneKeys.get(milestone) ?? '',
        phase: keyOfHeading.get(milestone.heading) ?? '',
        name: milestone.name,
        criterion: milestone.criterion,
        reached: milestone.reached,
        foreignId: null,
      })),
      tasks,
    },
    places: {
      phases: phases.map(({ heading }) => line(heading)),
      milestones: raw.milestones.map(line),
      tasks: raw.tasks.map(line),
    },
    problems: [],
    notices: [
      ...entriesNotice(raw.entries),
      ...sentences([...raw.notices, ...notices, ...leftOut], raw.silent),
    ],
  })
}

/** Written keys come first; the others are created from names around them. */
function keysOf<T>(
  entities: readonly T[],
  nameOf: (entity: T) => { readonly key: string | null; readonly name: string },
): ReadonlyMap<T, string> {
  const giveKey = keyGiver(entities.flatMap((entity) => nameOf(entity).key ?? []))
  return new Map(
    entities.map((entity) => {
      const { key, name } = nameOf(entity)
      return [entity, key ?? giveKey(name)]
    }),
  )
}

function dependenciesOf(
  tasks: readonly RawTask[],
  keyOf: (task: RawTask) => string,
): { readonly dependsOn: ReadonlyMap<RawTask, readonly string[]>; readonly notices: readonly LineNotice[] } {
  const find = taskReferences(tasks, keyOf)
  const notices: LineNotice[] = []
  const dependsOn = new Map<RawTask, readonly string[]>()
  for (const task of tasks) {
    const keys = new Set<string>()
    for (const { line, text } of task.after) {
      for (const reference of find(text, task)) {
        if (reference.found) for (const dependency of reference.tasks) keys.add(keyOf(dependency))
        else notices.push({ line, text: `left out: the dependency on ${reference.problem}` })
      }
    }
    dependsOn.set(task, [...keys])
  }
  return { dependsOn, notices }
}

function descriptionOf(lines: readonly string[]): string | null {
  const filled = lines.filter((line) => line.trim() !== '')
  if (filled.length === 0) return null
  const expanded = lines.map((line) => line.replace(/^[\t ]+/, (space) => space.replaceAll('\t', '    ')))
  const margin = Math.min(
    ...expanded.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length),
  )
  return expanded
    .map((line) => line.slice(margin).trimEnd())
    .join('\n')
    .trim()
}

const criteriaHeading =
  /^[ \t]*(?:[-*+] )?\*{0,2}(?:acceptance criteria|acceptance|done when)\*{0,2}:\*{0,2}[ \t]*$/im

/** The list at the end of a description below `Acceptance criteria:` becomes the criteria of the task. */
function promisedIn(description: string | null): Pick<DocumentTask, 'description' | 'doneWhen'> {
  const heading = description === null ? null : criteriaHeading.exec(description)
  if (description === null || heading === null) return { description }
  const criteria = criteriaOf(description.slice(heading.index + heading[0].length))
  if (criteria === null || criteria.length === 0) return { description }
  return { description: description.slice(0, heading.index).trim() || null, ...doneWhenFrom(criteria) }
}

/** Their author may have meant tasks. */
function entriesNotice(lines: readonly number[]): readonly string[] {
  if (lines.length === 0) return []
  const listed = lines.slice(0, maxListed).join(', ')
  const more = lines.length > maxListed ? ` and ${lines.length - maxListed} more` : ''
  const [entries, lineWord] = lines.length === 1 ? ['entry', 'line'] : ['entries', 'lines']
  return [
    `left out: ${lines.length} list ${entries} without a checkbox, in ${lineWord} ${listed}${more}. Begin a task with "- [ ]".`,
  ]
}

const maxListed = 20

/** Adjacent lines left out for the same reason share a sentence. */
function sentences(notices: readonly LineNotice[], silent: ReadonlySet<number>): readonly string[] {
  const ranges: { first: number; last: number; text: string }[] = []
  for (const { line, text } of notices.toSorted((one, other) => one.line - other.line)) {
    const latest = ranges.at(-1)
    let next = latest?.last ?? 0
    do next += 1
    while (silent.has(next))
    if (latest?.text === text && next >= line) latest.last = line
    else ranges.push({ first: line, last: line, text })
  }
  return ranges.map(
    ({ first, last, text }) => `${first === last ? `line ${first}` : `lines ${first} to ${last}`}: ${text}.`,
  )
}

interface MarkdownPhase {
  readonly heading: RawHeading
  readonly name: string
  readonly key: string | null
}

interface MarkdownPhases {
  readonly phases: readonly MarkdownPhase[]
  /** The title, and headings with only text below them. */
  readonly leftOut: readonly LineNotice[]
}

/**
 * Headings that are phases: those with tasks or milestones directly below them, and those with nothing at all, except
 * the title. A heading over deeper ones lends them its name.
 */
function phasesOf({ headings, milestones, tasks, withProse }: RawPlan): MarkdownPhases {
  const filled = new Set([...milestones, ...tasks].map(({ heading }) => heading))
  const phases: MarkdownPhase[] = []
  const leftOut: LineNotice[] = []
  /** Headings without tasks of their own, which prefix the headings below them. */
  let above: RawHeading[] = []
  for (const [place, heading] of headings.entries()) {
    above = above.filter(({ level }) => level < heading.level)
    const next = headings[place + 1]
    if (!filled.has(heading)) {
      if (place === 0) {
        leftOut.push({ line: heading.line, text: `left out: the title "${heading.name}"` })
        continue
      }
      if (next && next.level > heading.level) above.push(heading)
      else if (withProse.has(heading))
        leftOut.push({ line: heading.line, text: 'left out: a heading over text alone' })
      if (above.includes(heading) || withProse.has(heading)) continue
    }
    phases.push({ heading, name: [...above, heading].map(({ name }) => name).join(' / '), key: heading.key })
  }
  return { phases, leftOut }
}

type TaskReference =
  | { readonly found: true; readonly tasks: readonly RawTask[] }
  | { readonly found: false; readonly problem: string }

/** Finds the tasks that a reference names: by key, by title, by a number in the title, or by list number. */
function taskReferences(
  tasks: readonly RawTask[],
  keyOf: (task: RawTask) => string,
): (text: string, from: RawTask) => readonly TaskReference[] {
  const byKey = Map.groupBy(tasks, (task) => keyOf(task))
  const byTitle = Map.groupBy(tasks, ({ title }) => normalizeTitle(title))
  const byNumber = Map.groupBy(tasks, ({ title, number }) =>
    normalizeTitle(leadingNumber(title) || (number ?? '')),
  )
  const find = (text: string, from: RawTask): TaskReference | null => {
    const name = normalizeTitle(text)
    const matches = byKey.get(text) ?? byTitle.get(name) ?? (name === '' ? undefined : byNumber.get(name))
    if (!matches) return null
    const near = matches.filter(({ heading }) => heading === from.heading)
    const [one, ...more] = near.length > 0 ? near : matches
    if (one && more.length === 0) return { found: true, tasks: [one] }
    const lines = matches.map(({ line }) => line).join(', ')
    return {
      found: false,
      problem: `"${text}", which names the tasks of lines ${lines}; give one of them a #key`,
    }
  }
  return (text, from) => {
    const whole = find(stripQuotes(text), from)
    if (whole) return [whole]
    return parts(text).map(
      (part) =>
        find(stripQuotes(part), from) ?? {
          found: false,
          problem: `"${stripQuotes(part)}", which is not a task of this plan`,
        },
    )
  }
}

/** Commas and semicolons separate, except within quotes. */
function parts(text: string): readonly string[] {
  return (text.match(/(?:"[^"]*"|[^,;"]|")+/g) ?? []).map((part) => part.trim()).filter((part) => part !== '')
}

/** Without the quotes, backticks or `#` around it. */
function stripQuotes(text: string): string {
  const trimmed = text.trim()
  return (
    (/^"(.*)"$/.exec(trimmed) ?? /^`(.*)`$/.exec(trimmed) ?? /^#(\S+)$/.exec(trimmed))?.[1]?.trim() ?? trimmed
  )
}

function normalizeTitle(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/[*_`]/g, '').replace(/\s+/g, ' ').trim()
}

/** `1.2` of `1.2 Build it`, `T004` of `T004: Test it`, else nothing. */
function leadingNumber(title: string): string {
  return /^(?:[*_`]*)((?:\p{Lu}+-?)?\d+(?:\.\d+)*)(?=[.):]?\s)/u.exec(title)?.[1] ?? ''
}

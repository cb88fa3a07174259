import type { Actor } from '../../kernel/actor.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import { patternProblem } from '../../kernel/path-pattern.ts'
import { excerpt } from '../../kernel/text.ts'

/** What a task promises: when it is done, and how that is checked. */
export interface DoneWhen {
  /** Sentences that the outcome answers, each once. */
  readonly criteria: readonly string[]
  /** Commands that must pass on the final content. */
  readonly check: readonly TaskCheck[]
  /** Path patterns that must each match a changed file. Absent: nothing is promised; empty: no change is expected. */
  readonly changes?: readonly string[]
  /** Path patterns of files that must not change. */
  readonly keeps: readonly string[]
  /** Whether the lists of the mission and the project count as well. */
  readonly inherit: boolean
  /** What a person removed after the task had started. */
  readonly removed: readonly RemovedPromise[]
  /** A person gave them, or changed them last: agents may only add. */
  readonly byPerson?: true
}

/** A command of a task, with the fields of a guard's command. */
export interface TaskCheck {
  readonly run: string
  /** Files whose change requires a new approval of the command. */
  readonly pinned: readonly string[]
  /** Milliseconds. */
  readonly timeout: number
}

export const promiseLists = ['criteria', 'check', 'changes', 'keeps', 'inherit'] as const
export type PromiseList = (typeof promiseLists)[number]

export interface RemovedPromise {
  readonly list: PromiseList
  readonly text: string
  readonly author: string
  readonly removedAt: number
}

/** The fields that a caller gave. */
export type DoneWhenChanges = Partial<Omit<DoneWhen, 'removed' | 'byPerson'>>

export const noDoneWhen: DoneWhen = { criteria: [], check: [], keeps: [], inherit: true, removed: [] }

const defaultTimeout = 10 * 60_000
const maxTimeout = 6 * 60 * 60_000
/** At most this many entries of a list, and characters of an entry. */
const maxEntries = { criteria: 50, check: 20, changes: 100, keeps: 100, pinned: 100 }
const maxLength = { criteria: 2_000, check: 2_000, changes: 500, keeps: 500, pinned: 500 }

interface ReadDoneWhen {
  readonly changes: DoneWhenChanges
  /** Sentences that name the value and its place. */
  readonly problems: readonly string[]
}

/** Reads `done_when` from a file or a call. `place` begins each problem, such as `tasks[3].done_when`. */
export function readDoneWhen(value: unknown, place: string): ReadDoneWhen {
  const problems: string[] = []
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problems.push(
      `${place} cannot be ${valueText(value)}: write an object with criteria, check, changes or keeps.`,
    )
    return { changes: {}, problems }
  }
  const fields = value as Readonly<Record<string, unknown>> // checked above
  for (const name of Object.keys(fields)) {
    if (!promiseLists.some((list) => list === name))
      problems.push(`${place} has the unknown field "${excerpt(name, 80)}": use ${promiseLists.join(', ')}.`)
  }
  const texts = (list: 'criteria' | 'changes' | 'keeps'): readonly string[] | undefined =>
    fields[list] == null ? undefined : readTexts(fields[list], `${place}.${list}`, list, problems)
  const [criteria, changes, keeps] = [texts('criteria'), texts('changes'), texts('keeps')]
  const check =
    fields['check'] == null
      ? undefined
      : listAt(fields['check'], `${place}.check`, 'check', problems).flatMap((entry, at) =>
          readCheck(entry, `${place}.check[${at}]`, problems),
        )
  const { inherit = null } = fields
  if (inherit !== null && typeof inherit !== 'boolean')
    problems.push(`${place}.inherit cannot be ${valueText(inherit)}: write true or false.`)
  return {
    changes: {
      ...(criteria && { criteria }),
      ...(check && { check: uniqueChecks(check) }),
      ...(changes && { changes }),
      ...(keeps && { keeps }),
      ...(typeof inherit === 'boolean' && { inherit }),
    },
    problems,
  }
}

/** Fails with INVALID_INPUT for the first problem. */
export function parseDoneWhen(value: unknown, place = 'done_when'): DoneWhenChanges {
  const { changes, problems } = readDoneWhen(value, place)
  const [first] = problems
  if (first === undefined) return changes
  throw new Failure('INVALID_INPUT', first, {
    reason: 'done_when_invalid',
    hint: 'Example: done_when: { criteria: ["…"], check: ["npm test"], changes: ["src/auth/**"], keeps: ["package.json"] }',
    details: { problems: problems.slice(0, 20) },
  })
}

function readCheck(entry: unknown, place: string, problems: string[]): readonly TaskCheck[] {
  const fields: unknown = typeof entry === 'string' ? { run: entry } : entry
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    problems.push(
      `${place} cannot be ${valueText(entry)}: write a command line, or { run, pinned, timeout }.`,
    )
    return []
  }
  const { run, pinned = null, timeout = null, ...rest } = fields as Readonly<Record<string, unknown>> // checked above
  for (const name of Object.keys(rest))
    problems.push(`${place} has the unknown field "${excerpt(name, 80)}": use run, pinned, timeout.`)
  const line = typeof run === 'string' ? run.trim() : ''
  if (line === '' || line.length > maxLength.check || /[\0\n\r]/.test(line)) {
    problems.push(
      `${place}.run cannot be ${valueText(run)}: write one command line of at most ${maxLength.check} characters.`,
    )
    return []
  }
  const milliseconds = timeout === null ? defaultTimeout : durationOf(timeout)
  if (milliseconds === null) {
    problems.push(
      `${place}.timeout cannot be ${valueText(timeout)}: write a time such as 90s, 20m or 2h, at most 6h.`,
    )
  }
  return [
    {
      run: line,
      pinned: pinned === null ? [] : readTexts(pinned, `${place}.pinned`, 'pinned', problems),
      timeout: milliseconds ?? defaultTimeout,
    },
  ]
}

/** Milliseconds of `90s`, `20m` or `2h`; null for anything else, and for more than a check may take. */
function durationOf(value: unknown): number | null {
  const [, amount, unit] =
    (typeof value === 'string' && /^([1-9][0-9]{0,5})(s|m|h)$/.exec(value.trim())) || []
  if (amount === undefined) return null
  const milliseconds = Number(amount) * (unit === 's' ? 1_000 : unit === 'm' ? 60_000 : 3_600_000)
  return milliseconds <= maxTimeout ? milliseconds : null
}

type TextList = 'criteria' | 'changes' | 'keeps' | 'pinned'

function readTexts(value: unknown, place: string, list: TextList, problems: string[]): readonly string[] {
  const texts = listAt(value, place, list, problems).flatMap((entry, at): readonly string[] => {
    const text = typeof entry === 'string' ? entry.trim() : ''
    const problem =
      text === '' || text.length > maxLength[list]
        ? `: write a text of at most ${maxLength[list]} characters`
        : list === 'criteria'
          ? null
          : entryProblem(text)
    if (problem === null) return [text]
    problems.push(`${place}[${at}] cannot be ${valueText(entry)}${problem}.`)
    return []
  })
  return [...new Set(texts)]
}

function entryProblem(pattern: string): string | null {
  const problem = patternProblem(pattern)
  if (problem !== null) return `: it ${problem}`
  return pattern.startsWith('!') ? ': patterns here cannot exclude paths' : null
}

function listAt(
  value: unknown,
  place: string,
  list: TextList | 'check',
  problems: string[],
): readonly unknown[] {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (entries.length <= maxEntries[list]) return entries
  problems.push(`${place} has ${entries.length} entries; at most ${maxEntries[list]} are possible.`)
  return []
}

function valueText(value: unknown): string {
  return value === undefined ? 'missing' : excerpt(JSON.stringify(value), 80)
}

/** The same command twice is one check, with the files that both pin and the longer time. */
function uniqueChecks(checks: readonly TaskCheck[]): readonly TaskCheck[] {
  const byRun = new Map<string, TaskCheck>()
  for (const check of checks) {
    const same = byRun.get(check.run)
    byRun.set(check.run, {
      run: check.run,
      pinned: union(same?.pinned, check.pinned),
      timeout: Math.max(same?.timeout ?? 0, check.timeout),
    })
  }
  return [...byRun.values()]
}

function union(some: readonly string[] = [], others: readonly string[] = []): readonly string[] {
  return [...new Set([...some, ...others])]
}

/**
 * Adds checks to others. One that pins more is another check: its approval must not take the place of the one that is
 * there, whose result would then not count.
 */
function addChecks(before: readonly TaskCheck[], added: readonly TaskCheck[]): readonly TaskCheck[] {
  const checks = [...before]
  for (const check of added) {
    const at = checks.findIndex(
      ({ run, pinned }) => run === check.run && check.pinned.every((path) => pinned.includes(path)),
    )
    const same = checks[at]
    if (same === undefined) checks.push(check)
    else checks[at] = { ...same, timeout: Math.max(same.timeout, check.timeout) }
  }
  return checks
}

/** Adds promises to others. An empty list of changes takes the place of patterns, and patterns that of an empty list. */
export function addToDoneWhen(before: DoneWhen, added: DoneWhenChanges): DoneWhen {
  const changes = added.changes?.length === 0 ? [] : union(before.changes, added.changes)
  return {
    criteria: union(before.criteria, added.criteria),
    check: addChecks(before.check, added.check ?? []),
    ...((before.changes ?? added.changes) && { changes }),
    keeps: union(before.keeps, added.keeps),
    inherit: added.inherit ?? before.inherit,
    removed: before.removed,
    ...(before.byPerson && { byPerson: true }),
  }
}

/** What a task promises in the end: the lists of the project, the mission and the task together. */
export function mergeDoneWhen(
  project: DoneWhen | null,
  mission: DoneWhen | null,
  task: DoneWhen | null,
): DoneWhen {
  const levels = [project, mission, task].filter((level) => level !== null)
  const first = levels.findLastIndex(({ inherit }) => !inherit)
  const merged = levels.slice(Math.max(first, 0)).reduce<DoneWhen>(addToDoneWhen, noDoneWhen)
  return { ...merged, inherit: true, removed: task?.removed ?? [] }
}

/** The promises of project and mission that agents left out, with `inherit: false` or an empty list of changes. */
export function promisesLeftOut(
  project: DoneWhen | null,
  mission: DoneWhen | null,
  task: DoneWhen | null,
): readonly Promised[] {
  const [ownMission, ownTask] = [mission, task].map((level) => level && withoutExclusions(level))
  const whole = mergeDoneWhen(project, ownMission ?? null, ownTask ?? null)
  const lost = promisesLost(whole, mergeDoneWhen(project, mission, task))
  return lost.filter(({ text }) => text !== aChange)
}

function withoutExclusions(level: DoneWhen): DoneWhen {
  if (level.byPerson) return level
  const { changes, ...rest } = level
  return { ...rest, inherit: true, ...(changes && changes.length > 0 && { changes }) }
}

export function isEmptyDoneWhen({ criteria, check, changes, keeps, inherit, removed }: DoneWhen): boolean {
  return (
    criteria.length + check.length + keeps.length + removed.length === 0 && changes === undefined && inherit
  )
}

/** The field of a new task or mission. */
export function newDoneWhen(
  changes: DoneWhenChanges | null | undefined,
  { kind }: Pick<Actor, 'kind'>,
): { readonly doneWhen?: DoneWhen } {
  const doneWhen = { ...noDoneWhen, ...changes }
  return isEmptyDoneWhen(doneWhen) ? {} : { doneWhen: givenBy(doneWhen, kind === 'person') }
}

function givenBy({ byPerson: _, ...doneWhen }: DoneWhen, isPerson: boolean): DoneWhen {
  return isPerson ? { ...doneWhen, byPerson: true } : doneWhen
}

/** The promises without what was removed, which does not travel with a plan. */
export function givenPromises({ removed: _, byPerson: __, ...promises }: DoneWhen): DoneWhenChanges {
  return promises
}

/** The author of an edit, and when it is made. */
export interface DoneWhenEdit {
  readonly taskId: string
  /** Whether an attempt at the task has begun. */
  readonly started: boolean
  readonly author: string
  readonly isPerson: boolean
  readonly at: number
}

/** Once the task has started, or a person gave them, only a person may remove; what was removed since its start is kept. */
export function editDoneWhen(before: DoneWhen, after: DoneWhen, edit: DoneWhenEdit): DoneWhen {
  const isFixed = edit.started || before.byPerson === true
  const [first] = isFixed && !edit.isPerson ? promisesLost(before, after) : []
  if (first) throw removalFailure(edit, first)
  const lost = edit.started ? promisesLost(before, after) : []
  const kept = before.removed.filter(({ list, text }) => !promisesOf(after, list).includes(text))
  const removed = lost.map(({ list, text }) => ({ list, text, author: edit.author, removedAt: edit.at }))
  const isOfPerson = edit.isPerson || before.byPerson === true
  return givenBy({ ...after, removed: [...kept, ...removed] }, isOfPerson)
}

export type Promised = Pick<RemovedPromise, 'list' | 'text'>

/** The promises of the one that the other lacks or weakens. */
function promisesLost(before: DoneWhen, after: DoneWhen): readonly Promised[] {
  return promiseLists.flatMap((list) => {
    const still = new Set(promisesOf(after, list))
    const lost = promisesOf(before, list).filter((text) => !still.has(text))
    return [...lost, ...(list === 'check' ? shorterTimeouts(before, after) : [])].map((text) => ({
      list,
      text,
    }))
  })
}

/** Checks that may take less time than before: what is still running then says nothing. */
function shorterTimeouts(before: DoneWhen, after: DoneWhen): readonly string[] {
  const limits = new Map(after.check.map((check) => [checkText(check), check.timeout]))
  return before.check.flatMap((check) => {
    const limit = limits.get(checkText(check))
    return limit === undefined || limit >= check.timeout
      ? []
      : [`${checkText(check)} (timeout: ${durationText(check.timeout)})`]
  })
}

/** A check with its pinned files: with others, it needs another approval. */
function checkText({ run, pinned }: TaskCheck): string {
  return pinned.length === 0 ? run : `${run} (pinned: ${pinned.toSorted().join(', ')})`
}

/** Each promise of a list as a text. */
function promisesOf(
  { criteria, check, changes, keeps, inherit }: DoneWhen,
  list: PromiseList,
): readonly string[] {
  switch (list) {
    case 'criteria':
      return criteria
    case 'check':
      return check.map(checkText)
    case 'changes':
      // An empty list promises nothing that could be broken: it says that no change is needed.
      return changes?.length === 0 ? [] : [...(changes ?? []), aChange]
    case 'keeps':
      return keeps
    case 'inherit':
      return inherit ? ['true'] : []
  }
}

/** Every task promises a change, unless its list of changes is empty. */
const aChange = 'a change'

function removalFailure({ taskId, started }: DoneWhenEdit, { list, text }: Promised): Failure {
  const why = started ? 'it has started' : 'a person gave it'
  return new Failure(
    'REFUSED',
    `Cannot remove "${excerpt(text, 120)}" from ${list} of task ${taskId}: ${why}. Agents may only add then.`,
    {
      reason: 'done_when_fixed',
      hint: hintOf`Give the whole list with ${callTo('taskman_task_edit', { id: taskId, done_when: undefined })}, or ask a person to remove it.`,
      details: { task_id: taskId, list, text },
    },
  )
}

/** As people write it: without empty lists and defaults. */
export function doneWhenJson(doneWhen: DoneWhenChanges) {
  const { criteria, check, changes, keeps, inherit } = { ...noDoneWhen, ...doneWhen }
  return {
    ...(criteria.length > 0 && { criteria: [...criteria] }),
    ...(check.length > 0 && { check: check.map(checkJson) }),
    ...(changes && { changes: [...changes] }),
    ...(keeps.length > 0 && { keeps: [...keeps] }),
    ...(!inherit && { inherit: false as const }),
  }
}

function checkJson({ run, pinned, timeout }: TaskCheck) {
  if (pinned.length === 0 && timeout === defaultTimeout) return run
  return {
    run,
    ...(pinned.length > 0 && { pinned: [...pinned] }),
    ...(timeout !== defaultTimeout && { timeout: durationText(timeout) }),
  }
}

function durationText(milliseconds: number): string {
  if (milliseconds % 3_600_000 === 0) return `${milliseconds / 3_600_000}h`
  return milliseconds % 60_000 === 0 ? `${milliseconds / 60_000}m` : `${milliseconds / 1_000}s`
}

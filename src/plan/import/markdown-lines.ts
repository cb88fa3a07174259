import type { DocumentStatus } from '../domain/document.ts'

/** A task whose subtasks and description may still follow. */
interface MarkdownTask extends RawTask {
  readonly indent: number
  readonly after: { readonly line: number; readonly text: string }[]
  readonly description: string[]
}

interface StatusMark {
  readonly status: DocumentStatus
  readonly dropped: boolean
}

const marks: Readonly<Record<string, StatusMark>> = {
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
  const tasks: MarkdownTask[] = []
  const notices: LineNotice[] = []
  const withProse = new Set<RawHeading>()
  const silent = new Set<number>()
  const entries: number[] = []
  /** The current task and its parents, outermost first. */
  let open: MarkdownTask[] = []
  let heading: RawHeading | null = null
  let milestone: RawMilestone | null = null

  const owner = (indent: number): MarkdownTask | undefined => {
    open = open.filter((task) => task.indent < indent)
    return open.at(-1)
  }
  const addNotice = (line: number, problem: string): void => {
    notices.push({ line, text: problem })
  }
  const noticeProse = (line: number): void => {
    if (heading) withProse.add(heading)
    addNotice(line, 'left out: text outside any task')
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
        if (title === '') addNotice(line, 'left out: a heading without text')
        else headings.push(heading)
        open = []
        milestone = null
        return
      }
      case 'milestone': {
        open = []
        if (!heading) {
          addNotice(line, 'left out: a milestone before the first heading, and so without a phase')
          return
        }
        milestone = milestoneOf(found, { line, heading })
        if (milestone.name === '') addNotice(line, 'left out: a milestone without a name')
        else milestones.push(milestone)
        return
      }
      case 'task': {
        const { title, key, role, after, repeated } = attributesOf(found.text)
        const parent = owner(found.indent) ?? null
        if (title === '') {
          addNotice(line, 'left out: a checkbox without text')
          return
        }
        const marked = marks[found.mark]
        if (!marked) addNotice(line, `the mark "[${found.mark}]" is unknown; the task counts as to do`)
        for (const name of repeated) addNotice(line, `a second ${name}; the last one counts`)
        const task: MarkdownTask = {
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
        else noticeProse(line)
        return
      }
      case 'text': {
        const task = owner(found.indent)
        if (task) task.description.push(raw)
        else if (found.isEntry) {
          if (heading) withProse.add(heading)
          entries.push(line)
        } else noticeProse(line)
        return
      }
    }
  }

  const lines = linesOf(text)
  const withBoxes = lines.some(({ found }) => found.kind === 'task')
  /** Tasks without a checkbox. */
  const plain = new Set<MarkdownTask>()
  // With checkboxes, a bullet is text; a number is a step of its checkbox task, else a task.
  const isTask = ({ indent, number }: ListItem): boolean =>
    !withBoxes ||
    (number !== null && open.filter((task) => task.indent < indent).every((task) => plain.has(task)))
  for (const { found, line, raw } of lines) {
    take(planLineOf(found, isTask), { line, raw })
    const latest = open.at(-1)
    if (found.kind === 'item' && latest?.line === line) plain.add(latest)
  }
  return { headings, milestones, tasks: collectTasks(tasks, milestones), notices, entries, withProse, silent }
}

interface MarkdownLine {
  readonly found: SourceLine
  readonly line: number
  readonly raw: string
}

/** The kind of each line by its form; lines within a fence are text. */
function linesOf(text: string): readonly MarkdownLine[] {
  let fence: string | null = null
  return withoutComments(text.replace(/^\ufeff/, ''))
    .split(/\r\n|\n|\r/)
    .map((raw, index) => {
      const mark = /^\s*(`{3,}|~{3,})/.exec(raw)?.[1] ?? null
      const inside = fence !== null
      if (fence === null) fence = mark
      else if (mark?.startsWith(fence)) fence = null
      const found =
        inside || mark !== null ? { kind: 'text' as const, ...measureIndent(raw) } : sourceLine(raw)
      const blank = found.kind === 'text' && found.text === ''
      return { found: blank ? { kind: 'blank' } : found, line: index + 1, raw }
    })
}

type PlanLine = Exclude<SourceLine, { kind: 'item' }>

type ListItem = Extract<SourceLine, { kind: 'item' }>

function planLineOf(found: SourceLine, isTask: (item: ListItem) => boolean): PlanLine {
  if (found.kind !== 'item') return found
  const { indent, number, text } = found
  return isTask(found)
    ? { kind: 'task', indent, mark: ' ', number, text }
    : { kind: 'text', indent, text, isEntry: true }
}

function milestoneOf(
  { text, reached }: Extract<SourceLine, { kind: 'milestone' }>,
  { line, heading }: { readonly line: number; readonly heading: RawHeading },
): RawMilestone {
  const { title, key } = attributesOf(text)
  const [, name = title, criterion = null] = /^(.+?)(?:\s+(?:—|–|--?)\s+|:\s+)(.+)$/.exec(title) ?? []
  return { line, heading, name, criterion, key, reached }
}

/** A milestone without tasks below it gathers the tasks of its phase above it that have none. */
function collectTasks(tasks: MarkdownTask[], milestones: readonly RawMilestone[]): readonly RawTask[] {
  const followed = new Set(tasks.map((task) => task.milestone))
  const free = Map.groupBy(
    tasks.filter((task) => task.milestone === null),
    ({ heading }) => heading,
  )
  const next = new Map<RawHeading, number>()
  for (const milestone of milestones) {
    if (followed.has(milestone)) continue
    const below = free.get(milestone.heading) ?? []
    let at = next.get(milestone.heading) ?? 0
    for (let task = below[at]; task !== undefined && task.line < milestone.line; task = below[at]) {
      task.milestone = milestone
      at += 1
    }
    next.set(milestone.heading, at)
  }
  return tasks
}

/** The parsed lines of a plan, before keys and references are resolved. */
export interface RawPlan {
  readonly headings: readonly RawHeading[]
  readonly milestones: readonly RawMilestone[]
  readonly tasks: readonly RawTask[]
  readonly notices: readonly LineNotice[]
  /** Lines of list entries outside any task, where tasks have checkboxes. */
  readonly entries: readonly number[]
  /** Headings with text that belongs to no task. */
  readonly withProse: ReadonlySet<RawHeading>
  /** Empty lines and rules. */
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

interface RawMilestone {
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

/** A title without its attributes. */
interface Attributes {
  readonly title: string
  readonly key: string | null
  readonly role: string | null
  /** The references to dependencies, as written. */
  readonly after: readonly string[]
  /** Repeated attributes; the last one counts. */
  readonly repeated: readonly string[]
}

type Attribute = 'key' | 'role' | 'after'

const endings: readonly (readonly [Attribute, RegExp])[] = [
  ['after', /(?:^|\s)\((?:after|depends on):\s*((?:[^()]|\([^()]*\))*)\)$/i],
  ['key', /(?:^|\s)\((?:id|key):\s*([^()]+)\)$/i],
  ['role', /(?:^|\s)\(role:\s*([^()]+)\)$/i],
  // After `after:` or a comma it references another task.
  [
    'key',
    /(?<!(?:after|depends on):\s*|,\s*)(?:^|\s)(?<!(?:after|depends on):\s*|,\s*)#(?=[\p{N}_.-]*\p{L})([\p{L}\p{N}_.-]+)$/iu,
  ],
  ['key', /\sid:\s*([^\s,()]+)$/i],
  ['role', /(?:^|\s)@(\p{L}[\p{L}\p{N}_-]*)$/u],
  ['after', /\s(?:[—–-]\s*)?(?:after|depends on):\s*(.+)$/i],
]

/** The attributes at the end of a line. */
const maxAttributes = 12

/** Removes attributes from the end, one by one, until only the title is left. */
function attributesOf(line: string): Attributes {
  const found: Record<Attribute, string[]> = { key: [], role: [], after: [] }
  let title = line.replace(/\s+/g, ' ').trim()
  for (let taken = 0; taken < maxAttributes; taken += 1) {
    const ending = endings.find(([, pattern]) => pattern.test(title))
    if (!ending) break
    const [attribute, pattern] = ending
    found[attribute].push(pattern.exec(title)?.[1]?.trim() ?? '')
    title = title.replace(pattern, '').trimEnd()
  }
  return {
    title: unwrapTitle(title),
    key: found.key[0] ?? null,
    role: found.role[0] ?? null,
    after: found.after.filter((text) => text !== '').reverse(),
    repeated: (['key', 'role'] as const).filter((name) => found[name].length > 1),
  }
}

/** Without bold marks; `\#` and `\@` belong to the title. */
function unwrapTitle(title: string): string {
  const inner = /^__(.+)__$/.exec(title)?.[1]
  const whole = inner === undefined || inner.includes('__') ? title : inner
  return whole
    .replace(/\*\*(?=[^\s*])([^*]+)(?<=\S)\*\*/g, '$1')
    .replace(/\\([#@])/g, '$1')
    .trim()
}

/** The kind of a Markdown line by its form. Indents are columns; a tab reaches the next multiple of four. */
type SourceLine =
  | { readonly kind: 'blank' }
  | { readonly kind: 'rule' }
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | {
      readonly kind: 'task'
      readonly indent: number
      readonly mark: string
      readonly number: string | null
      readonly text: string
    }
  /** Of a list without checkboxes. */
  | {
      readonly kind: 'item'
      readonly indent: number
      readonly number: string | null
      readonly text: string
    }
  | { readonly kind: 'milestone'; readonly reached: boolean; readonly text: string }
  | { readonly kind: 'after'; readonly indent: number; readonly text: string; readonly after: string }
  | { readonly kind: 'text'; readonly indent: number; readonly text: string; readonly isEntry?: true }

const heading = /^(#{1,6})(?: (.*))?$/
const checkbox = /^(?:[-*+]|(\d{1,9})[.)])\s+\[([^\]]?)\](?:\s+(.*))?$/
const item = /^(?:[-*+]|(\d{1,9})[.)])\s+(.+)$/
const milestone =
  /^(?:[-*+]\s+)?(?:\[([ xX])\]\s+)?(?:\*\*milestone:?\*\*:?|__milestone:?__:?|milestone:)\s*(.*)$/i
const after = /^(?:[-*+]\s+)?\(?(?:after|depends on):\s*(.*?)\)?$/i

/** The length limit of a title, in characters, since parsing takes quadratic time. */
const maxLineLength = 4_000

function sourceLine(line: string): SourceLine {
  const { indent, text } = measureIndent(line)
  if (text === '') return { kind: 'blank' }
  if (text.length > maxLineLength) return { kind: 'text', indent, text }
  if (/^([-*_])(?:\s*\1){2,}$/.test(text)) return { kind: 'rule' }
  const head = indent < 4 ? heading.exec(text.replace(/\s+/g, ' ')) : null
  if (head)
    return { kind: 'heading', level: head[1]?.length ?? 1, text: head[2]?.replace(/(?:^| )#+$/, '') ?? '' }
  const goal = milestone.exec(text)
  if (goal) return { kind: 'milestone', reached: (goal[1] ?? ' ') !== ' ', text: goal[2] ?? '' }
  const box = checkbox.exec(text)
  if (box) {
    const [, number = null, mark = '', title = ''] = box
    return { kind: 'task', indent, mark, number, text: title.trim() }
  }
  const dependencies = after.exec(text)
  if (dependencies && indent > 0) return { kind: 'after', indent, text, after: dependencies[1] ?? '' }
  const entry = item.exec(text)
  if (entry) return { kind: 'item', indent, number: entry[1] ?? null, text: entry[2] ?? '' }
  return { kind: 'text', indent, text }
}

function measureIndent(line: string): { readonly indent: number; readonly text: string } {
  let indent = 0
  for (const sign of line) {
    if (sign === '\t') indent += 4 - (indent % 4)
    else if (sign === ' ') indent += 1
    else break
  }
  return { indent, text: line.trim() }
}

/** Blanks HTML comments and keeps the line numbers. An unclosed comment is text. */
function withoutComments(text: string): string {
  const keptLines: string[] = []
  let at = 0
  for (;;) {
    const start = text.indexOf('<!--', at)
    const end = start === -1 ? -1 : text.indexOf('-->', start + 4)
    if (end === -1) return keptLines.join('') + text.slice(at)
    keptLines.push(text.slice(at, start), text.slice(start, end + 3).replace(/[^\r\n]/g, ' '))
    at = end + 3
  }
}

import { LineCounter, parseDocument } from 'yaml'
import type { z } from 'zod'
import { isJsonObject } from '../../kernel/json.ts'
import type { DocumentMilestone, DocumentNote, DocumentTask } from '../domain/document.ts'
import {
  foreignRecord,
  foreignText,
  foreignTexts,
  instantOfText,
  maybeText,
  type ReadFields,
  readFields,
  unreadFields,
} from './fields.ts'
import {
  criteriaOf,
  type DescriptionPart,
  descriptionText,
  distinctIds,
  done,
  doneWhenFrom,
  dropped,
  type ForeignStatus,
  foreignStatus,
  inProgress,
  keyGiver,
  phaseStatusOfTasks,
  type StatusAliases,
  toDo,
  unknownStatus,
} from './foreign-task.ts'
import { type ImportResult, importResultOf, type SourceText } from './import-result.ts'

/** The phase for everything in a Backlog.md folder. */
const phase = 'backlog'

/** Reads a Backlog.md folder: `tasks`, `completed`, `archive/tasks` (dropped unless done) and `milestones`. Drafts are reported. */
export function readBacklog(files: readonly SourceText[]): ImportResult {
  const problems: string[] = []
  const notices = files
    .filter(({ path }) => backlogKind(path) === 'draft')
    .map(({ path }) => `${path}: left out: it is a draft.`)
  const milestoneFiles = files
    .filter(({ path }) => backlogKind(path) === 'milestone')
    .flatMap((file) => backlogFile(milestoneFields, file, problems) ?? [])
  const taskFiles = files
    .filter(({ path }) => ['task', 'completed', 'archived'].includes(backlogKind(path)))
    .flatMap((file) => backlogFile(taskFields, file, problems) ?? [])
  const foreign = taskFiles.map((file) => backlogTask(file, notices)).sort(compareTasks)
  const { milestones, keyOf } = milestonesOf(milestoneFiles, {
    phase,
    named: foreign.flatMap(({ milestone }) => milestone ?? []),
  })
  const { keys, notices: renamed } = distinctIds(foreign)
  notices.push(...renamed)
  const names = { keyOf, idOf: taskNames(foreign), notices }
  const tasks = foreign.map((task, at) => ({ ...documentTask(task, names), key: keys[at] ?? task.id }))
  const used = milestones.map((found) => withProgress(found, tasks))
  return importResultOf({
    document: {
      phases:
        tasks.length + milestones.length === 0
          ? []
          : [
              {
                key: phase,
                name: 'Backlog',
                status: phaseStatusOfTasks(tasks),
                sortOrder: null,
                foreignId: null,
              },
            ],
      milestones: used,
      tasks,
    },
    places: {
      phases: [phase],
      milestones: milestones.map(({ key }) => key),
      tasks: foreign.map(({ place }) => place),
    },
    problems,
    notices: [...notices, ...unreadFields([...milestoneFiles, ...taskFiles])],
  })
}

/** By number; among files with one id, the active one comes first, and references mean it. */
function compareTasks(one: BacklogTask, other: BacklogTask): number {
  const rank = ({ kind }: BacklogTask): number => ['task', 'completed', 'archived'].indexOf(kind)
  return (
    one.id.localeCompare(other.id, 'en', { numeric: true, sensitivity: 'accent' }) || rank(one) - rank(other)
  )
}

interface BacklogNames {
  readonly keyOf: (milestone: string) => string
  readonly idOf: (name: string) => string | null
  readonly notices: string[]
}

function documentTask(task: BacklogTask, { keyOf, idOf, notices }: BacklogNames): DocumentTask {
  const { id, place, kind: _, milestone, parent, dependsOn, ...rest } = task
  const resolve = (relation: string, name: string): readonly string[] => {
    const found = idOf(name)
    if (found === null)
      notices.push(`${place}: left out: the ${relation} ${name}, which is not among the files.`)
    return found === null ? [] : [found]
  }
  return {
    ...rest,
    key: id,
    phase,
    milestone: milestone === null ? null : keyOf(milestone),
    parent: parent === null ? null : (resolve('parent', parent)[0] ?? null),
    dependsOn: [...new Set(dependsOn.flatMap((name) => resolve('dependency on', name)))],
    foreignId: id,
  }
}

/** Backlog.md does not store it: a milestone is reached when it has tasks and all are done. */
function withProgress(milestone: DocumentMilestone, tasks: readonly DocumentTask[]): DocumentMilestone {
  const own = tasks.filter((task) => task.milestone === milestone.key)
  return { ...milestone, reached: own.length > 0 && own.every(({ status }) => status === 'done') }
}

/** The kind of a file, by its folder. */
type BacklogKind = 'task' | 'completed' | 'archived' | 'draft' | 'milestone' | 'other'

const taskFields = foreignRecord({
  id: foreignText,
  title: foreignText,
  status: maybeText,
  type: maybeText,
  assignee: foreignTexts,
  reporter: maybeText,
  labels: foreignTexts,
  priority: maybeText,
  references: foreignTexts,
  documentation: foreignTexts,
  milestone: maybeText,
  parent_task_id: maybeText,
  parent: maybeText,
  ordinal: maybeText,
  dependencies: foreignTexts,
  created_date: maybeText,
  updated_date: maybeText,
})

const milestoneFields = foreignRecord({ id: foreignText, title: maybeText })

interface BacklogFile<Fields> extends ReadFields<Fields> {
  readonly kind: BacklogKind
  readonly sections: readonly BacklogSection[]
}

type TaskFile = BacklogFile<z.output<typeof taskFields>>
type MilestoneFile = BacklogFile<z.output<typeof milestoneFields>>

/** Null, with a problem, when the file cannot be read. */
function backlogFile<Fields>(
  schema: z.ZodType<Fields>,
  { path, text }: SourceText,
  problems: string[],
): BacklogFile<Fields> | null {
  const found = frontMatter(text)
  if (!found.readable) {
    problems.push(`${path}: ${found.problem}.`)
    return null
  }
  return {
    ...readFields(schema, withoutEmpty(found.value.fields), { place: path, problems }),
    kind: backlogKind(path),
    sections: sections(found.value.body),
  }
}

/** An empty `milestone:` means none. */
function withoutEmpty(fields: unknown): unknown {
  if (!isJsonObject(fields)) return fields
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
}

function backlogKind(path: string): BacklogKind {
  const folders = path.replaceAll('\\', '/').toLowerCase().split('/').slice(0, -1)
  if (!path.toLowerCase().endsWith('.md') || /(^|[\\/])readme\.md$/i.test(path)) return 'other'
  const has = (name: string): boolean => folders.includes(name)
  if (has('milestones')) return 'milestone'
  if (has('drafts')) return 'draft'
  if (has('archive')) return has('tasks') ? 'archived' : 'other'
  if (has('completed')) return 'completed'
  return has('tasks') ? 'task' : 'other'
}

interface FrontMatter {
  /** Every scalar is a text: `milestone: 1.0` and `id: 007` stay unchanged. */
  readonly fields: unknown
  readonly body: string
}

type FrontMatterResult =
  | { readonly readable: true; readonly value: FrontMatter }
  | { readonly readable: false; readonly problem: string }

/** Splits a Markdown file into the YAML between its first `---` lines and the rest. */
function frontMatter(text: string): FrontMatterResult {
  const [, yaml, body = ''] =
    /^\ufeff?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n([\s\S]*))?$/m.exec(text) ?? []
  if (yaml === undefined)
    return { readable: false, problem: 'it has no front matter between two lines of ---' }
  const lineCounter = new LineCounter()
  const document = parseDocument(quoteYamlNames(yaml), {
    lineCounter,
    prettyErrors: false,
    schema: 'failsafe',
  })
  const [error] = document.errors
  if (error) {
    const { line } = lineCounter.linePos(error.pos[0])
    return { readable: false, problem: `its front matter is not YAML: line ${line + 1}: ${error.message}` }
  }
  return { readable: true, value: { fields: document.toJS({ maxAliasCount: 100 }), body } }
}

/** `assignee: @ann` and `- @ann`, which Backlog.md writes and YAML forbids. */
function quoteYamlNames(yaml: string): string {
  return yaml
    .split('\n')
    .map((line) =>
      /^\s*(?:(?:assignee|reporter):|- +@)/.test(line)
        ? line.replace(/(^|[\s[,])(@[^\s,\]"']+)/g, '$1"$2"')
        : line,
    )
    .join('\n')
}

/** The sections of a task's text by `## ` heading, without Backlog.md's markers. */
interface BacklogSection {
  /** Null before the first heading. */
  readonly title: string | null
  readonly text: string
}

const marker =
  /^\s*<!--\s*(?:SECTION:[A-Z_]+|AC|DOD|COMMENTS?|DESCRIPTION|PLAN|NOTES)\s*:\s*(?:BEGIN|END)\s*-->\s*$/

function sections(body: string): readonly BacklogSection[] {
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

/** A task whose references are unresolved. */
interface BacklogTask extends Omit<DocumentTask, 'key' | 'phase' | 'foreignId'> {
  readonly id: string
  readonly place: string
  readonly kind: BacklogKind
}

/** Sections about finished rather than planned work. */
const noteKinds: ReadonlyMap<string, string> = new Map([
  ['implementation notes', 'implementation_notes'],
  ['final summary', 'final_summary'],
  ['comments', 'comments'],
])

function backlogTask(file: TaskFile, notices: string[]): BacklogTask {
  const { fields, place, sections } = file
  const word = fields.status ?? ''
  const { status, resolution, keepWord } = statusOf(file, word, notices)
  const instant = (name: 'created_date' | 'updated_date'): number | null => {
    const text = fields[name]
    const at = text === null ? null : instantOfText(text)
    if (text !== null && at === null)
      notices.push(`${place}: left out: the ${name} "${text}", which is not a date.`)
    return at
  }
  const lists = sections.filter(isCriteriaSection)
  const parts = sections.filter(
    (section) => noteKind(section.title) === undefined && !lists.includes(section),
  )
  return {
    id: fields.id,
    place,
    kind: file.kind,
    title: fields.title,
    description: descriptionText([
      ...parts.flatMap(({ title, text }): DescriptionPart[] => [
        { title: title === null || title.toLowerCase() === 'description' ? null : title, text },
      ]),
      { title: 'Type', text: fields.type },
      { title: 'Assignee', text: fields.assignee.join(', ') },
      { title: 'Labels', text: fields.labels.join(', ') },
      { title: 'Priority', text: fields.priority },
      { title: 'References', text: [...fields.references, ...fields.documentation].join(', ') },
      { title: 'Status in Backlog.md', text: keepWord ? word : null },
    ]),
    milestone: fields.milestone,
    parent: fields.parent_task_id ?? fields.parent,
    role: null,
    assignee: null,
    areas: [],
    ...doneWhenFrom(lists.flatMap(({ text }) => criteriaOf(text) ?? [])),
    status,
    resolution,
    sortOrder: ordinal(fields.ordinal),
    dependsOn: fields.dependencies,
    notes: sections.flatMap(({ title, text }): DocumentNote[] => {
      const kind = noteKind(title)
      return kind === undefined ? [] : [{ content: text, kind, role: null, author: null, createdAt: null }]
    }),
    creator: fields.reporter,
    createdAt: instant('created_date'),
    updatedAt: instant('updated_date'),
  }
}

const criteriaTitles = ['acceptance criteria', 'definition of done']

/** Whether a section is a list of criteria; other text below such a title stays in the description. */
function isCriteriaSection({ title, text }: BacklogSection): boolean {
  return criteriaTitles.includes(title?.toLowerCase() ?? '') && criteriaOf(text) !== null
}

function noteKind(title: string | null): string | undefined {
  return noteKinds.get(title?.toLowerCase() ?? '')
}

function statusOf({ kind, place }: TaskFile, word: string, notices: string[]): ForeignStatus {
  const found = foreignStatus(backlogStatuses, word)
  if (kind === 'archived') return found?.status === 'done' ? found : dropped
  if (kind === 'completed') return found?.status === 'done' ? found : done
  if (found) return found
  if (word !== '') notices.push(unknownStatus(place, word))
  return { ...toDo, keepWord: true }
}

function ordinal(text: string | null): number | null {
  const number = text === null ? Number.NaN : Number(text)
  return Number.isFinite(number) ? number : null
}

/** Backlog.md's own three statuses, and common custom ones. */
const backlogStatuses: StatusAliases = {
  todo: toDo,
  open: toDo,
  backlog: { ...toDo, keepWord: true },
  blocked: { ...toDo, keepWord: true },
  inprogress: inProgress,
  doing: inProgress,
  review: { ...inProgress, keepWord: true },
  inreview: { ...inProgress, keepWord: true },
  testing: { ...inProgress, keepWord: true },
  done,
  completed: done,
  closed: done,
  cancelled: dropped,
  canceled: dropped,
  wontdo: dropped,
}

interface BacklogMilestones {
  readonly milestones: readonly DocumentMilestone[]
  /** The key of a milestone that a task names by id or title. */
  readonly keyOf: (name: string) => string
}

/** The milestones with a file, and those that only tasks name. */
function milestonesOf(
  files: readonly MilestoneFile[],
  { phase, named }: { readonly phase: string; readonly named: readonly string[] },
): BacklogMilestones {
  const milestones = files.map(({ fields, sections }): DocumentMilestone => {
    const id = fields.id
    const name = fields.title
    const criterion = sections.map(({ text }) => text).join('\n\n') || null
    return { key: id, phase, name, criterion, reached: false, foreignId: id }
  })
  const keys = new Map(
    milestones.flatMap(({ key, name }) =>
      [name ?? key, key].map((word) => [normalizeName(word), key] as const),
    ),
  )
  const giveKey = keyGiver(milestones.map(({ key }) => key))
  const unfiled: DocumentMilestone[] = []
  for (const name of named) {
    if (keys.has(normalizeName(name))) continue
    const key = giveKey(name)
    keys.set(normalizeName(name), key)
    unfiled.push({ key, phase, name, criterion: null, reached: false, foreignId: null })
  }
  return { milestones: [...milestones, ...unfiled], keyOf: (name) => keys.get(normalizeName(name)) ?? name }
}

function normalizeName(name: string): string {
  return name.trim().toLowerCase()
}

/** Resolves a reference: `task-7`, `TASK-7` and `7` are the same, and `BACK-7` if no other task has that number. */
export function taskNames(tasks: readonly { readonly id: string }[]): (name: string) => string | null {
  const whole = new Map(tasks.toReversed().map(({ id }) => [id.toLowerCase(), id]))
  const numbered = Map.groupBy(whole.values(), numberOf)
  return (name) => {
    const exact = whole.get(name.trim().toLowerCase())
    if (exact !== undefined) return exact
    const number = numberOf(name)
    const [one, ...more] = number === null ? [] : (numbered.get(number) ?? [])
    return one !== undefined && more.length === 0 ? one : null
  }
}

function numberOf(id: string): string | null {
  return /^(?:\p{L}+-?)?(\d+(?:\.\d+)*)$/u.exec(id.trim())?.[1] ?? null
}

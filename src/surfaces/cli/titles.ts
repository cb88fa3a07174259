import { Failure } from '../../kernel/failure.ts'
import type { OutputOf } from '../../kernel/operations/catalog.ts'
import type { Answer, Operation } from '../../kernel/operations/operation.ts'
import { quoteShellWord } from '../../kernel/shell-word.ts'

type SearchAnswer = OutputOf<'search'>
type TitleKind = keyof SearchAnswer

export type TitleSearch = (words: string) => Promise<SearchAnswer>

/** The kinds that `id` can name; the other fields are named after theirs. */
const kindsOfId: Readonly<Record<string, readonly TitleKind[]>> = {
  show: ['tasks', 'missions'],
  changes: ['tasks'],
  diff: ['tasks', 'missions'],
  undo: ['tasks'],
  restore: ['tasks'],
  mission_changes: ['missions'],
  mission_timeline: ['missions'],
  task_drop: ['tasks'],
  taskman_task_get: ['tasks'],
  taskman_task_edit: ['tasks'],
  taskman_task_note_add: ['tasks'],
  taskman_task_note_list: ['tasks'],
}

const kindsOfField: Readonly<Record<string, readonly TitleKind[]>> = {
  task_id: ['tasks'],
  'task-id': ['tasks'],
  'dep-id': ['tasks'],
  planned_task_id: ['tasks'],
  parent_task_id: ['tasks'],
  mission_id: ['missions'],
  task: ['tasks'],
  mission: ['missions'],
}

/** Replaces titles by ids: `waymark show "Draw the map"`. A command that changes something needs the whole title. */
export async function resolveTitles(
  operation: Operation,
  input: Answer,
  search: TitleSearch,
): Promise<Answer> {
  const resolved: Record<string, unknown> = { ...input }
  for (const [field, value] of Object.entries(input)) {
    if (field === 'depends_on' && Array.isArray(value)) {
      resolved[field] = await Promise.all(value.map((one) => dependencyNamed(one, search)))
      continue
    }
    const kinds = kindsOf(operation.name, field)
    if (kinds === undefined || typeof value !== 'string' || isId(value) || value === 'none') continue
    const id = await idOfTitle(
      value,
      { kinds, isWhole: operation.kind === 'command', otherCommand: otherCommands[operation.name] },
      search,
    )
    // `waymark report "<title>"` may name a task as well.
    const isTask = operation.name === 'report' && field === 'mission' && id.startsWith('t-')
    if (isTask) delete resolved[field]
    resolved[isTask ? 'task' : field] = id
  }
  return resolved
}

function dependencyNamed(value: unknown, search: TitleSearch): unknown {
  return typeof value !== 'string' || isId(value)
    ? value
    : idOfTitle(value, { kinds: ['tasks'], isWhole: true }, search)
}

function kindsOf(operation: string, field: string): readonly TitleKind[] | undefined {
  if (field === 'id') return kindsOfId[operation]
  if (operation === 'verify' && field === 'run_id') return ['tasks']
  return operation === 'report' && field === 'mission' ? ['missions', 'tasks'] : kindsOfField[field]
}

/** Whether a command takes a title for the id in a field. */
export function takesTitle(operation: string, field: string): boolean {
  return kindsOf(operation, field) !== undefined
}

function isId(value: string): boolean {
  return /^[a-z]{1,3}-[0-9a-z-]*$/.test(value)
}

const maxListed = 5

/** The command that takes a title of the other kind, where it is not `show`. */
const otherCommands: Readonly<Record<string, string>> = {
  changes: 'mission changes',
  mission_changes: 'changes',
}

interface TitleOptions {
  readonly kinds: readonly TitleKind[]
  readonly isWhole: boolean
  readonly otherCommand?: string | undefined
}

/** The id of the only task or mission with this title; unchanged if there is none. */
export async function idOfTitle(
  title: string,
  { kinds, isWhole, otherCommand = 'show' }: TitleOptions,
  search: TitleSearch,
): Promise<string> {
  const answer = await search(title)
  const found = kinds.flatMap((kind) => answer[kind])
  if (found.some(({ id }) => id === title)) return title
  const isSame = ({ name }: { readonly name: string }) => name.toLowerCase() === title.trim().toLowerCase()
  const same = found.filter(isSame)
  // A whole title of the other kind is no part of this one's.
  const other = (['missions', 'tasks'] as const).find(
    (kind) => !kinds.includes(kind) && answer[kind].some(isSame),
  )
  if (same.length === 0 && other !== undefined) {
    throw new Failure('NOT_FOUND', `"${title}" is a ${nouns([other])}, not a ${nouns(kinds)}.`, {
      reason: 'title_of_other_kind',
      hint: `waymark ${otherCommand} ${quoteShellWord(title)}`,
    })
  }
  const named = same.length > 0 || isWhole ? same : found
  const kept = named.filter(({ status }) => status !== 'dropped')
  const fitting = kept.length > 0 ? kept : named
  const [only, ...others] = fitting
  if (only === undefined) {
    const [near] = found
    if (near === undefined) return title
    throw new Failure('NOT_FOUND', `There is no ${nouns(kinds)} with the title "${title}".`, {
      reason: 'title_not_found',
      hint: `Did you mean ${listFound(found)}?`,
    })
  }
  if (others.length === 0) return only.id
  throw new Failure('INVALID_INPUT', `"${title}" matches ${fitting.length} ${kinds.join(' or ')}.`, {
    reason: 'title_ambiguous',
    hint: `Pass the id instead:\n${fitting
      .slice(0, maxListed)
      .map(({ id, name, status }) => `${id}  ${name}  ${status.replace(/_/g, ' ')}`)
      .join('\n')}`,
  })
}

function listFound(found: SearchAnswer['tasks']): string {
  const names = found.slice(0, maxListed).map(({ id, name }) => `${id} "${name}"`)
  return `${names.join(', ')}${found.length > maxListed ? ` and ${found.length - maxListed} more` : ''}`
}

function nouns(kinds: readonly TitleKind[]): string {
  return kinds.map((kind) => kind.slice(0, -1)).join(' or ')
}

/**
 * `task start "<title>"` starts the unfinished task with exactly this title, also a claimed one; an id works too. Without
 * one it is the name of a new task. Fails if several have it.
 */
export async function plannedTaskNamed(
  input: Answer,
  list: (filter: Answer) => Promise<OutputOf<'taskman_task_list'>>,
): Promise<Answer> {
  const { name, mission_id: mission, ...rest } = input
  const isNew = ['planned_task_id', 'task_id', 'id', 'parent_task_id', 'workflow_id'].some(
    (field) => input[field],
  )
  if (typeof name !== 'string' || isNew) return input
  const named = mission === undefined ? rest : { ...rest, mission_id: mission }
  if (/^t-[0-9a-z]{3,}$/.test(name)) return { ...named, planned_task_id: name }
  const filter = { search: name, ...(mission !== undefined && { mission }) }
  const unfinished = await Promise.all([
    list({ ...filter, status: 'to_do' }),
    list({ ...filter, status: 'in_progress' }),
  ])
  const same = unfinished
    .flatMap(({ tasks }) => tasks)
    .filter(({ title }) => title.toLowerCase() === name.trim().toLowerCase())
  const [only, another] = same
  if (only === undefined) return input
  if (another === undefined) return { ...rest, planned_task_id: only.id }
  const commands = same
    .slice(0, maxListed)
    .map(({ id }) => `waymark task start --planned-task-id ${quoteShellWord(id)}`)
  throw new Failure('INVALID_INPUT', `${same.length} planned tasks have the title "${name}".`, {
    reason: 'title_ambiguous',
    hint: `Choose one:\n${commands.join('\n')}`,
  })
}

import { fitSections } from '../../domain/budget.ts'
import type { Page, PageRequest } from '../../ports/reads/page.ts'
import type { RecordFilter } from '../../ports/reads/record-reads.ts'
import type { Reads } from '../../ports/store.ts'
import { blockerEntry, decisionEntry, issueEntry, milestoneEntry, taskEntry } from './context-entries.ts'

export const contextSections = [
  'decisions',
  'milestones',
  'blockers',
  'issues',
  'phase_summary',
  'tasks',
] as const
export type ContextSection = (typeof contextSections)[number]
type ListSection = Exclude<ContextSection, 'phase_summary'>

export interface LoadedSection {
  readonly name: ListSection
  readonly entries: readonly unknown[]
  /** The journal position of each entry, for the cursor. */
  readonly seqs: readonly number[]
  readonly more: boolean
  readonly total: number
}

type Loader = (
  reads: Reads,
  filter: RecordFilter,
  page: PageRequest & { readonly now: number },
) => Promise<Page<unknown>>

const loaders: Readonly<Record<ListSection, Loader>> = {
  decisions: async ({ records }, filter, page) =>
    mapped(await records.decisions(filter, page), decisionEntry),
  milestones: async ({ records }, filter, page) =>
    mapped(await records.progress(filter, page), milestoneEntry),
  tasks: loadTasks,
  issues: async ({ records }, filter, page) =>
    mapped(await records.issues({ ...filter, unblocking: true }, page), issueEntry),
  blockers: loadBlockers,
}

/** One list of the context: newest first, blockers oldest first. */
export async function loadSection(
  reads: Reads,
  name: ListSection,
  filter: RecordFilter,
  page: PageRequest & { readonly now: number },
): Promise<LoadedSection> {
  const { items, total } = await loaders[name](reads, filter, { ...page, limit: page.limit + 1 })
  const shown = items.slice(0, page.limit)
  return {
    name,
    entries: shown.map(({ item }) => item),
    seqs: shown.map(({ seq }) => seq),
    more: items.length > shown.length,
    total,
  }
}

async function loadTasks(
  { tasks }: Reads,
  filter: RecordFilter,
  page: PageRequest & { readonly now: number },
): Promise<Page<unknown>> {
  const { items, total } = await tasks.list(filter, page)
  const ids = items.map(({ item }) => item.task.id)
  const histories = await tasks.histories(ids, page.now)
  return {
    total,
    items: items.map(({ seq, item }) => ({ seq, item: taskEntry(item, histories.get(item.task.id)) })),
  }
}

async function loadBlockers(
  { holds }: Reads,
  filter: RecordFilter,
  page: PageRequest,
): Promise<Page<unknown>> {
  const { since: _, ...anyTime } = filter // an old blocker that is still open must not be hidden by a recent `since`
  return mapped(await holds.list({ ...anyTime, kinds: blocking, status: 'open' }, page), blockerEntry)
}

const answeredBudget = 2_000

/** Blockers that a person answered, newest first: since a time, or the last few. A waiting agent reads its answer here. */
export async function answeredBlockers({ holds }: Reads, filter: RecordFilter): Promise<readonly unknown[]> {
  const { items } = await holds.list({ ...filter, kinds: answerable, status: 'closed' }, { limit: 5 })
  const entries = items.map(({ item }) => blockerEntry(item))
  return entries.slice(0, fitSections([{ name: 'answered', entries }], answeredBudget).get('answered'))
}

const blocking = ['blocker', 'review'] as const
const answerable = [...blocking, 'scope'] as const

function mapped<From, To>(page: Page<From>, entry: (item: From) => To): Page<To> {
  return { total: page.total, items: page.items.map(({ seq, item }) => ({ seq, item: entry(item) })) }
}

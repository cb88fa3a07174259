import type { MeasurementQuestions } from '../../gate/operations/run/run-measurements.ts'
import { type InboxItem, isToReview, itemKinds } from '../../inbox/domain/inbox-item.ts'
import {
  type ApprovalContent,
  noContent,
  prepareContents,
  type ShownMeasurements,
  shownMeasurements,
} from '../../inbox/operations/approval-content.ts'
import type { InboxItemLine } from '../../inbox/ports/item-reads.ts'
import type { TaskId } from '../../kernel/id.ts'
import type { Briefs, MeasurementValues } from '../../kernel/operations/measurement-protocol.ts'
import type { RecordContext } from '../../kernel/operations/operation.ts'
import { hasAccess } from '../../people/domain/access.ts'
import type { Reads } from '../../store/ports/store.ts'
import { gatherFiles, materialMeasurements, type ReviewMaterial } from './gather.ts'
import type { ResolvedSubject } from './subject.ts'

/** What a person sees before a decision: the files, and the open inbox items. */
export interface ReviewPreview {
  readonly gathered: ReviewMaterial
  readonly waiting: readonly InboxItemLine[]
  /** The content that each item's answer is bound to, by the item's id. */
  readonly contents: ReadonlyMap<string, ApprovalContent>
  /** The hash over files and items. */
  readonly approvalContent: ApprovalContent
}

export const previewMeasurements = { ...shownMeasurements, ...materialMeasurements }
type PreviewMeasurements = typeof previewMeasurements
/** Further measurements are added to the questions. */
type PreviewQuestions<Of extends ShownMeasurements = ShownMeasurements> = Pick<
  MeasurementQuestions<Of>,
  'ask'
>

interface PreparedPreview {
  /** The briefs for states of files; the rest is in the questions. */
  readonly states: Briefs<PreviewMeasurements>['states']
  readonly waiting: readonly InboxItemLine[]
  /** Null until the files are measured. */
  readonly gathered: ReviewMaterial | null
  /** Null until everything is measured. */
  readonly preview: ReviewPreview | null
}

/** Prepares a review. Open attempts that both files and items need are measured once. */
export async function preparePreview(
  reads: Reads,
  questions: PreviewQuestions,
  {
    context,
    found,
    measured,
  }: {
    readonly context: RecordContext
    readonly found: ResolvedSubject
    readonly measured: MeasurementValues<PreviewMeasurements>
  },
): Promise<PreparedPreview> {
  const { briefs, found: gathered } = await gatherFiles(reads, context, { found, measured })
  for (const end of briefs.ends ?? []) questions.ask('ends', end)
  for (const changes of briefs.changes ?? []) questions.ask('changes', changes)
  const waiting = await openItems(reads, found)
  const items = waiting.map(({ item }) => item)
  const contents = await prepareContents(reads, questions, { context, items })
  const { states } = briefs
  if (gathered === null || contents === undefined) return { states, waiting, gathered, preview: null }
  const approvalContent = contentOf(context, { gathered, waiting, contents })
  return { states, waiting, gathered, preview: { gathered, waiting, contents, approvalContent } }
}

// Whether a command may run is no question about the work.
const askedKinds = itemKinds.filter((kind) => kind !== 'command')

async function openItems(
  { inboxItems }: Reads,
  { subject }: ResolvedSubject,
): Promise<readonly InboxItemLine[]> {
  if (subject.kind === 'since') return []
  const about = subject.kind === 'task' ? { taskId: subject.taskId } : { missionId: subject.missionId }
  const { items } = await inboxItems.list({ ...about, status: 'open', kinds: askedKinds }, { limit: 100 })
  return items.map(({ item }) => item)
}

/** Whether approving the work, or sending it back, answers an item. */
export function isAnsweredByReview({ kind, request }: InboxItem): boolean {
  // Changes that a guard found outside the work are in no diff: they are accepted separately.
  return request?.kind !== 'changes' && isToReview(kind)
}

function contentOf(
  { fingerprint }: Pick<RecordContext, 'fingerprint'>,
  { gathered, waiting, contents }: Omit<ReviewPreview, 'approvalContent'>,
): ApprovalContent {
  const items = waiting.map(({ item }) => [item.id, contents.get(item.id)?.content ?? null] as const)
  const contentWith = (asked: readonly (readonly [string, string | null])[]) =>
    asked.length === 0
      ? gathered.content
      : fingerprint({ files: gathered.content, asked: asked.toSorted(([a], [b]) => (a < b ? -1 : 1)) })
  return {
    content: contentWith(items),
    contentBefore: (answered) => contentWith([...items, ...answered]),
    approvals: new Map(),
    parts: {
      artifacts: [],
      changed: [],
      command: null,
      known: gathered.files.map(({ path, after }) => ({
        path,
        sha256: after === null ? null : `${after.mode} ${after.id}`,
      })),
      events: Object.fromEntries(items.map(([id, content]) => [id, content ?? noContent])),
    },
  }
}

/** Why the caller may not decide, as a sentence; null if they may. */
export function decisionObstacle({
  actor,
  permissions,
}: Pick<RecordContext, 'actor' | 'permissions'>): string | null {
  if (actor.kind !== 'person') return `${actor.name} is an agent. Only a person decides.`
  if (!permissions || hasAccess(permissions, 'maintainer')) return null
  return `Approving or sending back needs maintainer access, and ${permissions.personName} has ${permissions.access ?? 'none in this project'}.`
}

/** The tasks that were worked on, in order. */
export function tasksOf({ attempts, task }: ResolvedSubject): readonly TaskId[] {
  const taskIds = attempts.map(({ taskId }) => taskId)
  return [...new Set(task === null ? taskIds : [task.id])]
}

import {
  type ApprovalContent,
  prepareShownItems,
  shownByPorts,
} from '../../inbox/operations/shown-content.ts'
import type { InboxItemLine } from '../../inbox/ports/item-reads.ts'
import type { TaskId } from '../../kernel/id.ts'
import { localMeasurer, MeasurementRun, requireMeasured } from '../../kernel/operations/measurement.ts'
import type { Context, QueryContext } from '../../kernel/operations/operation.ts'
import { hasAccess } from '../../people/domain/access.ts'
import type { InboxItem } from '../../track/domain/records.ts'
import { gatherFiles, materialMeasurements, type ReviewMaterial } from './gather.ts'
import type { ResolvedSubject } from './subject.ts'

/** What a person sees before they say yes or no: the files, and what waits for their answer. */
export interface ReviewPreview {
  readonly gathered: ReviewMaterial
  readonly waiting: readonly InboxItemLine[]
  /** What each of them would be bound to, by the hold's id. */
  readonly contents: ReadonlyMap<string, string>
  /** The hash over all of it. */
  readonly shown: ApprovalContent
}

/** The kinds that a verdict on the work answers; the others are questions of their own. */
export const answeredByVerdict = [
  'review',
  'scope',
  'approval',
] as const satisfies readonly InboxItem['kind'][]

export async function inspectSubject(context: QueryContext, found: ResolvedSubject): Promise<ReviewPreview> {
  const { subject } = found
  const gathered = await gatherNow(context, found)
  const waiting = await context.store.view(async ({ holds }) => {
    if (subject.kind === 'since') return []
    const about = subject.kind === 'task' ? { taskId: subject.taskId } : { missionId: subject.missionId }
    return (await holds.list({ ...about, status: 'open' }, { limit: 100 })).items.map(({ item }) => item)
  })
  const items = waiting.map(({ hold }) => hold)
  const contents = await shownByPorts(context, (reads, questions) =>
    prepareShownItems(reads, questions, { context, items }),
  )
  const asked = waiting.map(({ hold }) => [hold.id, contents.get(hold.id) ?? null])
  const shown: ApprovalContent = {
    content: asked.length === 0 ? gathered.content : context.fingerprint({ files: gathered.content, asked }),
    approvals: new Map(),
    parts: {
      artifacts: [],
      changed: [],
      command: null,
      known: gathered.files.map(({ path, after }) => ({
        path,
        sha256: after === null ? null : `${after.mode} ${after.id}`,
      })),
      facts: { 'what waits': asked.map(([id]) => id).join(', ') || 'nothing' },
    },
  }
  return { gathered, waiting, contents, shown }
}

/** Through the ports of a context: what is shown of runs does not declare its measurements yet. */
async function gatherNow(context: QueryContext, found: ResolvedSubject): Promise<ReviewMaterial> {
  const through = context as Context
  const run = new MeasurementRun<typeof materialMeasurements, ReviewMaterial | null>({
    context: { ...through, measurer: localMeasurer(through) },
    operation: { name: '', measurements: materialMeasurements },
    input: {},
    prepare: (reads, measured) => gatherFiles(reads, context, { found, measured }),
  })
  return run.answered(async (settled) => requireMeasured(settled.found ?? undefined))
}

/** Why somebody may not decide, as a sentence; null where they may. */
export function decisionObstacle({
  actor,
  standing,
}: Pick<QueryContext, 'actor' | 'standing'>): string | null {
  if (actor.kind !== 'person') return `${actor.name} acts as an agent: a person decides.`
  if (!standing || hasAccess(standing, 'maintainer')) return null
  return `To approve or send back needs maintainer access, and ${standing.personName} has ${standing.access ?? 'none in this project'}.`
}

/** The tasks that were worked on, in order. */
export function tasksOf({ attempts, task }: ResolvedSubject): readonly TaskId[] {
  const worked = attempts.map(({ taskId }) => taskId)
  return [...new Set(task === null ? worked : [task.id])]
}

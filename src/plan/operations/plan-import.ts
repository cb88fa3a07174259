import { z } from 'zod'
import { restoreEventLog } from '../../events/operations/event-line.ts'
import { Failure } from '../../kernel/failure.ts'
import { loadedPlan, path, planFormat } from '../../kernel/operations/fields.ts'
import { ownerOf } from '../../kernel/operations/find.ts'
import { choice, text } from '../../kernel/operations/input/fields.ts'
import { strings } from '../../kernel/operations/list-answer.ts'
import { measurement, requireMeasured } from '../../kernel/operations/measurement-protocol.ts'
import { type CommandContext, defineOperation } from '../../kernel/operations/operation.ts'
import { type PlanFormat, planFormats } from '../../project/ports/project-files.ts'
import type { Reads } from '../../store/ports/store.ts'
import { nextNumber } from '../../track/domain/mission.ts'
import { documentProblems, type PlanDocument } from '../domain/document.ts'
import { type ImportSituation, importPlan, type ResumableWork, titleKey } from '../domain/import-plan.ts'
import type { PlanOwner } from '../domain/plan.ts'
import { missionField } from './fields.ts'
import { clashesOf } from './phases.ts'

/** A plan of another program or an exported project, as parsed. */
export const planFile = measurement({
  brief: z.strictObject({ file: path, from: planFormat.nullable() }),
  measured: loadedPlan,
  measure: ({ planFiles }, { file, from }) => planFiles.load(file, from ?? undefined),
})

/** What an import added to a plan, or would add. */
const Added = z.object({
  added: z.object({ phases: z.int(), milestones: z.int(), tasks: z.int() }),
  /** Tasks that already existed. */
  existing: z.int(),
  notices: strings,
  dry_run: z.literal(true).optional(),
})

export const planImport = defineOperation({
  name: 'plan_import',
  command: 'import',
  aliases: ['plan import', 'import taskman'],
  toolset: 'plan',
  audience: 'both',
  title: 'Import a plan',
  description:
    'Import a plan from a file: Markdown, JSON, JSONL, taskman, Task Master, Backlog.md or beads. Or restore an exported project. All or nothing.',
  kind: 'command',
  positional: ['file'],
  input: z.strictObject({
    file: text('File or folder'),
    from: choice(planFormats, 'Its format; default: detected from name and content', {
      md: 'markdown',
      taskmaster: 'task-master',
      'backlog.md': 'backlog',
    }).optional(),
    mission: missionField.optional(),
    'dry-run': z.boolean().describe('Show what would be added, and add nothing').optional(),
  }),
  output: Added.partial().extend({
    format: z.string(),
    /** For an exported project: the number of restored log entries. */
    events: z.int().optional(),
    notices: strings,
  }),
})
  .measure({ plan: planFile })
  .handler(planBrief, async (handling, input, { plan }) => {
    const loaded = requireMeasured(plan)
    if (loaded.kind === 'log') {
      const dryRun = input['dry-run'] ?? false
      const { events } = await restoreEventLog(handling, loaded.lines, { dryRun })
      return { format: 'log', events, notices: [], ...(dryRun && { dry_run: true as const }) }
    }
    if (handling.machine !== undefined) assertSound(loaded.document)
    const request = { mission: input.mission, dryRun: input['dry-run'] ?? false }
    const result = await addPlan(handling, loaded.document, request)
    return { format: loaded.format, ...result, notices: [...loaded.notices, ...result.notices] }
  })

/** The machine with the file checked the plan, but the plan of a remote machine is not trusted. */
function assertSound(document: PlanDocument): void {
  const problems = documentProblems(document)
  if (problems.length === 0) return
  throw new Failure('INVALID_INPUT', `Cannot import this plan. ${problems.slice(0, 5).join(' ')}`, {
    reason: 'plan_invalid',
    hint: 'Correct the file, then import it again. Nothing was added.',
  })
}

function planBrief({ file, from }: { readonly file: string; readonly from?: PlanFormat | undefined }) {
  return { plan: { file, from: from ?? null } }
}

/** The maximum of tasks that an import is compared with. */
const maxTasks = 500_000

/** Adds a document to a plan, in one transaction. */
async function addPlan(
  { record, store, actor, clock, ids }: CommandContext,
  document: PlanDocument,
  request: { readonly mission: string | undefined; readonly dryRun: boolean },
) {
  const decide = async (reads: Reads, at: number) => {
    const owner = await ownerOf(reads, request.mission)
    const situation = await situationOf(reads, owner, at)
    const renamed = await renamedPhases(reads, document, owner)
    const { events, ...summary } = await runSteps(
      importPlan(withPhaseIds(document, renamed), situation, { setting: { at, ids }, author: actor }),
    )
    const notices = [
      ...summary.notices,
      ...[...renamed].map(([key, id]) => `The phase "${key}" is "${id}" here: another plan has that id.`),
    ]
    return { events, answer: { ...summary, added: { ...summary.added }, notices } }
  }
  if (request.dryRun) {
    const { answer } = await store.view((reads) => decide(reads, clock.now()))
    return { ...answer, dry_run: true as const }
  }
  return record((reads, setting) => decide(reads, setting.at))
}

/** Phases whose id another plan has, with their id here: that of an earlier import, or the next free one. */
async function renamedPhases(
  reads: Reads,
  { phases }: PlanDocument,
  owner: PlanOwner,
): Promise<ReadonlyMap<string, string>> {
  const own = await reads.plan.phases(owner)
  const clashes = await clashesOf(
    reads,
    phases.map(({ key }) => key),
  )
  return new Map(
    clashes.flatMap(({ id, free }) => {
      if (own.some((phase) => phase.id === id)) return []
      const name = phases.find(({ key }) => key === id)?.name
      const before = own.find((phase) => phase.name === name && phase.id.startsWith(`${id}-`))
      return [[id, before?.id ?? free] as const]
    }),
  )
}

function withPhaseIds(document: PlanDocument, ids: ReadonlyMap<string, string>): PlanDocument {
  if (ids.size === 0) return document
  const idOf = (key: string) => ids.get(key) ?? key
  return {
    ...document,
    phases: document.phases.map((phase) => ({ ...phase, key: idOf(phase.key) })),
    milestones: document.milestones.map((milestone) => ({ ...milestone, phase: idOf(milestone.phase) })),
    tasks: document.tasks.map((task) => ({ ...task, phase: task.phase === null ? null : idOf(task.phase) })),
  }
}

/** Yields to the event loop after each step, so that others are answered. */
async function runSteps<Result>(steps: ResumableWork<Result>): Promise<Result> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await new Promise((resolve) => setTimeout(resolve))
  }
}

async function situationOf({ plan }: Reads, owner: PlanOwner, now: number): Promise<ImportSituation> {
  const phases = await plan.phases(owner)
  const milestones = await plan.milestones({ owner })
  const tasks = await plan.graph(owner, maxTasks, now)
  return {
    owner,
    phases: new Set<string>(phases.map(({ id }) => id)),
    nextNumber: nextNumber(phases),
    milestones: new Set<string>(milestones.map(({ id }) => id)),
    tasks: new Set<string>(tasks.map(({ id }) => id)),
    titles: new Map(tasks.map(({ id, phaseId, name }) => [titleKey(phaseId, name), id])),
  }
}

import { z } from 'zod'
import { ownerOf } from '../../kernel/operations/find.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import type { Reads } from '../../store/ports/store.ts'
import { planStatus } from '../domain/claims.ts'
import { type DocumentTask, documentJson, type PlanDocument } from '../domain/document.ts'
import { givenPromises } from '../domain/done-when.ts'
import { type Note, type PlannedTask, type PlanOwner, phaseWord } from '../domain/plan.ts'
import { missionField } from './fields.ts'

const page = 1_000

/** In the form that `import` reads; absent values are left out. */
const part = z.record(z.string(), z.unknown())

export const planExport = defineOperation({
  name: 'plan_export',
  command: 'plan export',
  toolset: 'plan',
  audience: 'both',
  title: 'Export the plan',
  description:
    'Print the plan as JSON: phases, milestones, tasks, dependencies, notes. `waymark import` reads it again.',
  kind: 'query',
  input: z.strictObject({ mission: missionField.optional() }),
  print: (answer) => [JSON.stringify(answer, null, 2)],
  output: z.object({
    waymark_plan: z.int(),
    phases: list(part),
    milestones: list(part),
    tasks: list(part),
  }),
}).handler(({ store, clock }, input) =>
  store.view(async (reads) => {
    const owner = await ownerOf(reads, input.mission)
    return documentJson(await documentOf(reads, owner, clock.now()))
  }),
)

async function documentOf(reads: Reads, owner: PlanOwner, now: number): Promise<PlanDocument> {
  const phases = await reads.plan.phases(owner)
  const milestones = await reads.plan.milestones({ owner })
  return {
    phases: phases.map(({ id, name, status, sortOrder }) => ({
      key: id,
      name,
      status: phaseWord(status),
      sortOrder,
      foreignId: null,
    })),
    milestones: milestones.map(({ id, phaseId, name, criterion, reached }) => ({
      key: id,
      phase: phaseId,
      name,
      criterion,
      reached,
      foreignId: null,
    })),
    tasks: await tasksOf(reads, owner, now),
  }
}

async function tasksOf(reads: Reads, owner: PlanOwner, now: number): Promise<readonly DocumentTask[]> {
  const exported: DocumentTask[] = []
  let after: PlannedTask['task']['id'] | undefined
  for (;;) {
    const { tasks } = await reads.plan.tasks({ owner, now }, { limit: page, ...(after && { after }) })
    for (const planned of tasks) {
      const { items } = await reads.plan.notes(planned.task.id, { limit: page })
      exported.push(
        documentTask(
          planned,
          [...items].reverse().map(({ item }) => item),
          now,
        ),
      )
    }
    after = tasks.at(-1)?.task.id
    if (tasks.length < page) return exported
  }
}

function documentTask(planned: PlannedTask, notes: readonly Note[], now: number): DocumentTask {
  const { task, dependsOn } = planned
  return {
    key: task.id,
    title: task.name,
    description: task.goal,
    phase: task.phaseId,
    milestone: task.milestoneId,
    parent: task.parentTaskId,
    role: task.role,
    assignee: task.assignee ?? null,
    areas: task.areas,
    ...(task.doneWhen && { doneWhen: givenPromises(task.doneWhen) }),
    status: planStatus(planned, now),
    resolution: task.resolution,
    sortOrder: task.sortOrder,
    dependsOn,
    notes: notes.map(({ content, kind, role, author, createdAt }) => ({
      content,
      kind,
      role,
      author,
      createdAt,
    })),
    creator: task.creator,
    createdAt: task.createdAt,
    updatedAt: task.updatedAt,
    foreignId: task.id,
  }
}

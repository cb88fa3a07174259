import { z } from 'zod'
import { criticalPath } from '../../domain/plan/chains.ts'
import { type OutlinePhase, outline } from '../../domain/plan/outline.ts'
import { readyTasks } from '../../domain/plan/ready.ts'
import type { Reads } from '../../ports/store.ts'
import { defineOperation } from '../operation.ts'
import { spanField } from './fields.ts'
import { spanOf } from './find.ts'
import { planSource } from './plan-source.ts'

export const planShow = defineOperation({
  name: 'plan_show',
  command: 'plan show',
  toolset: 'plan',
  audience: 'both',
  title: 'Show the plan',
  description: 'The outline of the plan: phases, milestones, tasks, what is ready, and the critical path.',
  kind: 'query',
  input: z.strictObject({ mission: spanField.optional() }),
  output: z.looseObject({
    phases: z.array(z.looseObject({})),
    tasks: z.int(),
    done: z.int(),
    dropped: z.int(),
    ready: z.int(),
    critical_path: z.array(z.string()),
  }),
}).handler(({ store, clock }, input) =>
  store.view(async (reads) => {
    const source = await planSource(reads, await spanOf(reads, input.mission), clock.now())
    const kept = source.tasks.filter(({ dropped }) => dropped !== true)
    return {
      phases: await withMissions(reads, outline(source)),
      tasks: kept.length,
      done: kept.filter(({ status }) => status === 'done').length,
      dropped: source.tasks.length - kept.length,
      ready: readyTasks(source.tasks).length,
      critical_path: criticalPath(source.tasks).map(({ id }) => id),
    }
  }),
)

/** Each phase with the name of its mission, where it is of one. */
async function withMissions({ missions }: Reads, phases: readonly OutlinePhase[]) {
  const ids = [...new Set(phases.flatMap(({ mission_id }) => mission_id ?? []))]
  const found = await Promise.all(ids.map((id) => missions.find(id)))
  const names = new Map(found.flatMap((mission) => (mission ? [[mission.id as string, mission.name]] : [])))
  return phases.map((phase) => ({ ...phase, mission_name: names.get(phase.mission_id ?? '') ?? null }))
}

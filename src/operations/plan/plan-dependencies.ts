import { z } from 'zod'
import { standings } from '../../domain/plan/standing.ts'
import { defineOperation } from '../operation.ts'
import { spanField } from './fields.ts'
import { spanOf } from './find.ts'
import { planSource } from './plan-source.ts'

export const planDependencies = defineOperation({
  name: 'plan_dependencies',
  command: 'plan dependencies',
  screen: true,
  toolset: 'plan',
  audience: 'both',
  title: 'The dependencies of the plan',
  description:
    'The dependency graph of the plan as nodes and edges, with what is ready and the critical path.',
  kind: 'query',
  input: z.strictObject({ mission: spanField.optional() }),
  output: z.looseObject({
    phases: z.array(z.looseObject({ id: z.string(), name: z.string() })),
    nodes: z.array(
      z.looseObject({
        id: z.string(),
        title: z.string(),
        phase_id: z.string().nullable(),
        mark: z.enum(['done', 'in_progress', 'ready', 'blocked', 'dropped']),
        critical: z.boolean(),
      }),
    ),
    edges: z.array(z.looseObject({ from: z.string(), to: z.string(), critical: z.boolean() })),
  }),
}).handler(({ store, clock }, input) =>
  store.view(async (reads) => {
    const { phases, tasks } = await planSource(reads, await spanOf(reads, input.mission), clock.now())
    const found = standings(tasks)
    const nodes = tasks.map(({ id, title, phaseId }, place) => ({
      id,
      title,
      phase_id: phaseId,
      mark: found[place]?.mark ?? 'blocked',
      critical: found[place]?.critical ?? false,
    }))
    const critical = new Map(nodes.map((node) => [node.id, node.critical]))
    const edges = tasks.flatMap(({ id, dependsOn }) =>
      [...new Set(dependsOn)]
        .filter((from) => critical.has(from))
        .map((from) => ({
          from,
          to: id,
          critical: critical.get(from) === true && critical.get(id) === true,
        })),
    )
    return { phases: phases.map(({ id, name }) => ({ id, name })), nodes, edges }
  }),
)

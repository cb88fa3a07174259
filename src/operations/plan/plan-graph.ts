import { z } from 'zod'
import { dot } from '../../domain/plan/diagram/dot.ts'
import { mermaid } from '../../domain/plan/diagram/mermaid.ts'
import { choice } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { spanField } from './fields.ts'
import { spanOf } from './find.ts'
import { planSource } from './plan-source.ts'

const drawings = { mermaid, dot } as const

export const planGraph = defineOperation({
  name: 'plan_graph',
  command: 'plan graph',
  toolset: 'plan',
  audience: 'both',
  title: 'Draw the dependencies',
  description: 'The dependency graph of the plan as text: Mermaid, or DOT for Graphviz.',
  kind: 'query',
  input: z.strictObject({
    language: choice(['mermaid', 'dot'], 'Default mermaid', { graphviz: 'dot' }).optional(),
    mission: spanField.optional(),
  }),
  output: z.looseObject({ language: z.string(), text: z.string() }),
  print: (answer) => [String(answer['text'])],
}).handler(({ store, clock }, input) =>
  store.view(async (reads) => {
    const language = input.language ?? 'mermaid'
    const source = await planSource(reads, await spanOf(reads, input.mission), clock.now())
    return { language, text: drawings[language](source) }
  }),
)

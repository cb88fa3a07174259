import { z } from 'zod'
import { list } from '../../../kernel/operations/list-answer.ts'
import { defineOperation, type QueryContext } from '../../../kernel/operations/operation.ts'
import type { ProcessDefinition } from '../../domain/definition.ts'
import { json, Machine, machineOf, RunEntry, runEntry } from '../run-answer.ts'
import { FindingEntry, findingEntry, origin, processField } from './processes.ts'

const mostRuns = 50
const Definition = json as z.ZodType<unknown> as z.ZodType<ProcessDefinition> // the domain's own, as JSON

export const processPage = defineOperation({
  name: 'process_page',
  command: 'process page',
  screen: true,
  toolset: 'gate',
  audience: 'person',
  title: 'A process with its source',
  description:
    'The definition of a process as data, the text of its file, what lint found, and its active runs.',
  kind: 'query',
  positional: ['process'],
  input: z.strictObject({ process: processField }),
  output: z.object({
    process_id: z.string(),
    name: z.string().nullable(),
    version: z.string().nullable(),
    file: z.string(),
    origin,
    source: z.string(),
    findings: list(FindingEntry),
    /** As the engine reads it, so that a page can play it. Null where the file cannot be read. */
    definition: Definition.nullable(),
    machine: Machine.nullable(),
    runs: list(RunEntry),
    runs_total: z.int(),
  }),
}).handler((handling, input) => processPageAnswer(handling, input.process))

/** All that the page of a process shows. */
async function processPageAnswer({ processFiles, store }: QueryContext, process: string) {
  const { id, file, origin, text, definition, findings } = await processFiles.load(process)
  const runs = await store.view((reads) =>
    reads.runs.list({ status: 'active', processId: id }, { limit: mostRuns }),
  )
  return {
    process_id: id,
    name: definition?.name ?? null,
    version: definition?.version ?? null,
    file,
    origin,
    source: text,
    findings: findings.map(findingEntry),
    definition,
    machine: definition && machineOf(definition),
    runs: runs.items.map(({ item }) => runEntry(item)),
    runs_total: runs.total,
  }
}

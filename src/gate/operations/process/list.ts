import { z } from 'zod'
import { list } from '../../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../../kernel/operations/paging.ts'
import { countFindings, everyProcess, loadedProcess, origin } from './processes.ts'

export const processList = defineOperation({
  name: 'process_list',
  command: 'process list',
  toolset: 'gate',
  audience: 'both',
  title: 'List processes',
  description: 'List the processes of the project and those that come with Waymark.',
  kind: 'query',
  input: z.strictObject(pageFields(1000, 'How many')),
  output: z.object({
    processes: list(
      z.object({
        process_id: z.string(),
        name: z.string().nullable(),
        version: z.string().nullable(),
        states: z.int(),
        origin,
        file: z.string(),
        errors: z.int(),
        warnings: z.int(),
      }),
    ),
    ...page,
  }),
})
  .measure({ processes: everyProcess })
  .prepare(async (_, __, { processFiles }, { processes }) => ({
    briefs: { processes: {} },
    found: await Promise.all((processes ?? []).map((source) => loadedProcess(processFiles, source))),
  }))
  .answer(async ({ found: loaded, context }, input) => {
    const { entries, ...rest } = new Paging('process_list', input, context.actor, 1000).slice(
      loaded,
      ({ origin, file }) => `${origin} ${file}`,
    )
    return {
      processes: entries.map(({ id, file, origin, definition, findings }) => ({
        process_id: id,
        name: definition?.name ?? null,
        version: definition?.version ?? null,
        states: definition?.states.length ?? 0,
        origin,
        file,
        errors: countFindings(findings, 'error'),
        warnings: countFindings(findings, 'warning'),
      })),
      ...rest,
    }
  })

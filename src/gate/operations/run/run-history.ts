import { z } from 'zod'
import { list } from '../../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../../kernel/operations/paging.ts'
import {
  ApprovalEntry,
  approvalEntry,
  EventEntry,
  eventEntry,
  RefusalEntry,
  refusalEntry,
  runStatus,
} from '../run-answer.ts'
import { findRun, runField } from './find-run.ts'

export const runHistory = defineOperation({
  name: 'run_history',
  command: 'run history',
  toolset: 'gate',
  audience: 'both',
  title: 'Show the history of a run',
  description: 'Show the transitions, refusals and approvals of a run, newest first.',
  kind: 'query',
  positional: ['run_id'],
  input: z.strictObject({
    run_id: runField,
    ...pageFields(500, 'How many of each; default 50'),
  }),
  output: z.object({
    run_id: z.string(),
    process_id: z.string(),
    status: runStatus,
    current_state: z.string(),
    revision: z.int(),
    events: list(EventEntry),
    events_total: z.int(),
    refusals: list(RefusalEntry),
    refusals_total: z.int(),
    approvals: list(ApprovalEntry),
    next_cursor: page.next_cursor,
  }),
}).handler(({ store, actor }, input) =>
  store.view(async (reads) => {
    const run = await findRun(reads, input.run_id)
    const paging = new Paging('run_history', input, actor, 50)
    const { limit } = paging
    const events = await reads.runs.history(run.id, paging.request('events'))
    const refusals = await reads.runs.refusals(run.id, paging.request('refusals'))
    const section = (name: string, items: readonly { readonly seq: number }[]) => ({
      name,
      positions: items.slice(0, limit).map(({ seq }) => seq),
      more: items.length > limit,
    })
    return {
      run_id: run.id,
      process_id: run.process.id,
      status: run.status,
      current_state: run.state,
      revision: run.revision,
      events: events.items.slice(0, limit).map(({ item }) => eventEntry(item)),
      events_total: events.total,
      refusals: refusals.items.slice(0, limit).map(({ item }) => refusalEntry(item)),
      refusals_total: refusals.total,
      approvals: (await reads.runs.approvals(run.id)).map(approvalEntry),
      next_cursor: paging.nextOf([section('events', events.items), section('refusals', refusals.items)]),
    }
  }),
)

import { z } from 'zod'
import type { NewProjectEvent } from '../../../events/domain/project-event.ts'
import type { Actor } from '../../../kernel/actor.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { TransactionContext } from '../../../kernel/id.ts'
import { instant } from '../../../kernel/instant.ts'
import { oid } from '../../../kernel/operations/fields.ts'
import { choice, text } from '../../../kernel/operations/input/fields.ts'
import { measurement, requireMeasured } from '../../../kernel/operations/measurement-protocol.ts'
import { defineOperation } from '../../../kernel/operations/operation.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { judgeAgain } from '../../../track/operations/change-verdict.ts'
import { checkFacts, endedCheck } from '../../../track/operations/task-checks.ts'
import type { CommandResult } from '../../domain/run.ts'
import { ciFolder, ciLine } from './ci-results.ts'

const statuses = ['success', 'failure', 'cancelled'] as const

const stored = {
  success: 'passed',
  failure: 'failed',
  cancelled: 'stopped',
} as const satisfies Record<(typeof statuses)[number], Exclude<CommandResult['status'], 'running'>>

export const ciReport = defineOperation({
  name: 'ci_report',
  command: 'ci report',
  toolset: 'gate',
  audience: 'both',
  access: 'contributor',
  title: 'Report a CI result',
  description:
    'Report the result of a CI check for guards of type ci, with a token of kind runner. Repeating it changes nothing.',
  kind: 'command',
  idempotent: true,
  input: z.strictObject({
    check: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .regex(/^[^\p{Cc}]+$/u, 'it must be one line')
      .describe('Name of the check, as in the guard'),
    status: choice(statuses, 'Result of the check', {
      passed: 'success',
      failed: 'failure',
      canceled: 'cancelled',
      skipped: 'cancelled',
    }),
    commit: text('Commit that it ran on; default HEAD').optional(),
    url: text('Address of the result page').optional(),
  }),
  output: z.object({
    result_id: z.string(),
    check: z.string(),
    status: z.enum(statuses),
    commit: z.string(),
    /** The hash of the work tree's content; null if the commit is not checked out. */
    tree: z.string().nullable(),
    reported_at: z.string(),
    /** It had been submitted before. */
    repeated: z.boolean(),
  }),
})
  .measure({
    commit: measurement({
      brief: z.strictObject({ commit: z.string().max(300).nullable() }),
      /** `tree` is null if another commit is checked out. */
      measured: z.strictObject({ commit: oid, tree: z.string().max(100).nullable() }),
      measure: async ({ witness, folder }, { commit }) => {
        const { head: here } = await witness.branch({ folder, base: 'HEAD' })
        const requested =
          commit === null ? here : (await witness.branch({ folder, base: commit, head: commit })).head
        return {
          commit: requested.id,
          tree: here.id === requested.id ? await witness.treeHash(folder) : null,
        }
      },
    }),
  })
  .prepare(async (_, input, { actor }) => {
    assertRunner(actor)
    return { briefs: { commit: { commit: input.commit ?? null } }, found: null }
  })
  .record(async ({ reads, measured, context: { actor }, setting }, input) => {
    const { commit, tree } = requireMeasured(measured.commit)
    const line = { run: ciLine(input.check), folder: ciFolder(commit) }
    const last = await reads.runs.commandResult(line)
    const status = stored[input.status]
    const isSame =
      last !== null && last.status === status && last.tree === (tree ?? '') && last.endedAt !== null
    const id = isSame ? last.id : setting.ids.next('commandResult')
    const endedAt = isSame ? (last.endedAt ?? setting.at) : setting.at
    const answer = {
      result_id: id,
      check: input.check,
      status: input.status,
      commit,
      tree,
      reported_at: instant(endedAt),
      repeated: isSame,
    }
    if (isSame) return { events: [], answer }
    const command: CommandResult = {
      id,
      runId: null,
      ...line,
      tree: tree ?? '',
      status: 'running',
      exitCode: null,
      output: '',
      treeHeld: true,
      runner: actor.name,
      byRunner: true,
      startedAt: setting.at,
      endedAt: null,
    }
    const ended: CommandResult = { ...command, status, endedAt: setting.at }
    return {
      events: [
        { kind: 'command.started', command },
        {
          kind: 'command.ended',
          commandId: id,
          runId: null,
          status,
          exitCode: null,
          output: input.url ?? '',
          treeHeld: true,
        },
        ...(tree === null
          ? []
          : await verdictsChangedBy(reads, { check: input.check, result: ended }, setting)),
      ],
      answer,
    }
  })

/** The verdicts of completions with this content that have a check of this name. */
async function verdictsChangedBy(
  reads: Reads,
  { check, result }: { readonly check: string; readonly result: CommandResult },
  setting: TransactionContext,
): Promise<readonly NewProjectEvent[]> {
  if (result.status !== 'passed' && result.status !== 'failed') return []
  const [reported] = checkFacts([endedCheck(check, result)])
  const events: NewProjectEvent[] = []
  for (const attempt of await reads.tasks.attemptsWithContent(result.tree)) {
    const verdict = (await reads.tasks.verdicts(attempt.id)).at(-1)?.verdict
    if (verdict == null || !verdict.checks.some(({ command }) => command === check)) continue
    const checks = verdict.checks.map((one) => (one.command === check && reported ? reported : one))
    const changed = await judgeAgain(reads, attempt, { content: result.tree, checks }, setting)
    events.push(...(changed?.events ?? []))
  }
  return events
}

function assertRunner({ name, runner }: Actor): void {
  if (runner === true) return
  throw new Failure('FORBIDDEN', `${name} cannot report CI results: that needs a token of kind runner.`, {
    reason: 'runner_token_needed',
    hint: 'Create one on the server (waymark token create ci --kind runner), and set WAYMARK_SERVER and WAYMARK_TOKEN in CI.',
  })
}

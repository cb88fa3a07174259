import { z } from 'zod'
import { differenceWords } from '../../gate/domain/approved-content.ts'
import { awaitedDecision, endDecisions, eventFor } from '../../gate/domain/decisions.ts'
import type { Evidence } from '../../gate/domain/evidence.ts'
import { guardNames } from '../../gate/domain/expression.ts'
import { evaluateGuard } from '../../gate/domain/guards/guard-kinds.ts'
import { candidates } from '../../gate/domain/transitions.ts'
import { type ApprovalInput, giveApprovals, priorApprovalsNote } from '../../gate/operations/run/approvals.ts'
import { askPerson, shownCommandOf, storeShownCommand } from '../../gate/operations/run/commands.ts'
import { engineRun, observeRun, requestAuthor } from '../../gate/operations/run/evidence.ts'
import { assertFilesAreHere, commandAnswer, gatherState } from '../../gate/operations/run/external-state.ts'
import { loadRun } from '../../gate/operations/run/find-run.ts'
import type { LoadedRun } from '../../gate/ports/run-reads.ts'
import { Failure } from '../../kernel/failure.ts'
import { identifier } from '../../kernel/operations/input/fields.ts'
import { type CommandContext, defineOperation } from '../../kernel/operations/operation.ts'
import type { InboxItem, InboxItemRequest } from '../../track/domain/records.ts'
import { decideRun, RunDecided } from './decide.ts'
import { recordDue } from './due-items.ts'
import { closeItem, HoldClosed } from './resolve.ts'
import {
  type ApprovalContent,
  assertContentSeen,
  shownContentOfItem,
  shownContentOfRun,
} from './shown-content.ts'
import {
  contentField,
  decidedField,
  findDecisionSubject,
  reasonField,
  requireAnswerText,
  roleField,
} from './subject.ts'

type CommandApprovalRequest = Extract<InboxItemRequest, { kind: 'command' }>

interface Approval {
  readonly reason: string | null
  readonly role: string | undefined
  readonly event: string | undefined
  /** What they say they saw, as it is now; null where they do not say. */
  readonly seen: ApprovalContent | null
}

export const approve = defineOperation({
  name: 'approve',
  command: 'approve',
  toolset: 'gate',
  audience: 'person',
  title: 'Say yes to what waits',
  description:
    'Say yes to what waits: a run that waits for a decision or an approval, a command that the server may run, a review, files outside the scope.',
  kind: 'command',
  positional: ['id', 'reason'],
  input: z.strictObject({
    id: decidedField,
    reason: reasonField,
    role: roleField,
    content: contentField,
    event: identifier('Of a run: the event to send, where its process has no approve or accept').optional(),
  }),
  output: z.union([RunDecided, HoldClosed.extend({ decided: z.literal(true) })]),
}).handler(async (handling, input) => {
  await recordDue(handling)
  const subject = await handling.store.view((reads) => findDecisionSubject(reads, input.id))
  const seen = await assertContentSeen(handling, { id: input.id, seen: input.content }, () =>
    subject.kind === 'run'
      ? shownContentOfRun(handling, subject.loaded)
      : shownContentOfItem(handling, subject.hold),
  )
  const approval: Approval = { reason: input.reason ?? null, role: input.role, event: input.event, seen }
  if (subject.kind === 'run') return approveRun(handling, subject.loaded, approval)
  return approveItem(handling, subject.hold, approval)
})

async function approveRun(
  handling: CommandContext,
  loaded: LoadedRun,
  { reason, role, event, seen }: Approval,
) {
  const { record, definition } = loaded
  const awaited = awaitedDecision(definition, record.state)
  const acting = handling.actor.role ?? role
  const approvals = (awaited?.approvals ?? [])
    .filter((asked) => acting === undefined || asked.role === acting)
    .map((asked) => ({ ...asked, reason, ...(seen && { shown: seen.approvals.get(asked.of) ?? null }) }))
  const named = event ?? eventFor('approve', awaited?.events ?? [])
  const command = `waymark approve ${record.id}`
  await assertFilesAreHere(handling, loaded, { event: named ?? undefined, approvals, command })
  if (named !== null) {
    return decideRun(handling, loaded, {
      event: named,
      reason,
      payload: null,
      role,
      approvals,
      seen: seen !== null,
    })
  }
  if (approvals.length > 0) return approveOnly(handling, loaded, approvals)
  throw noApprovalFailure(loaded, awaited?.events ?? [])
}

function noApprovalFailure({ record }: LoadedRun, events: readonly string[]): Failure {
  const message = `Run ${record.id} is in "${record.state}", which does not wait for an approval${events.length === 0 ? '' : `, but for ${events.join(' or ')}`}.`
  const hint =
    events.length === 0
      ? `waymark list-events ${record.id} shows what can happen there.`
      : `Send one of them: waymark decide ${record.id} ${events[0]} "<reason>".`
  return new Failure('REFUSED', message, { reason: 'no_approving_event', hint })
}

async function approveItem(handling: CommandContext, hold: InboxItem, { reason }: Approval) {
  if (hold.kind === 'stale_attempt') {
    throw new Failure(
      'REFUSED',
      `Hold ${hold.id} asks whether to give up a silent attempt: a yes could mean either.`,
      {
        reason: 'approval_ambiguous',
        hint: `Give it up with: waymark resolve ${hold.id}. Let it go on with: waymark resolve ${hold.id} --dismiss.`,
      },
    )
  }
  const { request } = hold
  if (hold.kind === 'blocker') {
    requireAnswerText(reason ?? undefined, {
      what: `Hold ${hold.id} is a question: its answer`,
      command: `waymark resolve ${hold.id} "<answer>"`,
    })
  }
  if (request?.kind === 'command') await approveCommand(handling, hold, request)
  const closed = await closeItem(handling, hold.id, {
    status: 'resolved',
    answer: reason ?? 'approved',
    said: hold.kind === 'blocker' ? 'answered' : 'approved',
    isDecision: true,
  })
  return { decided: true as const, ...closed }
}

/** What was asked about is approved, and only while it is there: a change since opens a new question. */
async function approveCommand(
  handling: CommandContext,
  hold: InboxItem,
  { hash, run, folder, pinned, edge, files: known = [] }: CommandApprovalRequest,
): Promise<void> {
  const { commandApprovals, shownContents, store, clock, actor } = handling
  const command = { run, folder, pinned }
  // Its files are on another machine: a yes here is to what was asked, and that one looks before it runs anything.
  if (edge !== handling.edge?.id) {
    return commandApprovals.approve({ ...command, hash, files: known, by: actor.name, at: clock.now() })
  }
  const now = await shownCommandOf(handling, command)
  if (now.content === hash) {
    const files = await commandApprovals.filesOf(command)
    await storeShownCommand({ shownContents }, { content: hash, parts: now.parts })
    return commandApprovals.approve({ ...command, hash, files, by: actor.name, at: clock.now() })
  }
  const difference = await shownContents.since(hash, await now.parts())
  const record = hold.runId === null ? null : await store.view(({ runs }) => runs.find(hold.runId ?? ''))
  const { approved, refusal } = await commandAnswer(handling, now.content)
  const isAnswered = approved || refusal !== null
  if (record) await askPerson(handling, record, [{ ...command, hash: now.content, isAnswered }])
  const asked = await store.view(({ holds }) => holds.openCommand(now.content))
  const what = difference === null ? 'its pinned files changed' : differenceWords(difference)
  throw new Failure('CONFLICT', `Hold ${hold.id} asks about "${run}" as it was before: ${what}.`, {
    reason: 'run_changed',
    hint: asked
      ? `Look at ${asked.id}, which asks about it as it is now: waymark inbox.`
      : 'waymark inbox lists what waits.',
    details: { hold_id: asked?.id ?? null, content: now.content, difference },
  })
}

/** Gives approvals that guards of an agent's event ask for: the run moves when the agent emits it. */
async function approveOnly(handling: CommandContext, before: LoadedRun, approvals: readonly ApprovalInput[]) {
  const { clock, fingerprint, commandRunner } = handling
  const external = await gatherState(handling, before, undefined)
  return handling.record(async (reads, setting) => {
    const loaded = await loadRun(reads, before.record.id)
    const run = engineRun(loaded, external.standings)
    const isAlive = (runner: string) => commandRunner.isAlive(runner)
    const observed = await observeRun(
      { reads, external, fingerprint, now: clock.now(), by: handling.actor, isAlive },
      loaded,
    )
    const requester = await requestAuthor(reads, loaded)
    const known = await reads.runs.approvals(loaded.record.id)
    const given = await giveApprovals(
      { reads, loaded, run, external, handling, requester, known },
      approvals,
      setting,
    )
    const evidence: Evidence = {
      dialect: loaded.definition.dialect,
      context: run.context,
      payload: {},
      artifacts: run.artifacts,
      declared: loaded.definition.artifacts,
      visits: run.visits,
      observed: { ...observed, approvals: [...observed.approvals, ...given.observed] },
    }
    const missing = missingApprovals(loaded, evidence)
    const holds = await reads.holds.ofRun(loaded.record.id)
    const done = missing.length === 0 ? endDecisions(holds, `approved by ${handling.actor.name}`) : []
    return {
      facts: [...given.recorded, ...done],
      answer: {
        run_id: loaded.record.id,
        decided: missing.length === 0,
        approvals: approvals.map(({ role, of }) => ({ role, of })),
        still_missing: missing,
        ...priorApprovalsNote(given.already),
      },
    }
  })
}

function missingApprovals({ definition, record }: LoadedRun, evidence: Evidence): readonly string[] {
  const named = new Set(
    definition.events
      .flatMap(({ name }) => candidates(definition, record.state, name))
      .flatMap(({ guard }) => guardNames(guard)),
  )
  return definition.guards.flatMap(({ name, guard }) => {
    if (guard.type !== 'approval' || !named.has(name)) return []
    const verdict = evaluateGuard(guard, evidence)
    return verdict.truth === 'holds' ? [] : [`${name}: ${verdict.reason}`]
  })
}

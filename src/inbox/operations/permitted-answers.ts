import { decisionChoices } from '../../gate/domain/decisions.ts'
import { eventNamed } from '../../gate/domain/definition.ts'
import type { RunRecord } from '../../gate/domain/run.ts'
import { awaitedApprovalRefusal } from '../../gate/operations/run/approvals.ts'
import { isAlone, waysOut } from '../../gate/operations/run/own-work.ts'
import type { LoadedRun } from '../../gate/ports/run-reads.ts'
import type { Failure } from '../../kernel/failure.ts'
import type { RecordContext } from '../../kernel/operations/operation.ts'
import { shellCommand } from '../../kernel/shell-word.ts'
import { excerpt, joinNames } from '../../kernel/text.ts'
import { hasGateRole } from '../../people/domain/access.ts'
import type { NameBehind } from '../../people/operations/agent-owners.ts'
import type { Reads } from '../../store/ports/store.ts'
import { decideCommand } from '../domain/answers.ts'
import type { InboxItem } from '../domain/inbox-item.ts'
import type { InboxItemLine } from '../ports/item-reads.ts'
import { permittedItemEntry } from './item-answer.ts'
import { remoteCommandRefusal } from './remote-command.ts'

type PermittedItem = ReturnType<typeof permittedItemEntry>
type ApprovalRefusal = { readonly failure: Failure; readonly run: RunRecord | null }

/** Why the caller cannot approve what a run waits for, or a command of another machine; null if they may. */
async function approvalRefusalOf(
  reads: Reads,
  {
    item,
    loaded,
    context,
  }: { readonly item: InboxItem; readonly loaded: LoadedRun | null; readonly context: RecordContext },
): Promise<ApprovalRefusal | null> {
  const { request, status } = item
  if (status === 'open' && request?.kind === 'command') {
    const failure = await remoteCommandRefusal(reads, item, context)
    return failure && { failure, run: null }
  }
  const failure = loaded && (await awaitedApprovalRefusal(reads, loaded, context))
  return failure ? { failure, run: loaded.record } : null
}

/** The run that an open item asks a person to decide about. */
export async function decisionOf(
  { runs }: Reads,
  { request, runId, status }: InboxItem,
): Promise<LoadedRun | null> {
  return status !== 'open' || request?.kind !== 'decision' || runId === null ? null : runs.load(runId)
}

interface Asker {
  readonly personOf: NameBehind
  readonly loaded: LoadedRun | null
  readonly context: RecordContext
}

/** An item with the answers that the caller may give. */
export async function permittedItem(
  reads: Reads,
  line: InboxItemLine,
  { personOf, loaded, context }: Asker,
): Promise<PermittedItem> {
  const { permissions } = context
  const entry = withChoices(permittedItemEntry(line, personOf, permissions), loaded, permissions)
  const refusal = await approvalRefusalOf(reads, { item: line.item, loaded, context })
  return withRoleReason(reads, withoutApproval(entry, refusal, context), { loaded, context })
}

/** Why the caller has no answer to a decision at all: its events are those of gate roles that others have. */
async function withRoleReason(
  { identities }: Reads,
  entry: PermittedItem,
  { loaded, context: { actor, permissions } }: Pick<Asker, 'loaded' | 'context'>,
): Promise<PermittedItem> {
  const { request, answers, cannot_approve: reason } = entry
  if (
    !permissions ||
    actor.kind !== 'person' ||
    loaded === null ||
    request?.kind !== 'decision' ||
    answers.length > 0 ||
    reason !== null
  )
    return entry
  const roles = [
    ...new Set(request.events.flatMap((event) => eventNamed(loaded.definition, event)?.allowedRoles ?? [])),
  ]
  const able = (await identities.members()).flatMap(({ member, person }) =>
    roles.some((role) => member.roles.includes(role)) ? [person.name] : [],
  )
  const who =
    able.length > 0
      ? `${joinNames(able.slice(0, 5))} can decide it.`
      : `Nobody has it yet. An owner can add it: ${shellCommand`waymark member set ${permissions.personName} --roles ${roles[0] ?? ''}`}`
  return {
    ...entry,
    cannot_approve: `It needs the gate role ${roles.map((role) => `"${role}"`).join(' or ')}, which ${permissions.personName} does not have. ${who}`,
  }
}

/** Whether the caller may answer an open item in any way. A command that they can only reject waits for its own machine. */
export async function mayAnswer(reads: Reads, line: InboxItemLine, context: RecordContext): Promise<boolean> {
  const loaded = await decisionOf(reads, line.item)
  const entry = await permittedItem(reads, line, { personOf: () => null, loaded, context })
  const isElsewhere = entry.request?.kind === 'command' && entry.cannot_approve !== null
  return entry.answers.length > 0 && !isElsewhere
}

/**
 * Of a decision, the answers that its process has: it may know no approval or no rejection, and other events. On a server,
 * those of the caller's gate roles.
 */
function withChoices(
  entry: PermittedItem,
  loaded: LoadedRun | null,
  permissions: RecordContext['permissions'],
): PermittedItem {
  const { request, answers } = entry
  if (loaded === null || request?.kind !== 'decision') return entry
  const choices = decisionChoices(loaded.definition, request.state, request.events).filter(({ event }) =>
    maySend(event, loaded, permissions),
  )
  const has = (answer: 'yes' | 'no') => choices.some((choice) => choice.answer === answer)
  const isApproved = has('yes') || request.approvals.length > 0
  return {
    ...entry,
    answers: [
      ...answers.filter(({ verb }) => (verb === 'Approve' ? isApproved : verb !== 'Reject' || has('no'))),
      ...choices
        .filter(({ answer }) => answer === 'other')
        .map(({ event, description, asksFor }) => ({
          verb: description === null ? event : excerpt(description, 160),
          command: decideCommand(loaded.record.id, event, asksFor),
        })),
    ],
  }
}

/** Whether a person may send an event of a run: on a server, in one of their gate roles. */
export function maySend(
  event: string,
  { definition }: LoadedRun,
  permissions: RecordContext['permissions'],
): boolean {
  const roles = eventNamed(definition, event)?.allowedRoles ?? []
  return !permissions || roles.some((role) => role === '*' || hasGateRole(permissions, role))
}

/** An item offers no approval that would be refused; one person alone gets the ways out. */
function withoutApproval(
  entry: PermittedItem,
  refusal: ApprovalRefusal | null,
  { permissions }: RecordContext,
): PermittedItem {
  if (refusal === null || entry.cannot_approve !== null) return entry
  const others = entry.answers.filter(({ verb }) => verb !== 'Approve')
  const out = refusal.run !== null && isAlone(permissions) ? waysOut(refusal.run) : []
  return { ...entry, answers: [...others, ...out], cannot_approve: refusal.failure.message }
}

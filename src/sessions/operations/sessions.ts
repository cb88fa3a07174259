import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import type { CaptureSessionId, TurnId } from '../../kernel/id.ts'
import { identifier, name, text } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { waitingHooks } from '../../kernel/operations/local-work-tree.ts'
import { prepareSteps } from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation, type QueryContext } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import { hashRemoval } from '../../lines/operations/forget-hashes.ts'
import type { Reads } from '../../store/ports/store.ts'
import {
  diffAnswer,
  maxShownDiff,
  truncationFields,
  UndoneEntry,
  undoneEntry,
} from '../../track/operations/attempt-answer.ts'
import { attemptEnds } from '../../track/operations/measure-attempt.ts'
import { unifiedDiffs } from '../../track/operations/measure-diff.ts'
import type { SessionLine, TurnSummary } from '../ports/capture-reads.ts'
import {
  SessionEntry,
  sessionEntry,
  TurnChangeEntry,
  TurnEntry,
  turnChangeEntry,
  turnEntry,
} from './session-answer.ts'

export const sessions = defineOperation({
  name: 'sessions',
  command: 'sessions',
  toolset: 'track',
  audience: 'both',
  title: 'List recorded sessions',
  description:
    'List the sessions of coding agents that hooks recorded, newest first. The changes of their turns are measured, not claimed.',
  kind: 'query',
  input: z.strictObject({
    client: name('Only of this client, such as claude-code').optional(),
    ...pageFields(1000, 'How many; default 20'),
  }),
  output: z.object({ sessions: list(SessionEntry), ...page }),
}).handler(async (handling, input) => {
  await handling.ingest?.()
  const { store, actor } = handling
  const paging = new Paging('sessions', input, actor)
  const rows = await store.view(({ capture }) =>
    capture.sessions(input.client === undefined ? {} : { client: input.client }, paging.request()),
  )
  const visible = rows.items.slice(0, paging.limit)
  return {
    sessions: visible.map(({ item }) => sessionEntry(item)),
    total: rows.total,
    next_cursor: paging.next(rows.items, visible.length, ({ seq }) => seq),
  }
})

const maxTurns = 200
const maxChanges = 200

export const sessionsShow = defineOperation({
  name: 'sessions_show',
  command: 'sessions show',
  toolset: 'track',
  audience: 'both',
  title: 'Show a session turn by turn',
  description:
    'Show the turns of a session: what each changed, how certain its author is, and the model and tokens that the client reports. Turns without changes are hidden by default.',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({
    id: identifier('A session or one of its turns (cs-…, tn-…)'),
    all: z.boolean().describe('Also turns without changes').optional(),
    ...pageFields(maxTurns, 'How many turns; default 50'),
  }),
  output: z.object({
    session: SessionEntry,
    turns: list(
      TurnEntry.extend({
        /** A person took its changes back. */
        undone: UndoneEntry.optional(),
        /** Redacted, and only where prompts are kept. */
        prompt: z.string().nullable(),
        changes: list(TurnChangeEntry),
        /** Changed meanwhile, probably by others. */
        contested: list(z.object({ path: z.string(), candidates: strings })),
        /** Changed meanwhile by a person, or by a tool that no hook reported. */
        outside: strings,
        /** Reported by an edit tool, and no different at the end. */
        unfound: strings,
        commits: list(
          z.object({ id: z.string(), subject: z.string(), whose: z.enum(['own', 'other', 'unknown']) }),
        ),
        notes: strings,
        edits: z.int(),
        commands: z.int(),
        /** Attempts that were opened in it, and how that is known. */
        attempts: list(
          z.object({ attempt_id: z.string(), link: z.enum(['answer', 'call', 'environment', 'assumed']) }),
        ),
      }),
    ),
    hidden: z.int(),
    next_cursor: page.next_cursor,
  }),
}).handler(async (handling, input) => {
  await handling.ingest?.()
  const paging = new Paging('sessions_show', input, handling.actor, 50)
  const { limit } = paging
  return handling.store.view(async (reads) => {
    const { capture } = reads
    const requestedTurn = input.id.startsWith('tn-') ? await findTurn(reads, input.id) : null
    const session = await findSession(reads, requestedTurn?.turn.sessionId ?? input.id)
    const all =
      requestedTurn === null
        ? await capture.turns(session.session.id, { limit: limit + 1, offset: paging.offset() })
        : [requestedTurn]
    const lines = all.slice(0, limit)
    const visible = lines.filter(
      (line) => input.all === true || requestedTurn !== null || isWorthListing(line),
    )
    const ids = visible.map(({ turn }) => turn.id)
    const [edits, commands, prompts, links, undone] = await Promise.all([
      capture.edits(ids),
      capture.commands(ids),
      capture.prompts(ids),
      capture.linksIn([session.session.id]),
      reads.treeWrites.undone(ids),
    ])
    const turns = await Promise.all(
      visible.map(async (line) => {
        const { id } = line.turn
        const undo = undone.get(id)
        const [evidence, changes] = await Promise.all([
          capture.evidence(id),
          capture.changes(id, { limit: maxChanges, offset: 0 }),
        ])
        return {
          ...turnEntry(line),
          ...(undo && { undone: undoneEntry(undo) }),
          prompt: prompts.get(id) ?? null,
          changes: changes.map(turnChangeEntry),
          contested: evidence?.contested ?? [],
          outside: evidence?.outside ?? [],
          unfound: evidence?.unfound ?? [],
          commits: (evidence?.commits ?? []).map(({ author, ...commit }) => ({ ...commit, whose: author })),
          notes: evidence?.notes ?? [],
          edits: edits.get(id)?.length ?? 0,
          commands: commands.get(id)?.length ?? 0,
          attempts: links
            .filter(({ turnId }) => turnId === id)
            .map(({ attemptId, link }) => ({ attempt_id: attemptId, link })),
        }
      }),
    )
    return {
      session: sessionEntry(session),
      turns,
      hidden: lines.length - visible.length,
      next_cursor: paging.nextOffset(lines.length, paging.offset() + all.length),
    }
  })
})

/** Whether a turn has anything to show. */
function isWorthListing({ turn, counts, lost }: TurnSummary): boolean {
  if (turn.status !== 'ended' || lost > 0 || counts === null) return true
  return counts.added + counts.modified + counts.deleted + counts.renamed > 0
}

export const sessionsDiff = defineOperation({
  name: 'sessions_diff',
  command: 'sessions diff',
  toolset: 'track',
  audience: 'both',
  title: 'Show the diff of a turn',
  description:
    'Show what a turn changed, line by line, between its snapshots. An open turn is measured now. Only files that are, or may be, its own.',
  kind: 'query',
  positional: ['id', 'path'],
  input: z.strictObject({
    id: identifier('A turn (tn-…)'),
    path: text('Only this file, from the top of the work tree').optional(),
  }),
  output: z.object({
    turn_id: z.string(),
    session_id: z.string(),
    diff: z.string(),
    ...truncationFields,
  }),
})
  .measure({ hooks: waitingHooks, end: attemptEnds, diff: unifiedDiffs })
  .prepare((reads, input, context, measured) =>
    prepareSteps(measured, async (measure) => {
      if (context.ingest) await measure({ hooks: {} })
      const line = await findTurn(reads, input.id)
      const changes = await reads.capture.changes(input.id, { limit: 20_000, offset: 0 })
      const { turn } = line
      const { id, snapshot: from, top } = turn
      assertOnThisMachine(context, line)
      const isOpen = turn.status === 'open'
      const now =
        from !== null && isOpen
          ? await measure({ end: [{ id, top, prefix: '', engine: from.engine }] })
          : null
      const to = isOpen ? (now?.end[0]?.place ?? null) : turn.endSnapshot
      if (from === null || to === null) {
        throw new Failure('UNAVAILABLE', `The changes of turn ${id} were not measured.`, {
          reason: 'turn_not_measured',
          hint: `waymark sessions show ${id} shows why.`,
        })
      }
      const named = changes.filter(({ path, from: old }) => [undefined, path, old].includes(input.path))
      const own = named.flatMap(({ path, from: old }) => (old === undefined ? [path] : [path, old]))
      if (!isOpen && input.path !== undefined && own.length === 0) {
        throw new Failure('NOT_FOUND', `"${input.path}" is no file that turn ${id} changed.`, {
          reason: 'file_not_in_turn',
          hint: `waymark sessions show ${id} lists those.`,
        })
      }
      const requested = input.path === undefined ? null : [input.path]
      const paths = isOpen ? requested : own
      const parts = paths?.length === 0 ? [] : [{ from, to, paths }]
      const { diff } = await measure({ diff: { maxLength: maxShownDiff, parts } })
      return { turn, diff }
    }),
  )
  .answer(async ({ found: { turn, diff } }) => {
    const found = diff.filter((one) => one !== null)
    if (found.length < diff.length) {
      throw new Failure('UNAVAILABLE', `The snapshots of turn ${turn.id} are gone or cannot be compared.`, {
        reason: 'turn_snapshots_unavailable',
        hint: `waymark sessions show ${turn.id} still lists the files; snapshots are kept for 30 days.`,
      })
    }
    return { turn_id: turn.id, session_id: turn.sessionId, ...diffAnswer(found) }
  })

/** Only the machine with the files has the contents of their snapshots. */
function assertOnThisMachine(
  { machine }: Pick<QueryContext, 'machine'>,
  { turn: { id, snapshot } }: TurnSummary,
): void {
  if (snapshot === null || snapshot.machineId === machine?.id) return
  const where = snapshot.machineName ?? 'the machine that keeps the record'
  throw new Failure('UNAVAILABLE', `The changes of turn ${id} are on ${where}, and can be read only there.`, {
    reason: 'turn_on_other_machine',
    hint: `Run it there: waymark sessions diff ${id}. waymark sessions show ${id} lists the files.`,
  })
}

export const sessionsForget = defineOperation({
  name: 'sessions_forget',
  command: 'sessions forget',
  toolset: 'track',
  audience: 'person',
  title: 'Delete the texts of a session',
  description:
    'Delete the texts kept of a session: its prompts, the path of its transcript, and the hashes of its lines. Measurements stay.',
  kind: 'command',
  destructive: true,
  idempotent: true,
  positional: ['id'],
  input: z.strictObject({ id: identifier('A session (cs-…)') }),
  output: z.object({
    session_id: z.string(),
    forgotten: z.boolean(),
    prompts: z.int(),
    /** Changes of files whose lines have no hashes any more. */
    changes: z.int(),
  }),
}).handler((handling, input) =>
  handling.record(async (reads) => {
    const { session, forgottenAt } = await findSession(reads, input.id)
    const turns = await reads.capture.turns(session.id, { limit: 1000, offset: 0 })
    const prompts = await reads.capture.prompts(turns.map(({ turn }) => turn.id as TurnId))
    const links = await reads.capture.linksIn([session.id])
    const steps = await reads.lines.stepsMadeBy([
      ...links.map(({ attemptId }) => attemptId),
      ...turns.map(({ turn }) => turn.id),
    ])
    const lines = hashRemoval(session.id, steps)
    const answer = {
      session_id: session.id,
      forgotten: true,
      prompts: prompts.size,
      changes: steps.length,
    }
    if (forgottenAt !== null && prompts.size === 0) return { ...lines, answer }
    const sessionId: CaptureSessionId = session.id
    return {
      events: [{ kind: 'session.forgotten', sessionId, client: session.client }, ...lines.events],
      sideWrites: [{ kind: 'prompts forgotten', sessionId }, ...lines.sideWrites],
      answer,
    }
  }),
)

async function findSession({ capture }: Reads, id: string): Promise<SessionLine> {
  const line = await capture.session(id)
  if (line) return line
  throw new Failure('NOT_FOUND', `There is no session "${id}".`, {
    reason: 'session_not_found',
    hint: 'waymark sessions lists them. waymark capture status shows whether hooks arrive.',
  })
}

const maxNamed = 5

async function findTurn({ capture }: Reads, id: string): Promise<TurnSummary> {
  const line = await capture.turn(id)
  if (line) return line
  const session = await capture.session(id)
  if (session) {
    const turns = await capture.turns(session.session.id, { limit: 1000, offset: 0 })
    const listed = turns.filter(isWorthListing).map(({ turn }) => turn.id)
    const last = listed.slice(-maxNamed)
    const ending =
      listed.length > last.length ? `its last are ${last.join(', ')}` : `it has ${last.join(', ')}`
    throw new Failure('INVALID_INPUT', `${id} is a session. Only a turn has a diff.`, {
      reason: 'turn_required',
      hint:
        last.length === 0
          ? 'None of its turns changed a file.'
          : `Use one of its turns: waymark sessions diff ${last.at(-1)} (${ending})`,
    })
  }
  throw new Failure('NOT_FOUND', `There is no turn "${id}".`, {
    reason: 'turn_not_found',
    hint: 'waymark sessions show <session> lists the turns of a session.',
  })
}

import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import { instant } from '../../kernel/instant.ts'
import { identifier, text } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { defineOperation, type QueryContext } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { ApprovedCommand, RefusedCommand } from '../ports/command-runner.ts'

/** A command that a person said yes or no to. */
const Answered = z.object({
  hash: z.string(),
  run: z.string(),
  folder: z.string(),
  by: z.string(),
  at: z.string(),
})

export const commandList = defineOperation({
  name: 'command_list',
  command: 'command list',
  toolset: 'gate',
  audience: 'both',
  title: 'Commands that a person approved or refused',
  description:
    'What guards may run in the work trees of this project: who approved it, with which pinned files, and whether it is still as approved; and what a person refused.',
  kind: 'query',
  input: z.strictObject(pageFields(500, 'How many; default 50')),
  output: z.object({
    commands: list(
      Answered.extend({
        as_approved: z.boolean(),
        files: list(z.object({ path: z.string(), sha256: z.string().nullable() })),
      }),
    ),
    ...page,
    refused: list(Answered.extend({ reason: z.string() })),
  }),
}).handler(async (context, input) => {
  const { approved, refused } = await locallyAnsweredCommands(context)
  const asked = new Paging('command_list', input, context.actor, 50)
  const { entries, ...rest } = asked.slice(approved, ({ hash, folder }) => `${hash} ${folder}`)
  return {
    commands: await Promise.all(
      entries.map(async (command) => ({
        hash: command.hash,
        run: command.run,
        folder: command.folder,
        as_approved: (await context.commandApprovals.hashOf(command)) === command.hash,
        files: command.files.slice(0, 50),
        by: command.by,
        at: instant(command.at),
      })),
    ),
    ...rest,
    refused: refused.slice(0, asked.limit).map(({ hash, run, folder, reason, by, at }) => {
      return { hash, run, folder, reason, by, at: instant(at) }
    }),
  }
})

/** Answers in other projects of the same user are not this project's business. */
async function locallyAnsweredCommands({
  commandApprovals,
  witness,
  folder,
  store,
}: Pick<QueryContext, 'commandApprovals' | 'witness' | 'folder' | 'store'>): Promise<{
  readonly approved: readonly ApprovedCommand[]
  readonly refused: readonly RefusedCommand[]
}> {
  const others = await witness.others(folder).catch((error: unknown) => {
    if (error instanceof Failure) return []
    throw error
  })
  const folders = [folder, ...others]
  const recorded = await store.view(recordedRefusals)
  const said = new Set(recorded.map(({ hash }) => hash))
  const approved = await commandApprovals.list(folders)
  const refused = await commandApprovals.refused(folders)
  return {
    approved: approved.filter(({ hash }) => !said.has(hash)),
    refused: [...recorded, ...refused.filter(({ hash }) => !said.has(hash))].sort(
      (one, other) => other.at - one.at,
    ),
  }
}

const mostRefused = 200

/** What was said no to on any machine of the record. */
async function recordedRefusals({ holds }: Reads): Promise<readonly RefusedCommand[]> {
  const { items } = await holds.list({ kinds: ['command'], status: 'closed' }, { limit: mostRefused })
  const hashes = items.flatMap(({ item: { hold } }) =>
    hold.status === 'dismissed' && hold.request?.kind === 'command' ? [hold.request.hash] : [],
  )
  const answered = await holds.answeredCommands([...new Set(hashes)])
  return answered.flatMap(({ status, request, closedBy, closedAt, answer }) => {
    if (status !== 'dismissed' || request?.kind !== 'command') return []
    const { hash, run, folder, pinned, files = [] } = request
    return [{ hash, run, folder, pinned, files, by: closedBy ?? '', at: closedAt ?? 0, reason: answer ?? '' }]
  })
}

export const commandRevoke = defineOperation({
  name: 'command_revoke',
  command: 'command revoke',
  toolset: 'gate',
  audience: 'person',
  title: 'Take back the answer to a command',
  description:
    'An approved command no longer runs until a person approves it again, and its results no longer count; a refused one is asked about again.',
  kind: 'command',
  destructive: true,
  positional: ['hash', 'reason'],
  input: z.strictObject({
    hash: identifier('Of the approval, or its first characters (waymark command list)'),
    reason: text('Why').optional(),
  }),
  output: z.object({
    hash: z.string(),
    run: z.string(),
    folder: z.string(),
    approved_by: z.string().optional(),
    refused_by: z.string().optional(),
    revoked_by: z.string(),
  }),
}).handler(async (handling, input) => {
  const named = input.hash.toLowerCase()
  const answered = await locallyAnsweredCommands(handling)
  const found = [...answered.approved, ...answered.refused].filter(({ hash }) => hash.startsWith(named))
  const [approved] = found
  if (approved === undefined || named.length < 6) {
    throw new Failure(
      'NOT_FOUND',
      `No approved or refused command of this project has a hash that begins with "${input.hash}".`,
      {
        reason: 'command_approval_not_found',
        hint: 'waymark command list shows them; six characters are enough.',
      },
    )
  }
  if (found.length > 1) {
    throw new Failure('INVALID_INPUT', `${found.length} commands begin with "${input.hash}".`, {
      reason: 'command_hash_ambiguous',
      hint: `Give more of the hash: ${found.map(({ hash }) => hash.slice(0, 16)).join(', ')}.`,
    })
  }
  const { hash, run, folder } = approved
  await handling.commandApprovals.revoke(hash)
  return handling.record(async () => ({
    facts: [{ kind: 'command.revoked', hash, run, folder, reason: input.reason ?? null }],
    answer: {
      hash,
      run,
      folder,
      ...('reason' in approved ? { refused_by: approved.by } : { approved_by: approved.by }),
      revoked_by: handling.actor.name,
    },
  }))
})

import { z } from 'zod'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { WithdrawnCommand } from '../../inbox/ports/item-reads.ts'
import { Failure } from '../../kernel/failure.ts'
import { instant } from '../../kernel/instant.ts'
import {
  approved,
  path,
  pinned,
  refused,
  sha,
  measuredList as upTo,
  words,
} from '../../kernel/operations/fields.ts'
import { identifier, text } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import {
  measurement,
  prepareSteps,
  type Readable,
  requireMeasured,
  type WorkTree,
} from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation, type RecordContext } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import { similarSpelling } from '../../kernel/shell-word.ts'
import type { Reads, StoreReader } from '../../store/ports/store.ts'
import type { ApprovedCommand } from '../ports/command-runner.ts'

/** A command that a person approved or refused. */
const Answered = z.object({
  hash: z.string(),
  run: z.string(),
  folder: z.string(),
  author: z.string(),
  created_at: z.string(),
})

const maxRecorded = 200

const localAnswers = z.strictObject({ approved: upTo(approved), refused: upTo(refused) })

export const commandList = defineOperation({
  name: 'command_list',
  command: 'command list',
  toolset: 'gate',
  audience: 'both',
  title: 'List approved and refused commands',
  description:
    'List the commands that guards may run in this project: who approved each, its pinned files, and whether it still matches. Also those that a person refused, or that are approved for other machines.',
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
    /** Approved, but not in the list of this machine: each runs on the machine that asked, if it trusts the server. */
    approved_elsewhere: list(Answered),
    refused: list(Answered.extend({ reason: z.string() })),
  }),
})
  .measure({
    local: measurement({
      brief: z.strictObject({}),
      measured: localAnswers,
      measure: locallyAnswered,
    }),
    hashes: measurement({
      brief: upTo(pinned, 500),
      measured: upTo(sha, 500),
      fits: (commands, hashes) => commands.length === hashes.length,
      measure: async ({ commandApprovals }, commands) =>
        Promise.all(commands.map((command) => commandApprovals.hashOf(command))),
    }),
  })
  .prepare((reads, input, { actor, machine }, measured) =>
    prepareSteps(measured, async (measure) => {
      const { local } = await measure({ local: {} })
      const { approved: here, elsewhere, refused: no } = await countedAnswers(reads, local, { machine })
      const paging = new Paging('command_list', input, actor, 50)
      const page = paging.slice(here, ({ hash, folder }) => `${hash} ${folder}`)
      const commands = page.entries.map(({ run, folder, pinned: files }) => ({ run, folder, pinned: files }))
      const { hashes } = await measure({ hashes: commands })
      return {
        shown: page,
        hashes,
        elsewhere: newestFirst(elsewhere).slice(0, paging.limit),
        refused: newestFirst(no).slice(0, paging.limit),
      }
    }),
  )
  .answer(async ({ found: { shown: page, hashes, elsewhere, refused } }) => {
    const { entries, ...rest } = page
    return {
      commands: entries.map((command, index) => ({
        ...answeredEntry(command),
        as_approved: hashes[index] === command.hash,
        files: command.files.slice(0, 50),
      })),
      ...rest,
      approved_elsewhere: elsewhere.map(answeredEntry),
      refused: refused.map((command) => ({ ...answeredEntry(command), reason: command.reason })),
    }
  })

function answeredEntry({ hash, run, folder, author, createdAt }: Readable<ApprovedCommand>) {
  return { hash, run, folder, author, created_at: instant(createdAt) }
}

function newestFirst<Command extends ApprovedCommand>(commands: readonly Command[]): readonly Command[] {
  return commands.toSorted((one, other) => other.createdAt - one.createdAt)
}

function without<Command extends { readonly hash: string }>(
  known: readonly { readonly hash: string }[],
  commands: readonly Command[],
): readonly Command[] {
  const hashes = new Set(known.map(({ hash }) => hash))
  return commands.filter(({ hash }) => !hashes.has(hash))
}

/** Several machines may have asked about the same. */
function oncePerHash<Command extends { readonly hash: string }>(
  commands: readonly Command[],
): readonly Command[] {
  return [...new Map(commands.toReversed().map((command) => [command.hash, command])).values()].reverse()
}

/** The answers that count, one for each hash: the last one in the record, else that in the machine's own lists. */
async function countedAnswers(
  reads: Reads,
  local: Readable<z.output<typeof localAnswers>>,
  { machine, prefix }: { readonly machine: RecordContext['machine']; readonly prefix?: string },
) {
  const recorded = await recordedAnswers(reads, prefix)
  const own = [...local.approved, ...local.refused].map(({ hash }) => hash)
  const answered = await reads.inboxItems.answeredCommands([...new Set(own)], machine?.id ?? null)
  const last = new Map(answered.map(({ hash, item }) => [hash, item?.status ?? 'revoked']))
  const counting = <Command extends ApprovedCommand>(commands: readonly Command[], status: string) =>
    commands.filter(({ hash }) => (last.get(hash) ?? status) === status)
  const approved = counting(local.approved, 'resolved')
  return {
    approved,
    /** Only in the record: each runs on the machine that asked, if it trusts the server. */
    elsewhere: oncePerHash(without(approved, recorded.approved)),
    refused: [
      ...without(approved, recorded.refused),
      ...without(recorded.refused, counting(local.refused, 'dismissed')),
    ],
  }
}

/** The answers in this machine's own lists for the project. */
async function locallyAnswered({ commandApprovals, witness, folder }: WorkTree) {
  const others = await witness.others(folder).catch((error: unknown) => {
    if (error instanceof Failure) return []
    throw error
  })
  const folders = [folder, ...others]
  return {
    approved: (await commandApprovals.list(folders)).map(withPlainLists),
    refused: (await commandApprovals.refusedIn(folders)).map(withPlainLists),
  }
}

function withPlainLists<Command extends ApprovedCommand>(command: Command) {
  return { ...command, pinned: [...command.pinned], files: [...command.files] }
}

/** The last answers of people in the record, for all machines, except those that were revoked. */
async function recordedAnswers({ inboxItems }: Reads, prefix = '') {
  const answered = await inboxItems.lastAnsweredCommands(prefix, maxRecorded)
  const commands = answered.flatMap(({ status, request, closedBy, closedAt, answer }) => {
    if (request?.kind !== 'command') return []
    const { hash, run, folder, pinned, files = [], machine } = request
    const [author, createdAt, reason] = [closedBy ?? '', closedAt ?? 0, answer ?? '']
    return [{ status, hash, run, folder, pinned, files, machine, author, createdAt, reason }]
  })
  return {
    approved: commands.filter(({ status }) => status === 'resolved'),
    refused: commands.filter(({ status }) => status === 'dismissed'),
  }
}

/** Finds the last approval in the record of a line in a folder of a machine, for a question about its changed files. */
export async function earlierApprovals(reads: Reads, machine: RecordContext['machine']) {
  const approved = machine ? newestFirst((await recordedAnswers(reads)).approved) : []
  return ({ run, folder }: Pick<ApprovedCommand, 'run' | 'folder'>) => {
    const last = approved.find(
      (one) => one.machine === machine?.id && one.run === run && one.folder === folder,
    )
    return last && { before: { hash: last.hash, author: last.author, createdAt: last.createdAt } }
  }
}

/** What people rejected or revoked until now; null if that cannot be read. */
export async function readWithdrawnCommands(store: StoreReader): Promise<readonly WithdrawnCommand[] | null> {
  return store
    .view(({ inboxItems }) => inboxItems.withdrawnCommands(maxRecorded))
    .catch((error: unknown) => {
      if (error instanceof Failure) return null
      throw error
    })
}

/**
 * A restored record lacks what people withdrew after its backup: these commands are asked about again. If that is unknown,
 * all that are approved in the record or on this machine.
 */
export async function withdrawnAgain(
  reads: Reads,
  known: readonly WithdrawnCommand[] | null,
  approvedHere: readonly ApprovedCommand[],
): Promise<readonly NewProjectEvent[]> {
  const seqs = new Map(
    (await reads.inboxItems.withdrawnCommands(maxRecorded)).map(({ hash, seq }) => [hash, seq]),
  )
  const commands =
    known?.filter(({ hash, seq }) => seqs.get(hash) !== seq) ??
    oncePerHash([...approvedHere, ...(await recordedAnswers(reads)).approved])
  const reason = 'A backup was restored.'
  return commands.map(({ hash, run, folder }) => ({ kind: 'command.revoked', hash, run, folder, reason }))
}

/** Finds the last rejection in the record of a similar line in the same folder. */
export async function similarRejection(
  reads: Reads,
  { run, folder }: Pick<ApprovedCommand, 'run' | 'folder'>,
) {
  const { refused } = await recordedAnswers(reads)
  const line = similarSpelling(run)
  return newestFirst(refused).find((one) => one.folder === folder && similarSpelling(one.run) === line)
}

/** More than one is refused as ambiguous. */
const maxMatches = 20

export const commandRevoke = defineOperation({
  name: 'command_revoke',
  command: 'command revoke',
  toolset: 'gate',
  audience: 'person',
  title: 'Revoke the approval or refusal of a command',
  description:
    'Revoke the approval or refusal of a command. An approved one no longer runs until a person approves it again, and its results stop counting. A refused one can be approved again.',
  kind: 'command',
  destructive: true,
  positional: ['hash', 'reason'],
  input: z.strictObject({
    hash: identifier('Hash of the approval, or its first characters (waymark command list)'),
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
})
  .measure({
    local: measurement({
      brief: z.strictObject({}),
      measured: localAnswers,
      measure: async (workTree, _, input) => {
        const answered = await locallyAnswered(workTree)
        const isNamed = ({ hash }: { readonly hash: string }) =>
          hash.startsWith(String(input['hash']).toLowerCase())
        return {
          approved: answered.approved.filter(isNamed).slice(0, maxMatches),
          refused: answered.refused.filter(isNamed).slice(0, maxMatches),
        }
      },
    }),
  })
  .prepare((reads, { hash }, { machine }, measured) =>
    prepareSteps(measured, async (measure) => {
      const { local } = await measure({ local: {} })
      return countedAnswers(reads, local, { machine, prefix: hash.toLowerCase() })
    }),
  )
  .apply({
    plan: z.strictObject({
      hash: sha,
      run: words,
      folder: path,
      author: z.string(),
      wasApproved: z.boolean(),
    }),
    applied: z.null(),
    decide: async ({ found }, input) => {
      const { approved: here, elsewhere, refused: no } = requireMeasured(found)
      const approvals = [...here, ...elsewhere]
      const matches = [...approvals, ...without(approvals, no)]
      const [first] = matches
      if (first === undefined || input.hash.length < 6) {
        throw new Failure(
          'NOT_FOUND',
          `This project has no approved or refused command with a hash that begins with "${input.hash}".`,
          {
            reason: 'command_approval_not_found',
            hint: 'waymark command list shows them. Six characters are enough.',
          },
        )
      }
      if (matches.length > 1) {
        throw new Failure('INVALID_INPUT', `${matches.length} commands begin with "${input.hash}".`, {
          reason: 'command_hash_ambiguous',
          hint: `Use more of the hash: ${matches.map(({ hash }) => hash.slice(0, 16)).join(', ')}`,
        })
      }
      const { hash, run, folder, author } = first
      return { hash, run, folder, author, wasApproved: approvals.includes(first) }
    },
    apply: async ({ commandApprovals }, { hash }) => {
      await commandApprovals.revoke(hash)
      return null
    },
  })
  .record(async ({ plan: { hash, run, folder, author, wasApproved }, context }, input) => ({
    events: [{ kind: 'command.revoked', hash, run, folder, reason: input.reason ?? null }],
    answer: {
      hash,
      run,
      folder,
      ...(wasApproved ? { approved_by: author } : { refused_by: author }),
      revoked_by: context.actor.name,
    },
  }))

import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import { identifier, text } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { answeredHere } from './list.ts'

export const commandRevoke = defineOperation({
  name: 'command_revoke',
  command: 'command revoke',
  toolset: 'gate',
  audience: 'person',
  title: 'Take back the answer to a command',
  description:
    'An approved command does not run any more until a person approves it again, and its results count no more; a refused one is asked about again.',
  kind: 'command',
  destructive: true,
  positional: ['hash', 'reason'],
  input: z.strictObject({
    hash: identifier('Of the approval, or its first characters (waymark command list)'),
    reason: text('Why').optional(),
  }),
  output: z.looseObject({ hash: z.string(), run: z.string(), folder: z.string() }),
}).handler(async (handling, input) => {
  const named = input.hash.toLowerCase()
  const answered = await answeredHere(handling)
  const found = [...answered.approved, ...answered.refused].filter(({ hash }) => hash.startsWith(named))
  const [approved] = found
  if (approved === undefined || named.length < 6) {
    throw new Failure(
      'NOT_FOUND',
      `No approved or refused command of this project has a hash that begins with "${input.hash}".`,
      {
        hint: 'waymark command list shows them; six characters are enough.',
      },
    )
  }
  if (found.length > 1) {
    throw new Failure('INVALID_INPUT', `${found.length} commands begin with "${input.hash}".`, {
      hint: `Give more of the hash: ${found.map(({ hash }) => hash.slice(0, 16)).join(', ')}.`,
    })
  }
  const { hash, run, folder } = approved
  await handling.commandApprovals.revoke(hash)
  return handling.record(async () => ({
    happenings: [{ kind: 'command.revoked', hash, run, folder, reason: input.reason ?? null }],
    answer: {
      hash,
      run,
      folder,
      ...('reason' in approved ? { refused_by: approved.by } : { approved_by: approved.by }),
      revoked_by: handling.actor.name,
    },
  }))
})

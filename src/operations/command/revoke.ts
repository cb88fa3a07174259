import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import { identifier, text } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { approvedHere } from './list.ts'

export const commandRevoke = defineOperation({
  name: 'command_revoke',
  command: 'command revoke',
  toolset: 'gate',
  audience: 'person',
  title: 'Take back the approval of a command',
  description:
    'It does not run any more until a person approves it again; a result that it had counts no more.',
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
  const found = (await approvedHere(handling)).filter(({ hash }) => hash.startsWith(named))
  const [approved] = found
  if (approved === undefined || named.length < 6) {
    throw new Failure(
      'NOT_FOUND',
      `No approved command of this project has a hash that begins with "${input.hash}".`,
      {
        hint: 'waymark command list shows them; six characters are enough.',
      },
    )
  }
  if (found.length > 1) {
    throw new Failure('INVALID_INPUT', `${found.length} approved commands begin with "${input.hash}".`, {
      hint: `Give more of the hash: ${found.map(({ hash }) => hash.slice(0, 16)).join(', ')}.`,
    })
  }
  const { hash, run, folder } = approved
  await handling.commandApprovals.revoke(hash)
  return handling.record(async () => ({
    happenings: [{ kind: 'command.revoked', hash, run, folder, reason: input.reason ?? null }],
    answer: { hash, run, folder, approved_by: approved.by, revoked_by: handling.actor.name },
  }))
})

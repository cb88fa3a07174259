import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import { instant } from '../../domain/instant.ts'
import type { ApprovedCommand } from '../../ports/command-runner.ts'
import type { Context } from '../context.ts'
import { count } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'

export const commandList = defineOperation({
  name: 'command_list',
  command: 'command list',
  toolset: 'gate',
  audience: 'both',
  title: 'Commands that a person approved',
  description:
    'What guards may run in the work trees of this project: who approved it, with which pinned files, and whether it is still as approved.',
  kind: 'query',
  input: z.strictObject({ limit: count('How many; default 50', 500).optional() }),
  output: z.looseObject({
    commands: z.array(z.looseObject({ hash: z.string(), run: z.string(), as_approved: z.boolean() })),
    total: z.int(),
  }),
}).handler(async (context, input) => {
  const approved = await approvedHere(context)
  return {
    commands: await Promise.all(
      approved.slice(0, input.limit ?? 50).map(async (command) => ({
        hash: command.hash,
        run: command.run,
        folder: command.folder,
        as_approved: (await context.commandApprovals.hashOf(command)) === command.hash,
        files: command.files.slice(0, 50),
        by: command.by,
        at: instant(command.at),
      })),
    ),
    total: approved.length,
  }
})

/** Approvals of other projects of the same user are not this project's business. */
export async function approvedHere({
  commandApprovals,
  witness,
  folder,
}: Pick<Context, 'commandApprovals' | 'witness' | 'folder'>): Promise<readonly ApprovedCommand[]> {
  const others = await witness.others(folder).catch((error: unknown) => {
    if (error instanceof Failure) return []
    throw error
  })
  return commandApprovals.list([folder, ...others])
}

import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import { instant } from '../../domain/instant.ts'
import type { ApprovedCommand, RefusedCommand } from '../../ports/command-runner.ts'
import type { Context } from '../context.ts'
import { count } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'

export const commandList = defineOperation({
  name: 'command_list',
  command: 'command list',
  toolset: 'gate',
  audience: 'both',
  title: 'Commands that a person approved or refused',
  description:
    'What guards may run in the work trees of this project: who approved it, with which pinned files, and whether it is still as approved; and what a person refused.',
  kind: 'query',
  input: z.strictObject({ limit: count('How many; default 50', 500).optional() }),
  output: z.looseObject({
    commands: z.array(z.looseObject({ hash: z.string(), run: z.string(), as_approved: z.boolean() })),
    total: z.int(),
    refused: z.array(z.looseObject({ hash: z.string(), run: z.string(), reason: z.string() })),
  }),
}).handler(async (context, input) => {
  const { approved, refused } = await answeredHere(context)
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
    refused: refused.slice(0, input.limit ?? 50).map(({ hash, run, folder, reason, by, at }) => {
      return { hash, run, folder, reason, by, at: instant(at) }
    }),
  }
})

/** Answers in other projects of the same user are not this project's business. */
export async function answeredHere({
  commandApprovals,
  witness,
  folder,
}: Pick<Context, 'commandApprovals' | 'witness' | 'folder'>): Promise<{
  readonly approved: readonly ApprovedCommand[]
  readonly refused: readonly RefusedCommand[]
}> {
  const others = await witness.others(folder).catch((error: unknown) => {
    if (error instanceof Failure) return []
    throw error
  })
  const folders = [folder, ...others]
  return { approved: await commandApprovals.list(folders), refused: await commandApprovals.refused(folders) }
}

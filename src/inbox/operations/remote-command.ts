import { Failure } from '../../kernel/failure.ts'
import type { RecordContext } from '../../kernel/operations/operation.ts'
import { excerpt } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { InboxItem } from '../domain/inbox-item.ts'

/** Why the approval of a command would change nothing here: its machine runs only what was approved there. Null for others. */
export async function remoteCommandRefusal(
  { machines }: Pick<Reads, 'machines'>,
  { id, request }: Pick<InboxItem, 'id' | 'request'>,
  context: Pick<RecordContext, 'machine'>,
): Promise<Failure | null> {
  if (request?.kind !== 'command' || request.machine === context.machine?.id) return null
  const machine = request.machine === undefined ? null : await machines.byId(request.machine)
  if (machine?.trustsCommands) return null
  const name = await otherMachineOf({ machines }, { request }, context)
  const trust =
    request.machine === undefined
      ? ''
      : ` To let approvals at the server count there, run waymark connect <url> --trust-commands on ${name}.`
  return new Failure(
    'REFUSED',
    `"${excerpt(request.run, 100)}" runs on ${name}, in ${request.folder}, so it is approved there, in a terminal: waymark approve ${id}.${trust}`,
    { reason: 'command_of_other_machine', hint: `On ${name}: waymark approve ${id}` },
  )
}

/** The name of the machine where a command runs; empty for that of the caller. */
export async function otherMachineOf(
  { machines }: Pick<Reads, 'machines'>,
  { request }: Pick<InboxItem, 'request'>,
  context: Pick<RecordContext, 'machine'>,
): Promise<string> {
  if (request?.kind !== 'command' || request.machine === context.machine?.id) return ''
  if (request.machine === undefined) return 'the machine of the server'
  return (await machines.byId(request.machine))?.name ?? 'another machine'
}

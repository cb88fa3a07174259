import { waymark } from '../../../inbox/operations/due-items.ts'
import type { PreparationStep } from '../../../kernel/operations/measurement-protocol.ts'
import type { CommandContext, RecordContext } from '../../../kernel/operations/operation.ts'
import { measureLanded } from '../../../track/operations/landed.ts'
import type { EvidenceNeed } from '../../domain/evidence.ts'
import { waitAtMost } from './commands.ts'

/** A history may be long: the measurement continues after this, and its result is recorded. */
const waitMs = 5_000

/**
 * The steps for an event: where its guards ask what landed, that is measured first. Not for a call from another machine,
 * which measures nothing but for its own operation.
 */
export function withLandings(
  { machine }: Pick<RecordContext, 'machine'>,
  needs: readonly EvidenceNeed[],
  commands: PreparationStep | undefined,
): PreparationStep | undefined {
  if (machine || !needs.some(({ kind }) => kind === 'landings')) return commands
  return {
    name: 'landed',
    take: async (handling) => {
      await waitAtMost(waitMs, measureLandings(handling))
      await commands?.take(handling)
    },
  }
}

/** Without a measurement the guard says so; Waymark is its author, and the event's key is not its own. */
async function measureLandings(handling: CommandContext): Promise<void> {
  const { invoke } = await import('../../../kernel/operations/invoke.ts')
  const { permissions: _, callKey: __, ...context } = handling
  await invoke(measureLanded, { ...context, actor: waymark }, {}).catch(() => undefined)
}

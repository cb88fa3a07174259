import type { NewProjectEvent } from '../../../events/domain/project-event.ts'
import { waymark } from '../../../inbox/operations/due-items.ts'
import type { TaskId } from '../../../kernel/id.ts'
import { measuredList } from '../../../kernel/operations/fields.ts'
import { measurement, type PreparationStep } from '../../../kernel/operations/measurement-protocol.ts'
import type { CommandContext, RecordContext } from '../../../kernel/operations/operation.ts'
import type { Reads } from '../../../store/ports/store.ts'
import type { Landed } from '../../../track/domain/landed.ts'
import { landing, measuredLandings, measureLanded, prepareLanding } from '../../../track/operations/landed.ts'
import type { EvidenceNeed } from '../../domain/evidence.ts'
import { waitAtMost } from './commands.ts'
import { type MeasurementQuestions, nullIfUnavailable } from './run-measurements.ts'

/** A history may be long: the measurement continues after this, and its result is recorded. */
const waitMs = 5_000

const maxBriefs = 1

/** The same on another machine, for the event itself: a machine measures nothing but for its own operation. */
export const landings = measurement({
  brief: measuredList(landing.brief, maxBriefs),
  measured: measuredList(landing.measured.nullable(), maxBriefs),
  measure: (workTree, briefs, input) =>
    Promise.all(briefs.map((brief) => nullIfUnavailable(() => landing.measure(workTree, brief, input)))),
})

export interface MeasuredLandings {
  readonly events: readonly NewProjectEvent[]
  readonly byTask: ReadonlyMap<TaskId, Landed>
}

const noLandings: MeasuredLandings = { events: [], byTask: new Map() }

/** What landed of the tasks of the calling machine, if an event's guards ask. Null until measured. */
export async function prepareLandings(
  reads: Reads,
  questions: Pick<MeasurementQuestions<{ landings: typeof landings }>, 'ask'>,
  {
    context: { machine },
    needs,
  }: { readonly context: Pick<RecordContext, 'machine'>; readonly needs: readonly EvidenceNeed[] },
): Promise<MeasuredLandings | null> {
  if (!machine || !needs.some(({ kind }) => kind === 'landings')) return noLandings
  const { brief, tasks } = await prepareLanding(reads, machine.id)
  if (brief === null) return noLandings
  const measured = questions.ask('landings', brief)
  if (measured === undefined) return null
  const { now, events } = await measuredLandings(reads, tasks, measured ?? [])
  return { events, byTask: new Map(now.map(({ task, landed }) => [task.id, landed])) }
}

/** The steps for an event: where its guards ask what landed, that is measured first, on the record's own machine. */
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

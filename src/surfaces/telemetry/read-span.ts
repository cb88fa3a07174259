import type { Reads } from '../../ports/store.ts'
import { attemptSpan } from './attempt-span.ts'
import type { Ending } from './ending.ts'
import { runSpan } from './run-span.ts'
import type { EndedSpan } from './span.ts'
import { known } from './span.ts'
import { spanIdOf, traceIdOf } from './trace-ids.ts'

/** The span of what ended, from the record. Null where the record has nothing of it. */
export async function readSpan(reads: Reads, ending: Ending, at: number): Promise<EndedSpan | null> {
  switch (ending.of) {
    case 'attempt':
      return attemptSpan(reads, ending, at)
    case 'phase':
      return phaseSpan(reads, ending, at)
    case 'mission':
      return missionSpan(reads, ending, at)
    case 'run':
      return runSpan(reads, ending, at)
  }
}

async function missionSpan({ missions }: Reads, ending: Ending, at: number): Promise<EndedSpan | null> {
  const mission = await missions.find(ending.id)
  if (!mission) return null
  const totals = await missions.totals(mission.id)
  return {
    traceId: traceIdOf('mission', mission.id),
    spanId: spanIdOf('mission', mission.id),
    parentSpanId: null,
    name: `${mission.kind} ${mission.name}`,
    attributes: known({
      'waymark.mission.id': mission.id,
      'waymark.mission.kind': mission.kind,
      'waymark.mission.name': mission.name,
      'waymark.mission.objective': mission.objective,
      'waymark.mission.profile': mission.profile,
      'waymark.mission.status': mission.status,
      'waymark.mission.summary': mission.summary,
      'waymark.mission.tasks': totals.tasksWithAttempt,
      'waymark.mission.files_changed': totals.distinctFilesChanged,
      'gen_ai.usage.input_tokens': totals.tokensInput,
      'gen_ai.usage.output_tokens': totals.tokensOutput,
    }),
    events: [],
    status: ending.status,
    start: mission.createdAt,
    end: at,
  }
}

async function phaseSpan({ plan }: Reads, ending: Ending, at: number): Promise<EndedSpan | null> {
  const phase = await plan.phase(ending.id)
  if (!phase?.missionId) return null
  return {
    traceId: traceIdOf('mission', phase.missionId),
    spanId: spanIdOf('phase', phase.id),
    parentSpanId: spanIdOf('mission', phase.missionId),
    name: `phase ${phase.name}`,
    attributes: known({
      'waymark.phase.id': phase.id,
      'waymark.phase.number': phase.number,
      'waymark.phase.name': phase.name,
      'waymark.mission.id': phase.missionId,
    }),
    events: [],
    status: ending.status,
    start: phase.createdAt,
    end: at,
  }
}

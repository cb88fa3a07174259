import type { RunEvent, RunRecord } from '../../domain/gate/run-record.ts'
import type { Reads } from '../../ports/store.ts'
import type { Ending } from './ending.ts'
import { type EndedSpan, known, type SpanEvent } from './span.ts'
import { spanIdOf, traceIdOf } from './trace-ids.ts'

/** Of a run's moves, the last ones. */
const mostMoves = 200

/** A run of a process, in the trace of the mission or task that it gates: its moves are events. */
export async function runSpan({ runs, tasks }: Reads, ending: Ending, at: number): Promise<EndedSpan | null> {
  const run = await runs.find(ending.id)
  if (!run) return null
  const task = run.taskId === null ? null : await tasks.find(run.taskId)
  const missionId = run.missionId ?? task?.missionId ?? null
  const { items } = await runs.history(run.id, { limit: mostMoves })
  return {
    traceId: traceOf(run, missionId),
    spanId: spanIdOf('run', run.id),
    parentSpanId: missionId === null ? null : spanIdOf('mission', missionId),
    name: `run ${run.process.name}`,
    attributes: known({
      'waymark.run.id': run.id,
      'waymark.run.status': run.status,
      'waymark.run.state': run.state,
      'waymark.run.revision': run.revision,
      'waymark.process.id': run.process.id,
      'waymark.process.version': run.process.version,
      'waymark.mission.id': missionId,
      'waymark.task.id': run.taskId,
    }),
    events: items.map(({ item }) => moveEvent(item)).reverse(),
    status: ending.status,
    start: run.createdAt,
    end: at,
  }
}

function traceOf(run: RunRecord, missionId: string | null): string {
  if (missionId !== null) return traceIdOf('mission', missionId)
  return run.taskId === null ? traceIdOf('run', run.id) : traceIdOf('task', run.taskId)
}

function moveEvent({ event, from, to, revision, role, by, at }: RunEvent): SpanEvent {
  return {
    name: event,
    at,
    attributes: known({
      'waymark.run.from': from,
      'waymark.run.to': to,
      'waymark.run.revision': revision,
      'waymark.actor.role': role,
      'waymark.actor.name': by,
    }),
  }
}

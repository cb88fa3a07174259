import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import type { SimulatedEvent } from '../../domain/gate/simulate.ts'

/** Most events of one simulation. */
const mostEvents = 1000

const written = z
  .array(
    z.union([
      z.string().min(1),
      z.strictObject({
        event: z.string().min(1),
        payload: z.record(z.string(), z.unknown()).optional(),
        artifacts: z.array(z.string().min(1)).optional(),
        role: z.string().min(1).optional(),
        satisfied: z.array(z.string().min(1)).optional(),
      }),
    ]),
  )
  .max(mostEvents)

/** `a,b,c`, or a JSON list of names and of events with their payload. */
export function simulatedEvents(text: string): readonly SimulatedEvent[] {
  const trimmed = text.trim()
  const list = trimmed.startsWith('[') ? fromJson(trimmed) : trimmed.split(',').flatMap(nameIn)
  const parsed = written.safeParse(list)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw wrong(`event ${String(issue?.path.join('.') ?? '')}: ${issue?.message ?? 'it is no event'}`)
  }
  return parsed.data.map((entry) => {
    if (typeof entry === 'string') return { event: entry, payload: {}, artifacts: [], role: null }
    const { event, payload = {}, artifacts = [], role = null, satisfied } = entry
    return { event, payload, artifacts, role, ...(satisfied !== undefined && { satisfied }) }
  })
}

function nameIn(part: string): readonly string[] {
  const name = part.trim()
  return name === '' ? [] : [name]
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error))
  }
}

function wrong(problem: string): Failure {
  return new Failure('INVALID_INPUT', `process_simulate: events is no list of events: ${problem}`, {
    hint: `Such as submit_plan,approve or [{"event":"submit_plan","payload":{"summary":"…"},"artifacts":["docs/plan.md"]},"approve"].`,
  })
}

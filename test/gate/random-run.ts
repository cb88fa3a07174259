import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { checkTransition } from '../../src/gate/domain/engine.ts'
import { emitterFor } from '../../src/gate/domain/event-request.ts'
import { type Artifact, nothingObserved } from '../../src/gate/domain/evidence.ts'
import type { Run } from '../../src/gate/domain/run.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import { type Answer, agentActor, person, type TestProject } from '../support/project.ts'
import { expectReplays, type StoredRun, storedRun } from './concurrency/stored-run.ts'

const guard = fc.letrec<{ readonly guard: unknown }>((tie) => ({
  guard: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('low', 'high', 'noted', 'twice', 'fresh'),
    fc.record({ all: fc.array(tie('guard'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('guard'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('guard') }),
  ),
})).guard

const way = fc.record({
  from: fc.constantFrom('s0', 's1', 's2'),
  event: fc.constantFrom('a', 'b', 'c'),
  to: fc.constantFrom('s0', 's1', 's2', 's3'),
  when_blocked: fc.constantFrom('reject', 'record'),
  assign: fc.constantFrom({}, { risk: '$.payload.risk' }),
  guard,
})

/** Processes without an error: every state has a way on, and the guarded ways among them are anyhow. */
export const anySoundProcess = fc.record({
  ways: fc.array(way, { maxLength: 12 }),
  required: fc.boolean(),
  maxVisits: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
})

export type SoundProcess = typeof anySoundProcess extends fc.Arbitrary<infer Process> ? Process : never

export const anySteps = fc.array(
  fc.record({
    event: fc.constantFrom('a', 'b', 'c', 'a', 'b', 'c', 'on', 'decide', 'unknown'),
    payload: fc.constantFrom({}, { risk: 'low' }, { risk: 'high' }, { risk: 7 }),
    paths: fc.subarray(['notes/1.md', 'notes/2.md', 'fresh/1.md', 'none/1.md'], { maxLength: 2 }),
    by: fc.constantFrom<Actor>(agentActor, agentActor, agentActor, person),
    behind: fc.constantFrom(0, 0, 0, 0, 0, 1),
    repeatKey: fc.constantFrom(false, false, false, false, false, true),
    dryRun: fc.constantFrom(false, false, false, true),
    /** What becomes of a file before the event. */
    disturbed: fc.option(
      fc.record({
        path: fc.constantFrom('notes/1.md', 'notes/2.md', 'fresh/1.md'),
        content: fc.constantFrom('one', 'two', null),
      }),
      { freq: 3, nil: null },
    ),
  }),
  { minLength: 1, maxLength: 15 },
)

export type Steps = typeof anySteps extends fc.Arbitrary<infer All> ? All : never

function written({ ways, required, maxVisits }: SoundProcess): string {
  return JSON.stringify({
    process: { dialect: 1, id: 'any', version: '1', name: 'Any', initial_state: 's0' },
    roles: [
      { name: 'agent', kind: 'agent' },
      { name: 'reviewer', kind: 'human' },
    ],
    states: [
      { name: 's0', ...(required && { required_artifacts: ['note'] }) },
      { name: 's1', ...(maxVisits !== undefined && { max_visits: maxVisits }) },
      { name: 's2' },
      { name: 's3', is_final: true },
    ],
    events: [
      ...['a', 'b', 'c'].map((name) => ({
        name,
        allowed_roles: ['agent'],
        payload_schema: { type: 'object', properties: { risk: { type: 'string' } } },
      })),
      { name: 'on', allowed_roles: ['*'] },
      { name: 'decide', allowed_roles: ['reviewer'] },
    ],
    transitions: [
      ...ways,
      { from: 's0', event: 'on', to: 's1' },
      { from: 's1', event: 'on', to: 's2' },
      { from: 's2', event: 'on', to: 's0' },
      { from: 's2', event: 'decide', to: 's3' },
      { from: 's0', event: 'decide', to: 's3', escape: true },
    ],
    guards: {
      low: { type: 'context', variable: 'risk', condition: 'equals', value: 'low' },
      high: { type: 'context', variable: '$.payload.risk', condition: 'equals', value: 'high' },
      noted: { type: 'artifact', artifact_type: 'note', condition: 'exists' },
      twice: { type: 'artifact', artifact_type: 'note', condition: 'count', min_count: 2 },
      fresh: { type: 'artifact', artifact_type: 'fresh', condition: 'exists' },
    },
    artifacts: [
      { type: 'note', paths: ['notes/*'] },
      { type: 'fresh', paths: ['fresh/*'], fresh: 'state', min_bytes: 2 },
    ],
  })
}

export interface Played {
  readonly accepted: number
  readonly moved: number
  readonly refused: readonly string[]
}

/** Plays events on a new run of a process through the real operations, and checks after each what must always hold. */
export async function playRun(project: TestProject, process: SoundProcess, steps: Steps): Promise<Played> {
  // One file, written over: a run keeps the definition that it began with.
  project.write('.waymark/processes/any.yaml', written(process))
  for (const path of ['notes/1.md', 'notes/2.md', 'fresh/1.md']) project.write(path, 'one')
  const { run_id: run } = await project.call('state_gate_create_run', { process_id: 'any' })
  const standings = new Map<number, ReadonlyMap<string, Artifact['status']>>()
  const refused: string[] = []
  let moved = 0
  for (const [turn, step] of steps.entries()) {
    if (step.disturbed) disturb(project, step.disturbed)
    const before = await storedRun(project.context.store, run)
    const seen = JSON.stringify(await project.call('state_gate_get_state', { run_id: run }))
    const onDisk = standingsNow(project, before)
    const result = await emit(project, run, { step, turn, revision: before.loaded.record.revision })
    const after = await storedRun(project.context.store, run)
    if (result.accepted) {
      standings.set(after.loaded.record.revision, onDisk)
      if (expectAllowed(before, after, { step, onDisk })) moved += 1
    } else {
      refused.push(result.code)
      expect(after).toEqual(before)
      if (!asksPeople(result)) {
        expect(JSON.stringify(await project.call('state_gate_get_state', { run_id: run }))).toBe(seen)
      }
    }
  }
  const stored = await storedRun(project.context.store, run)
  expectReplays(stored, (path, revision) => standings.get(revision)?.get(path) ?? 'current')
  return { accepted: stored.events.length, moved, refused }
}

interface Emitted {
  readonly accepted: boolean
  readonly code: string
  readonly details: Answer
}

async function emit(
  project: TestProject,
  run: string,
  at: { readonly step: Steps[number]; readonly turn: number; readonly revision: number },
): Promise<Emitted> {
  const { step, turn, revision } = at
  const input = {
    run_id: run,
    event_name: step.event,
    payload: step.payload,
    artifact_paths: step.paths,
    expected_revision: Math.max(1, revision - step.behind),
    idempotency_key: step.repeatKey ? 'the key' : `key-${turn}`,
    dry_run: step.dryRun,
  }
  try {
    const answer = await project.call('state_gate_emit_event', input, { actor: step.by })
    const isNew = !step.dryRun && answer.info === undefined
    return { accepted: isNew, code: step.dryRun ? 'dry run' : 'replay', details: null }
  } catch (error) {
    const { code, details } = error as { code?: string; details?: Answer } // a Failure, or it has no code
    if (code === undefined) throw error
    return { accepted: false, code, details }
  }
}

/** A question that now waits for people is the one thing that a refusal may leave to be seen. */
function asksPeople({ details }: Emitted): boolean {
  return details?.item_id !== undefined
}

function disturb(project: TestProject, { path, content }: { path: string; content: string | null }): void {
  if (content !== null) project.write(path, content)
  else if (existsSync(join(project.folder, path))) project.remove(path)
}

/** How the files of a run stand, by reading every one of them. */
function standingsNow(
  { folder }: TestProject,
  { loaded }: StoredRun,
): ReadonlyMap<string, Artifact['status']> {
  return new Map(
    loaded.artifacts.map(({ path, sha256 }) => {
      const file = join(folder, path)
      if (!existsSync(file)) return [path, 'deleted'] as const
      const now = createHash('sha256').update(readFileSync(file)).digest('hex')
      return [path, now === sha256 ? 'current' : 'changed'] as const
    }),
  )
}

interface EventRequest {
  readonly step: Steps[number]
  readonly onDisk: ReadonlyMap<string, Artifact['status']>
}

/** Expects that what happened was open: some way there whose guards hold. True where the run moved. */
function expectAllowed(before: StoredRun, after: StoredRun, { step, onDisk }: EventRequest): boolean {
  const { record, definition, visits, artifacts } = before.loaded
  const last = after.events.at(-1)
  if (!last) throw new Error('an event was accepted, and the history has none')
  expect(last).toMatchObject({ revision: record.revision + 1, event: step.event, from: record.state })
  if (!last.stateChanged) {
    expect(after.loaded.record).toMatchObject({ state: record.state, context: record.context })
    expect(last.unsatisfied).not.toEqual([])
    return false
  }
  const run: Run = {
    state: record.state,
    revision: record.revision,
    context: record.context,
    visits,
    artifacts: artifacts.map((kept) => ({ ...kept, status: onDisk.get(kept.path) ?? 'deleted' })),
  }
  const eventRequest = {
    event: step.event,
    payload: step.payload,
    artifacts: last.artifacts.map((kept) => ({ ...kept, status: 'current' as const })),
    emitter: emitterFor(definition, step.event, { actor: step.by }),
    expectedRevision: null,
    observed: nothingObserved,
    assumed: [],
  }
  const open = definition.transitions.filter(
    (transition) =>
      transition.event === step.event &&
      (transition.from === '*' || transition.from === record.state) &&
      checkTransition(definition, run, { transition, eventRequest }).satisfied,
  )
  expect(open.map(({ to }) => to)).toContain(last.to)
  return true
}

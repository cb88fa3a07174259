import { expect, test } from 'vitest'
import { z } from 'zod'
import { Failure } from '../../src/kernel/failure.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import { measurement } from '../../src/kernel/operations/measurement-protocol.ts'
import { defineOperation } from '../../src/kernel/operations/operation.ts'
import {
  RemoteMeasureRequired,
  remoteMeasurer,
  type SentMeasurement,
} from '../../src/remote/operations/remote-measurement.ts'
import { fingerprint } from '../../src/store/fingerprint.ts'
import { attemptEnds } from '../../src/track/operations/measure-attempt.ts'
import { type Answer, openProject, person, refusalOf } from '../support/project.ts'

/** An operation that measures the mission it reads last, and another thing that never changes. */
function countingOperation(onMeasure: (brief: string) => Promise<void>) {
  const made: string[] = []
  const counted = (name: string) =>
    measurement({
      brief: z.string(),
      measured: z.string(),
      measure: async (_, brief) => {
        made.push(`${name} ${brief}`)
        if (name === 'mission') await onMeasure(brief)
        return brief
      },
    })
  const operation = defineOperation({
    name: 'counting',
    command: 'counting',
    toolset: 'track',
    audience: 'both',
    title: 'Count',
    description: 'Count',
    kind: 'command',
    input: z.strictObject({}),
    output: z.object({ mission: z.string(), found: z.string() }),
  })
    .measure({ mission: counted('mission'), same: counted('same') })
    .prepare(async (reads) => {
      const { items } = await reads.missions.list({ limit: 1 })
      const name = items[0]?.item.name ?? 'none'
      return { briefs: { mission: name, same: 'always' }, found: name }
    })
    .record(async ({ found, measured }) => ({
      events: [],
      answer: { mission: measured.mission ?? '', found },
    }))
  return { operation, made }
}

async function projectWith(options: { readonly changes: number }) {
  const project = await openProject({ isOnMachine: false })
  await project.call('start_mission', { name: 'M0', objective: 'o' })
  let changed = 0
  const { operation, made } = countingOperation(async () => {
    if (changed >= options.changes) return
    changed += 1
    project.wait(1_000)
    await project.call('start_mission', { name: `M${changed}`, objective: 'o' })
  })
  return { made, run: (): Promise<Answer> => invoke(operation, { ...project.context, actor: person }, {}) }
}

test('measures again what the record asks for by then, and only that', async () => {
  const { made, run } = await projectWith({ changes: 2 })
  expect(await run()).toEqual({ mission: 'M2', found: 'M2' })
  expect(made.filter((one) => one.startsWith('same'))).toEqual(['same always'])
  expect(made.filter((one) => one.startsWith('mission'))).toEqual(['mission M0', 'mission M1', 'mission M2'])
})

test('gives up after ten times with a conflict, and records nothing', async () => {
  const { made, run } = await projectWith({ changes: Number.MAX_SAFE_INTEGER })
  expect(await refusalOf(run())).toMatchObject({ code: 'CONFLICT', reason: 'record_keeps_changing' })
  expect(made.filter((one) => one.startsWith('mission'))).toHaveLength(10)
})

test('measures what begins meanwhile to its end, in as many rounds as there are things to measure', async () => {
  const project = await openProject({ isOnMachine: false })
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const named = measurement({
    brief: z.string(),
    measured: z.string(),
    measure: async (_, brief) => `${brief} measured`,
  })
  const operation = defineOperation({
    name: 'chained',
    command: 'chained',
    toolset: 'track',
    audience: 'both',
    title: 'Chain',
    description: 'Chain',
    kind: 'query',
    input: z.strictObject({}),
    output: z.object({ measured: z.array(z.string()) }),
  })
    .measure(Object.fromEntries(names.map((name) => [name, named])))
    .prepare(async (_reads, _input, _context, measured) => {
      const done = names.filter((name) => measured[name] !== undefined).length
      return { briefs: Object.fromEntries(names.slice(0, done + 1).map((name) => [name, name])), found: null }
    })
    .answer(async ({ measured }) => ({ measured: names.map((name) => measured[name] ?? 'missing') }))
  const answer: Answer = await invoke(operation, project.context, {})
  expect(answer.measured).toEqual(names.map((name) => `${name} measured`))
})

test('takes from a machine only what it measured for this very brief', async () => {
  const operation = { name: 'complete_task', measurements: { end: attemptEnds } }
  const brief = [{ id: 'a-1', top: '/p', prefix: '', engine: 'git' }]
  const end = { id: 'a-1', takenAt: 1, until: 1, place: null, notes: [], error: 'gone' }
  const asked = new Map([['end', { brief, hash: fingerprint(brief) }]])
  const taken = (sent: object) =>
    remoteMeasurer([{ name: 'end', hash: fingerprint(brief), ...sent }])(operation, asked, {})
  expect((await taken({ measured: [end] })).get('end')).toEqual([end])

  const other = taken({ hash: fingerprint([]), measured: [end] })
  await expect(other).rejects.toBeInstanceOf(RemoteMeasureRequired)
  for (const measured of [[{ ...end, id: 'a-2' }], [], [{ ...end, more: 1 }], 'text'])
    expect(await refusalOf(taken({ measured }))).toMatchObject({
      code: 'INVALID_INPUT',
      reason: 'machine_answer_invalid',
    })
  const failure = { code: 'UNAVAILABLE', message: 'No disk.', reason: 'disk_full' }
  expect(await refusalOf(taken({ failure }))).toMatchObject({ code: 'UNAVAILABLE', reason: 'disk_full' })
})

test('applies a plan once where the files are, and answers a repeated call from the record', async () => {
  const project = await openProject({ isOnMachine: false })
  const applied: string[] = []
  const operation = defineOperation({
    name: 'applying',
    command: 'applying',
    toolset: 'track',
    audience: 'both',
    title: 'Apply',
    description: 'Apply',
    kind: 'command',
    input: z.strictObject({ name: z.string() }),
    output: z.object({ made: z.string() }),
  })
    .measure({
      top: measurement({ brief: z.literal('top'), measured: z.string(), measure: async () => 'top' }),
    })
    .prepare(async () => ({ briefs: { top: 'top' as const }, found: null }))
    .apply({
      plan: z.string(),
      applied: z.string(),
      decide: async ({ measured }, { name }) => {
        if (name === 'refused') throw new Failure('CONFLICT', 'No.', { reason: 'refused_plan' })
        return `${measured.top}/${name}`
      },
      apply: async (_, plan) => {
        applied.push(plan)
        return plan
      },
    })
    .record(async ({ plan, applied: made }) => ({ events: [], answer: { made: `${plan} ${made}` } }))
  const context = { ...project.context, actor: person }
  const call = (name: string, callKey: string): Promise<Answer> =>
    invoke(operation, { ...context, callKey }, { name })

  expect(await refusalOf(call('refused', 'call-1'))).toMatchObject({ reason: 'refused_plan' })
  expect(applied).toEqual([])
  expect(await call('a', 'call-2')).toEqual({ made: 'top/a top/a' })
  expect(await call('a', 'call-2')).toEqual({ made: 'top/a top/a' })
  expect(applied).toEqual(['top/a'])

  // A server asks for the plan only when all else was measured, and takes it from the machine for this very plan.
  const remote = (measured: SentMeasurement[]): Promise<Answer> =>
    invoke(operation, { ...context, callKey: 'call-3', measurer: remoteMeasurer(measured) }, { name: 'b' })
  const asked = async (measured: SentMeasurement[]) => {
    const error = await remote(measured).catch((thrown: unknown) => thrown)
    return error instanceof RemoteMeasureRequired ? error.request.asked : []
  }
  const top = { name: 'top', hash: fingerprint('top'), measured: 'top' }
  expect(await asked([])).toMatchObject([{ name: 'top' }])
  expect(await asked([top])).toMatchObject([{ name: 'apply', brief: 'top/b' }])
  const other = { name: 'apply', hash: fingerprint('top/other'), measured: 'top/other' }
  expect(await asked([top, other])).toMatchObject([{ name: 'apply', brief: 'top/b' }])
  const made = { name: 'apply', hash: fingerprint('top/b'), measured: 'top/b' }
  expect(await remote([top, made])).toEqual({ made: 'top/b top/b' })
  expect(applied).toEqual(['top/a'])
})

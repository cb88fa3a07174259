import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { Context } from '../../src/operations/operation.ts'
import { startTelemetry, type Telemetry } from '../../src/surfaces/telemetry/telemetry.ts'
import { openProject, person, type TestProject } from '../support/project.ts'
import { openCollector, type Span } from './collector.ts'

const statusCodes = { unset: 0, ok: 1, error: 2 }

interface Traced {
  readonly telemetry: Telemetry
  readonly warnings: string[]
}

async function traced(context: Context, environment: Readonly<Record<string, string>>): Promise<Traced> {
  const warnings: string[] = []
  const log = { info: () => undefined, warn: (message: string) => void warnings.push(message) }
  const telemetry = await startTelemetry([{ key: 'tree', contextOf: () => context }], environment, log)
  if (!telemetry) throw new Error('nothing is traced')
  onTestFinished(() => telemetry.stop())
  // It begins at the head of the journal: what is recorded before it has looked there is not traced.
  await context.store.view(({ journal }) => journal.head())
  return { telemetry, warnings }
}

const outcome = { summary: 'Done.', achievements: [], limitations: [] }

async function begin(project: TestProject) {
  const { mission_id } = await project.call('start_mission', { name: 'Auth', objective: 'Log in' })
  const task = await project.call('start_task', {
    mission_id,
    phase: 1,
    phase_name: 'Build',
    name: 'Form',
    goal: 'A form',
    agent_name: 'ann',
    areas: ['src/**'],
  })
  return { mission_id, task_id: task.task_id, attempt_id: task.attempt_id }
}

/** Until everything that was recorded so far is traced and sent. */
async function sent({ telemetry }: Traced, project: TestProject, spans: readonly Span[], count: number) {
  const head = await project.context.store.view(({ journal }) => journal.head())
  const seen = new AbortController()
  for await (const facts of project.context.store.follow(0, seen.signal)) {
    if ((facts.at(-1)?.seq ?? 0) >= head) seen.abort()
  }
  while (spans.length < count) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await telemetry.stop()
}

test('a mission is a trace, its phases and attempts are spans, what was said is in them', async () => {
  const project = await openProject()
  const collector = await openCollector()
  const tracing = await traced(project.context, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  const { mission_id, task_id, attempt_id } = await begin(project)
  await project.call('log_decision', {
    task_id,
    category: 'other',
    question: 'Which?',
    options_considered: ['a', 'b'],
    chosen: 'a',
    reasoning: 'Smaller.',
  })
  await project.call('log_issue', { task_id, type: 'other', description: 'No key.', resolution: 'Mocked.' })
  await project.call('log_milestone', { task_id, message: 'Half way', progress: 50 })
  const part = await project.call('start_task', { parent_task_id: task_id, name: 'Field', goal: 'A field' })
  project.write('src/form.ts', 'export const form = 1\n')
  project.write('other.txt', 'outside\n')
  const failure = { ...outcome, summary: 'It broke.' }
  await project.call('complete_task', { task_id: part.task_id, status: 'failed', outcome: failure })
  const metadata = { tests_status: 'passed', tokens_input: 900, tokens_output: 80 }
  const ending = { status: 'success', outcome, metadata, phase_complete: true }
  await project.call('complete_task', { task_id, ...ending })
  const summary = { status: 'partial', summary: 'Half.', achievements: [], limitations: [] }
  await project.call('complete_mission', { mission_id, ...summary })
  await sent(tracing, project, collector.spans, 4)

  expect(collector.paths[0]).toBe('/v1/traces')
  expect(collector.resource).toMatchObject({ 'service.name': 'waymark', 'service.version': '0.0.0' })
  const [field, form, phase, mission] = collector.spans
  expect(collector.spans.map(({ name }) => name)).toEqual([
    'task Field',
    'task Form',
    'phase Build',
    'mission Auth',
  ])
  expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(1)
  expect(mission?.parentSpanId).toBe('')
  expect(phase?.parentSpanId).toBe(mission?.spanId)
  expect(form?.parentSpanId).toBe(phase?.spanId)
  expect(field?.parentSpanId).toBe(form?.spanId)
  expect(collector.spans.map(({ status }) => status.code)).toEqual([
    statusCodes.error,
    statusCodes.ok,
    statusCodes.ok,
    statusCodes.unset,
  ])
  expect(field?.status.message).toBe('It broke.')
  expect(form?.attributes).toMatchObject({
    'waymark.project': 'tree',
    'waymark.mission.id': mission_id,
    'waymark.task.id': task_id,
    'waymark.task.areas': ['src/**'],
    'waymark.attempt.id': attempt_id,
    'waymark.attempt.status': 'success',
    'waymark.actor.name': 'test-agent',
    'gen_ai.agent.name': 'ann',
    'gen_ai.usage.input_tokens': 900,
    'waymark.verification.status': 'verified',
    'waymark.scope.match': false,
    'waymark.scope.unexpected': ['other.txt'],
    'waymark.files.added': 2,
    'waymark.claim.tests': 'passed',
  })
  expect(form?.events.map(({ name }) => name)).toEqual(['decision', 'issue', 'progress'])
  expect(form?.events[0]?.attributes).toMatchObject({ 'waymark.decision.chosen': 'a' })
  expect(form?.events[2]?.attributes).toMatchObject({ 'waymark.progress.percent': 50 })
  const shown = await project.call('show', { id: task_id })
  expect(form?.start).toBe(Date.parse(shown.attempts[0].started_at))
  expect(form?.end).toBe(Date.parse(shown.attempts[0].completed_at))
  expect(mission?.attributes).toMatchObject({
    'waymark.mission.tasks': 2,
    'waymark.mission.status': 'partial',
  })
})

test('what began before the server did is traced whole, and a server that starts anew continues the trace', async () => {
  const project = await openProject()
  const collector = await openCollector()
  const environment = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/traces` }
  const { mission_id, task_id } = await begin(project)
  await project.call('log_milestone', { task_id, message: 'Before' })
  const first = await traced(project.context, environment)
  await project.call('complete_task', { task_id, status: 'success', outcome })
  await sent(first, project, collector.spans, 1)
  expect(collector.paths).toEqual(['/traces'])
  expect(collector.spans[0]?.events[0]?.attributes['waymark.progress.message']).toBe('Before')

  const second = await traced(project.context, environment)
  const given = { status: 'failed', summary: 'No time.', achievements: [], limitations: [] }
  const { task_id: left } = await project.call('start_task', {
    mission_id,
    phase: 1,
    name: 'Page',
    goal: 'A page',
  })
  await project.call('complete_mission', { mission_id, ...given })
  await sent(second, project, collector.spans, 3)
  const [form, page, mission] = collector.spans
  expect(page?.attributes['waymark.task.id']).toBe(left)
  expect(page?.status).toEqual({ code: statusCodes.error, message: 'The mission was completed as failed.' })
  expect(mission?.status).toEqual({ code: statusCodes.error, message: 'No time.' })
  expect(new Set([form?.traceId, page?.traceId, mission?.traceId]).size).toBe(1)
  expect(page?.parentSpanId).toBe(form?.parentSpanId)
})

test('a task outside any mission is a trace of its own, with its subtasks and every try at it', async () => {
  const project = await openProject()
  const collector = await openCollector()
  const tracing = await traced(project.context, { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` })
  const { task_id } = await project.call('start_task', { name: 'Alone', goal: 'Alone' })
  const part = await project.call('start_task', { parent_task_id: task_id, name: 'Part', goal: 'Part' })
  await project.call('complete_task', { task_id: part.task_id, status: 'success', outcome })
  await project.call('complete_task', { task_id, status: 'failed', outcome })
  await project.call('start_task', { planned_task_id: task_id })
  await project.call('complete_task', { task_id, status: 'success', outcome })
  await project.call('role_add', { role: 'other' }, { actor: person })
  await sent(tracing, project, collector.spans, 3)
  const [inner, first, second] = collector.spans
  expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(1)
  expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(3)
  expect(inner?.parentSpanId).toBe(first?.spanId)
  expect([first?.parentSpanId, second?.parentSpanId]).toEqual(['', ''])
})

test('a collector that refuses does no harm, and its refusal is told', async () => {
  const project = await openProject()
  const collector = await openCollector(400)
  const tracing = await traced(project.context, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  const { task_id } = await begin(project)
  await project.call('complete_task', { task_id, status: 'success', outcome })
  // What the collector answers is read after it was sent, and the end does not wait long for it.
  await expect.poll(() => tracing.warnings, { timeout: 30_000 }).toEqual(['Traces could not be sent.'])
  await sent(tracing, project, collector.spans, 1)
  expect(tracing.warnings).toEqual(['Traces could not be sent.'])
  expect(await project.call('show', { id: task_id })).toMatchObject({ status: 'SUCCESS' })
})

test('a collector that is not there does no harm, and does not hold up the end', async () => {
  const project = await openProject()
  const port = await unusedPort()
  const tracing = await traced(project.context, { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` })
  const { task_id } = await begin(project)
  await project.call('complete_task', { task_id, status: 'success', outcome })
  expect(await project.call('show', { id: task_id })).toMatchObject({ status: 'SUCCESS' })
  await tracing.telemetry.stop()
})

test.each([
  {},
  { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318', OTEL_SDK_DISABLED: 'true' },
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318', OTEL_TRACES_EXPORTER: 'none' },
])('nothing is traced where nobody asked for it: %j', async (environment) => {
  const project = await openProject({ git: false })
  const log = { info: () => undefined, warn: () => undefined }
  const projects = [{ key: 'tree', contextOf: () => project.context }]
  expect(await startTelemetry(projects, environment, log)).toBeNull()
})

test('what is served later is traced from then on', async () => {
  const collector = await openCollector()
  const [first, later] = [await openProject({ git: false }), await openProject({ git: false })]
  const tracing = await traced(first.context, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  tracing.telemetry.add({ key: 'later', contextOf: () => later.context })
  await later.context.store.view(({ journal }) => journal.head())
  const { mission_id } = await later.call('start_mission', { name: 'Auth', objective: 'Log in' })
  await later.call('complete_mission', { mission_id, status: 'success', ...outcome })
  await sent(tracing, later, collector.spans, 1)
  expect(collector.spans).toMatchObject([
    { name: 'mission Auth', attributes: { 'waymark.project': 'later' } },
  ])
})

async function unusedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening)
  })
  const address = server.address()
  await new Promise((closed) => {
    server.close(closed)
  })
  return typeof address === 'object' && address ? address.port : 0
}

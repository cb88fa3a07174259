import type { Actor } from '../../domain/actor.ts'
import { followJournal } from '../../operations/follow.ts'
import type { Context } from '../../operations/operation.ts'
import type { Store } from '../../ports/store.ts'
import type { Exporter } from './exporter.ts'
import { endingOf, readSpan } from './spans.ts'

/** A project whose work is traced. */
export interface TracedProject {
  readonly key: string
  contextOf(actor: Actor): Pick<Context, 'store' | 'program'>
}

export interface TelemetryLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
}

export interface Telemetry {
  /** Traces a project too that is served from now on. */
  add(project: TracedProject): void
  stop(): Promise<void>
}

const reader: Actor = { name: 'telemetry', kind: 'person', role: null, channel: 'http' }
// Milliseconds.
const pauseAfterFailure = 5_000
const betweenWarnings = 60_000

/** Traces what ends from now on, in any process, where OpenTelemetry's variables name a collector; otherwise null. */
export async function startTelemetry(
  projects: readonly TracedProject[],
  environment: Environment,
  log: TelemetryLog,
): Promise<Telemetry | null> {
  const url = endpointOf(environment)
  const [first] = projects
  if (url === null || first === undefined) return null
  const { openExporter } = await import('./exporter.ts')
  const exporter = openExporter({
    url,
    serviceName: environment.OTEL_SERVICE_NAME ?? 'waymark',
    version: first.contextOf(reader).program.version,
    warn: seldom((error) => log.warn('Traces could not be sent.', { url, error })),
  })
  const ending = new AbortController()
  const following: Promise<void>[] = []
  const add = (project: TracedProject): void => {
    const { store } = project.contextOf(reader)
    following.push(traceAll({ key: project.key, store, exporter, log }, ending.signal))
  }
  for (const project of projects) add(project)
  log.info('Traces are sent.', { url })
  return {
    add,
    async stop() {
      ending.abort()
      await Promise.all(following)
      await exporter.stop()
    },
  }
}

interface Tracing {
  readonly key: string
  readonly store: Store
  readonly exporter: Exporter
  readonly log: TelemetryLog
}

/** From the head of the journal until the signal; a database that cannot be read is tried again. */
function traceAll({ key, store, exporter, log }: Tracing, signal: AbortSignal): Promise<void> {
  return followJournal(store, {
    after: null,
    signal,
    pause: pauseAfterFailure,
    async hear(facts) {
      const spans = []
      for (const { at, body } of facts) {
        const ending = endingOf(body)
        spans.push(ending && (await store.view((reads) => readSpan(reads, ending, at))))
      }
      for (const span of spans) if (span) exporter.send(withProject(span, key))
    },
    failed: (error) => log.warn('The record cannot be traced now.', { project: key, error: String(error) }),
  })
}

function withProject<Span extends { readonly attributes: object }>(span: Span, project: string): Span {
  return { ...span, attributes: { ...span.attributes, 'waymark.project': project } }
}

function seldom(warn: (message: string) => void): (message: string) => void {
  let last = Number.NEGATIVE_INFINITY
  return (message) => {
    if (performance.now() - last < betweenWarnings) return
    last = performance.now()
    warn(message)
  }
}

export type Environment = Readonly<Record<string, string | undefined>>

/** Where traces go, by OpenTelemetry's own variables. Null where nobody asked for traces. */
function endpointOf(environment: Environment): string | null {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return null
  if (environment.OTEL_TRACES_EXPORTER?.toLowerCase() === 'none') return null
  const traces = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim()
  if (traces) return traces
  const all = environment.OTEL_EXPORTER_OTLP_ENDPOINT?.trim()
  return all ? `${all.replace(/\/+$/, '')}/v1/traces` : null
}

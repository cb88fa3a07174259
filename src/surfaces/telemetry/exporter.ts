import {
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { EndedSpan, SpanStatus } from './spans.ts'

export interface Exporter {
  /** Hands a span over; it is sent with others, soon. Never fails. */
  send(span: EndedSpan): void
  /** Sends what is left, as far as the collector takes it in time. */
  stop(): Promise<void>
}

export interface ExporterOptions {
  readonly url: string
  readonly serviceName: string
  readonly version: string
  readonly warn: (message: string) => void
}

// Milliseconds that the end of the program waits for the collector.
const farewell = 3_000
// Milliseconds that spans wait for others.
const gathering = 1_000

/** Sends spans to a collector. Headers, time limit and resource attributes come from the variables of OpenTelemetry. */
export function openExporter({ url, serviceName, version, warn }: ExporterOptions): Exporter {
  const quiet = () => undefined
  diag.setLogger(
    { error: (message) => warn(message), warn: quiet, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true },
  )
  const ids = new GivenIds()
  const own = resourceFromAttributes({ 'service.name': serviceName, 'service.version': version })
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(detectResources({ detectors: [envDetector] }))
      .merge(own),
    sampler: new AlwaysOnSampler(),
    idGenerator: ids,
    spanLimits: { eventCountLimit: 400, attributeValueLengthLimit: 2_000 },
    spanProcessors: [
      new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url }), scheduledDelayMillis: gathering }),
    ],
  })
  const tracer = provider.getTracer('waymark', version)
  return {
    send(ended) {
      ids.next = ended
      // Numbers could be taken for times since the start of the process: dates cannot.
      const [startTime, endTime] = [new Date(ended.start), new Date(Math.max(ended.start, ended.end))]
      const attributes = mutable(ended.attributes)
      const span = tracer.startSpan(ended.name, { startTime, attributes }, contextOf(ended))
      for (const event of ended.events)
        span.addEvent(event.name, mutable(event.attributes), new Date(event.at))
      span.setStatus(statusOf(ended.status))
      span.end(endTime)
    },
    async stop() {
      const late = AbortSignal.timeout(farewell)
      const tooLate = new Promise<void>((resolve) => {
        late.addEventListener('abort', () => resolve())
      })
      await Promise.race([provider.shutdown().catch(quiet), tooLate])
      diag.disable()
    },
  }
}

/** Gives a span the ids that follow from what it is about. */
class GivenIds {
  next: Pick<EndedSpan, 'traceId' | 'spanId'> = { traceId: '', spanId: '' }

  generateTraceId(): string {
    return this.next.traceId
  }

  generateSpanId(): string {
    return this.next.spanId
  }
}

function contextOf({ traceId, parentSpanId }: EndedSpan): Context {
  if (parentSpanId === null) return ROOT_CONTEXT
  const parent = { traceId, spanId: parentSpanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
  return trace.setSpanContext(ROOT_CONTEXT, parent)
}

function statusOf(status: SpanStatus) {
  if (status.is === 'error') return { code: SpanStatusCode.ERROR, message: status.message }
  return { code: status.is === 'ok' ? SpanStatusCode.OK : SpanStatusCode.UNSET }
}

/** The SDK's types ask for lists that may be changed. */
function mutable(attributes: EndedSpan['attributes']) {
  return Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [key, typeof value === 'object' ? [...value] : value]),
  )
}

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Actor } from '../../kernel/actor.ts'
import type { LivePart } from './parts.ts'
import type { HttpServingOptions, ServedProject } from './serving.ts'

/** The metrics at `/metrics`. */
export interface Metrics {
  readonly contentType: string
  count(request: CountedRequest): void
  text(): Promise<string>
}

export interface CountedRequest {
  readonly route: string
  readonly method: string
  readonly status: number
  readonly seconds: number
}

const monitor: Actor = { name: 'metrics', kind: 'agent', role: null, channel: 'http' }
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Null if the log cannot be read: the other metrics are still useful. */
async function headOf(project: ServedProject): Promise<number | null> {
  const { store } = project.contextOf(monitor)
  return store.view(({ eventLog: log }) => log.head()).catch(() => null)
}

export function openMetrics(
  serving: Pick<HttpServingOptions, 'projects'>,
  live: Pick<LivePart, 'readers'>,
): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 })
  const requests = new Counter({
    name: 'waymark_http_requests_total',
    help: 'Requests by route, method and status.',
    labelNames: ['route', 'method', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'waymark_http_request_duration_seconds',
    help: 'Seconds from a request to its answer, by route.',
    labelNames: ['route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  })
  new Gauge({
    name: 'waymark_live_connections',
    help: 'Who reads a live feed now.',
    registers,
    collect() {
      this.set(live.readers())
    },
  })
  new Gauge({
    name: 'waymark_log_seq',
    help: 'The last position of the log, by project.',
    labelNames: ['project'],
    registers,
    async collect() {
      for (const project of serving.projects) {
        const seq = await headOf(project)
        if (seq === null) this.remove({ project: project.key })
        else this.set({ project: project.key }, seq)
      }
    },
  })
  return {
    contentType: registry.contentType,
    count({ route, method, status, seconds }) {
      requests.inc({ route, method: methods.includes(method) ? method : 'other', status })
      durations.observe({ route }, seconds)
    },
    text: () => registry.metrics(),
  }
}

/** The label of a request: few labels, whatever the paths. */
export function routeLabel(path: string, operations: ReadonlySet<string>): string {
  const rest = path.replace(/^\/p\/[^/]+/, '')
  const name = /^\/api\/([^/]+)$/.exec(rest)?.[1]
  if (name !== undefined) return operations.has(name) || own.includes(rest) ? rest : '/api/*'
  return own.includes(rest) ? rest : '/*'
}

const own = [
  '/api/openapi.json',
  '/api/projects',
  '/api/review/image',
  '/api/session',
  '/api/invitation',
  '/api/login-code',
  '/api/login-proof',
  '/api/logout',
  '/api/sign-in',
  '/healthz',
  '/readyz',
  '/metrics',
  '/login',
  '/mcp',
  '/ws',
]

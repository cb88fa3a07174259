import { Hono } from 'hono'
import { Failure } from '../../domain/failure.ts'
import type { AppEnvironment } from './app.ts'
import { admit } from './guard/admit.ts'
import { knockOf } from './guard/knock.ts'
import type { Security } from './guard/security.ts'
import { securityHeaders } from './guard/security-headers.ts'
import { openMetrics } from './metrics/metrics.ts'
import { routeLabel } from './metrics/route-label.ts'
import type { Parts } from './parts.ts'
import { projectNamed } from './project-named.ts'
import { refused } from './refusal/refuse.ts'
import { projectRoutes } from './routes/project-routes.ts'
import { serverRoutes } from './routes/server-routes.ts'
import type { Serving } from './serving.ts'

export type HttpApp = Hono<AppEnvironment>

/** Everything that is served: each route of a project at `/…` for the first one, and at `/p/<key>/…`. */
export function httpApp(serving: Serving, security: Security, parts: Parts): HttpApp {
  const app = new Hono<AppEnvironment>()
  const metrics = openMetrics(serving, parts.live)
  const operations = new Set(serving.catalog.map(({ name }) => name))
  app.onError((error) => refused(error, serving.log))
  app.notFound((c) => refused(new Failure('NOT_FOUND', `There is nothing at ${c.req.path}.`), serving.log))
  app.use(async (c, next) => {
    const startedAt = performance.now()
    await next()
    const seconds = (performance.now() - startedAt) / 1000
    const { method, path } = c.req
    const request = { route: routeLabel(path, operations), method, status: c.res.status, seconds }
    metrics.count(request)
    serving.log.debug('A request was answered.', { ...request, actor: c.get('caller')?.actor.name })
    for (const [name, value] of Object.entries(securityHeaders(c.req.header('host')))) {
      c.res.headers.set(name, value)
    }
  })
  app.use(async (c, next) => {
    c.set('caller', admit(knockOf(c.env.incoming), security))
    c.set('project', serving.projects[0])
    await next()
  })
  app.use('/p/:project/*', async (c, next) => {
    c.set('project', projectNamed(c.req.param('project'), serving))
    await next()
  })
  app.route('/', serverRoutes(serving, security, metrics))
  app.route('/p/:project', projectRoutes(serving, security, parts))
  app.route('/', projectRoutes(serving, security, parts))
  return app
}

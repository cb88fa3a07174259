import { Hono } from 'hono'
import type { AppEnvironment } from '../app.ts'
import { known } from '../guard/admit.ts'
import { logIn, logOut, makeLoginCode, proveLogin } from '../guard/log-in.ts'
import type { Security } from '../guard/security.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Serving } from '../serving.ts'
import { reading } from './reading.ts'

/** The routes that the server has once, whatever it serves. */
export function serverRoutes(serving: Serving, security: Security, metrics: Metrics): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>()
  const { version, projects } = serving
  reading(app, '/healthz', (c) =>
    c.json({ status: 'ok', version, projects: projects.length }, 200, {
      'Cache-Control': 'no-store',
    }),
  )
  reading(app, '/metrics', async (c) => {
    known(c.var.caller)
    return c.body(await metrics.text(), 200, { 'Content-Type': metrics.contentType })
  })
  app.all('/login', (c) => logIn(c, security))
  app.post('/api/login-proof', (c) => proveLogin(c, security, serving))
  app.post('/api/login-code', (c) => makeLoginCode(c, security))
  app.post('/api/logout', (c) => logOut(c, security))
  return app
}

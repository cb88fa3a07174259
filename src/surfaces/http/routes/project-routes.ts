import { Hono } from 'hono'
import { Failure } from '../../../domain/failure.ts'
import { callOperation } from '../api/call-operation.ts'
import { openApiDocument } from '../api/openapi/document.ts'
import { readJournal } from '../api/read-journal.ts'
import { projectList, sessionAnswer } from '../api/session.ts'
import type { AppEnvironment } from '../app.ts'
import { known } from '../guard/admit.ts'
import type { Security } from '../guard/security.ts'
import type { Parts } from '../parts.ts'
import { projectOfPath } from '../project-named.ts'
import { Refusal } from '../refusal/refusal.ts'
import type { Serving } from '../serving.ts'
import { mcpRoute } from './mcp-route.ts'
import { reading } from './reading.ts'

/** The routes that every project has. */
export function projectRoutes(serving: Serving, { streams }: Security, parts: Parts): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>()
  app.use('/api/*', async (c, next) => {
    known(c.var.caller)
    c.header('Cache-Control', 'no-store')
    await next()
  })
  reading(app, '/api/openapi.json', (c) => c.json(openApiDocument(serving)))
  reading(app, '/api/journal', readJournal)
  reading(app, '/api/projects', (c) => c.json({ projects: projectList(serving) }))
  reading(app, '/api/session', (c) => c.json(sessionAnswer(c, serving)))
  app.all('/api/:operation', callOperation(serving.catalog))
  app.all('/api/*', (c) => {
    throw new Failure('NOT_FOUND', `There is nothing at ${c.req.path.slice(0, 200)}.`, {
      hint: 'GET /api/openapi.json describes what there is.',
    })
  })
  app.all('/mcp', mcpRoute(parts.mcp, streams))
  reading(app, '/ws', (c) => {
    known(c.var.caller)
    throw new Refusal(
      'INVALID_INPUT',
      'The live feed is a WebSocket, and this request does not ask for one.',
      {
        hint: `Connect to ws://${c.req.header('host')}${c.req.path}?since=<seq>.`,
      },
    )
  })
  reading(app, '/*', (c) => parts.assets.answer(c.req.raw, projectOfPath(c.req.path, serving).rest))
  return app
}

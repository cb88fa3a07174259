import { Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import type { Actor } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import { answerPlayDemo, callOperation, listServedProjects, projectsAtWork, sessionAnswer } from './api.ts'
import { authenticateRequest, requireAuth } from './auth/authenticate.ts'
import { logIn, makeLoginCode, proveLogin } from './auth/log-in.ts'
import { withoutOidc } from './auth/oidc.ts'
import type { OpenStreams } from './auth/open-streams.ts'
import { type Caller, requestInfoOf } from './auth/request-info.ts'
import type { Security } from './auth/security.ts'
import { acceptInvitedPerson, signInByToken, signInMethods, signOut } from './auth/sign-in.ts'
import { bodyLimits, readText } from './body.ts'
import { catalogAnswer, createRemoteCallHandler } from './machine-calls.ts'
import { type Metrics, openMetrics, routeLabel } from './metrics.ts'
import { openApiDocument } from './openapi.ts'
import type { AppEnvironment, AssetsPart, HttpParts, McpPart, RequestContext } from './parts.ts'
import { Refusal, refusalResponse } from './refusal.ts'
import { readReviewImage } from './review-image.ts'
import { fallbackProject, findServedProject, type HttpServingOptions, pathInProject } from './serving.ts'

const self = "'self'"

/** The actor of readiness checks. */
const nobody: Actor = { name: 'a balancer', kind: 'agent', role: null, channel: 'http' }

export type HttpApp = Hono<AppEnvironment>

/** All routes: a project's routes are at `/p/<key>/…`, and at `/…` for the first project. */
export function httpApp(options: HttpServingOptions, security: Security, parts: HttpParts): HttpApp {
  const app = new Hono<AppEnvironment>()
  const metrics = openMetrics(options, parts.live)
  const operations = new Set(options.catalog.map(({ name }) => name))
  app.onError((error) => refusalResponse(error, options.log))
  app.notFound((c) =>
    refusalResponse(
      new Failure('NOT_FOUND', `There is nothing at ${c.req.path}.`, { reason: 'page_not_found' }),
      options.log,
    ),
  )
  app.use(async (c, next) => {
    const startedAt = performance.now()
    await next()
    const seconds = (performance.now() - startedAt) / 1000
    const { method, path } = c.req
    const request = { route: routeLabel(path, operations), method, status: c.res.status, seconds }
    metrics.count(request)
    options.log.debug('A request was answered.', { ...request, actor: c.get('caller')?.actor.name })
  })
  app.use(async (c, next) => {
    await ownFilesOnly(c, next)
    const policy = c.get('policy')
    if (policy !== undefined) c.res.headers.set('Content-Security-Policy', policy)
  })
  app.use(async (c, next) => {
    const caller = await authenticateRequest(requestInfoOf(c.env.incoming, security), security)
    c.set('caller', caller)
    c.set('seen', await visibleProjects(caller, security))
    c.set('project', c.var.seen.projects[0] ?? fallbackProject(options))
    await next()
  })
  app.use('/p/:project/*', async (c, next) => {
    // Anonymous callers may load the dashboard's files, which are the same for every project.
    if (c.var.caller) {
      const key = c.req.param('project')
      if (!options.projects.some((project) => project.key === key)) {
        await options.refresh()
        c.set('seen', await visibleProjects(c.var.caller, security))
      }
      c.set('project', findServedProject(key, c.var.seen))
    }
    await next()
  })
  app.route('/', serverRoutes(options, security, { metrics, assets: parts.assets }))
  app.route('/p/:project', projectRoutes(options, security, parts))
  app.route('/', projectRoutes(options, security, parts))
  return app
}

/** The headers of every answer: a browser may load only our own files. */
const ownFilesOnly = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: [self],
    connectSrc: [self, liveFeed],
    imgSrc: [self, 'data:'],
    objectSrc: ["'none'"],
    baseUri: ["'none'"],
    formAction: [self],
    frameAncestors: ["'none'"],
  },
  xFrameOptions: 'DENY',
  // The server uses plain HTTP on this machine.
  strictTransportSecurity: false,
})

/** In older browsers 'self' does not include WebSockets. */
function liveFeed({ req }: Pick<RequestContext, 'req'>): string {
  const host = req.header('host') ?? ''
  return /^[\w.[\]:-]+$/.test(host) ? `ws://${host} wss://${host}` : self
}

/** The routes of each project. */
function projectRoutes(
  options: HttpServingOptions,
  { streams }: Security,
  parts: HttpParts,
): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>()
  app.use('/api/*', async (c, next) => {
    requireAuth(c.var.caller)
    if (!isOfServer(c, options)) requireProject(c, options)
    c.header('Cache-Control', 'no-store')
    await next()
  })
  addReadRoute(app, '/api/openapi.json', (c) => c.json(openApiDocument(options)))
  addReadRoute(app, '/api/projects', (c) => c.json({ projects: listServedProjects(c.var.seen) }))
  addReadRoute(app, '/api/projects/work', async (c) => c.json(await projectsAtWork(c)))
  addReadRoute(app, '/api/session', async (c) => c.json(await sessionAnswer(c, options)))
  addReadRoute(app, '/api/catalog', async (c) => c.json(await catalogAnswer(c, options, parts.mcp)))
  addReadRoute(app, '/api/review/image', readReviewImage)
  app.post('/api/machines/call', createRemoteCallHandler(options, parts.mcp))
  app.all('/api/:operation', callOperation(options))
  app.all('/api/*', (c) => {
    throw new Failure('NOT_FOUND', `There is nothing at ${c.req.path.slice(0, 200)}.`, {
      reason: 'page_not_found',
      hint: 'GET /api/openapi.json describes what there is.',
    })
  })
  app.all('/mcp', mcpRoute(parts.mcp, streams, options))
  addReadRoute(app, '/ws', (c) => {
    requireAuth(c.var.caller)
    throw new Refusal(
      'INVALID_INPUT',
      'The live feed is a WebSocket, and this request does not ask for one.',
      {
        reason: 'websocket_upgrade_missing',
        hint: `Connect to ws://${c.req.header('host')}${c.req.path}?since=<seq>.`,
      },
    )
  })
  addReadRoute(app, '/*', (c) => parts.assets.answer(c.req.raw, pathInProject(c.req.path)))
  return app
}

/** The routes of the server as a whole. */
function serverRoutes(
  options: HttpServingOptions,
  security: Security,
  { metrics, assets }: { readonly metrics: Metrics; readonly assets: AssetsPart },
): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>()
  const { version } = options
  addReadRoute(app, '/healthz', (c) =>
    c.json({ status: 'ok', version, projects: options.projects.length }, 200, {
      'Cache-Control': 'no-store',
    }),
  )
  // For a load balancer: whether the database is writable.
  addReadRoute(app, '/readyz', async (c) => {
    // Projects in one database share their readiness; else each is checked.
    const { own, projects } = options
    const checked = own ? [own] : security.directory.team.owner ? projects : projects.slice(0, 1)
    const reasons = await Promise.all(checked.map((project) => project.contextOf(nobody).store.unreadiness()))
    const reason = reasons.find((one) => one !== null) ?? null
    // The reason contains the database's address: only authenticated callers may see it.
    const why = reason === null || c.var.caller === null ? {} : { reason }
    const answer = { status: reason === null ? 'ready' : 'not ready', ...why }
    return c.json(answer, reason === null ? 200 : 503, { 'Cache-Control': 'no-store' })
  })
  addReadRoute(app, '/metrics', async (c) => {
    requireAuth(c.var.caller)
    return c.body(await metrics.text(), 200, { 'Content-Type': metrics.contentType })
  })
  addReadRoute(
    app,
    '/api/sign-in',
    (c) => c.json(signInMethods(security), 200, { 'Cache-Control': 'no-store' }),
    ['POST', (c) => signInByToken(c, security)],
  )
  app.post('/api/login-proof', (c) => proveLogin(c, security, options))
  app.post('/api/login-code', (c) => makeLoginCode(c, security, options))
  app.all('/login', (c) => logIn(c, security, { ...options, page: assets.page }))
  app.post('/api/demo/play', (c) => answerPlayDemo(c, options))
  app.post('/api/invitation', (c) => acceptInvitedPerson(c, security))
  app.post('/api/logout', (c) => signOut(c, security))
  addReadRoute(app, '/sign-in/oidc', (c) => {
    if (security.oidc) return security.oidc.begin(c, security)
    throw withoutOidc()
  })
  addReadRoute(app, '/sign-in/oidc/callback', (c) => {
    if (security.oidc) return security.oidc.end(c, security, { page: assets.page })
    throw withoutOidc()
  })
  return app
}

/** The projects that a caller may see. */
async function visibleProjects(
  caller: Caller | null,
  { directory }: Security,
): Promise<Pick<AppEnvironment['Variables']['seen'], 'projects'>> {
  return { projects: caller ? await directory.visible(caller) : [] }
}

const ofServer = ['/api/session', '/api/projects', '/api/projects/work', '/api/openapi.json']

/** Whether a call needs no project: about the caller or the server. */
function isOfServer(c: RequestContext, { projects, own, catalog }: HttpServingOptions): boolean {
  if (projects.length > 0 || own === null || c.var.project !== own) return false
  if (ofServer.includes(c.req.path)) return true
  return catalog.some((operation) => operation.ofServer && c.req.path === `/api/${operation.name}`)
}

/** A hidden project is answered like a missing one. */
function requireProject(c: RequestContext, { projects }: HttpServingOptions): void {
  if (c.var.seen.projects.includes(c.var.project)) return
  if (projects.length === 0) {
    throw new Failure('NOT_FOUND', 'There is no project on this server yet.', {
      reason: 'no_project',
      hint: 'An admin can add one: waymark connect <url> --project <name> --new in its folder, or “Add” in the dashboard.',
    })
  }
  throw new Failure('NOT_FOUND', 'You are not a member of any project here.', {
    reason: 'not_a_member',
    hint: 'Ask an owner of the project: waymark member add <you>. waymark whoami says who you are.',
    // A caller without any project may still sign out.
    ...(c.var.caller?.csrf && { details: { csrf: c.var.caller.csrf } }),
  })
}

type RequestHandler = (c: RequestContext) => Response | Promise<Response>

/** A route with one method: others are refused with a message. */
function addReadRoute(
  app: Hono<AppEnvironment>,
  path: string,
  answer: RequestHandler,
  [method, other]: readonly [string?, RequestHandler?] = [],
): void {
  app.all(path, (c) => {
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return answer(c)
    if (other && c.req.method === method) return other(c)
    throw new Refusal('METHOD_NOT_ALLOWED', `${c.req.path} is read with GET, not with ${c.req.method}.`, {
      reason: 'method_not_allowed',
      headers: { Allow: ['GET', 'HEAD', method].filter(Boolean).join(', ') },
    })
  })
}

/** Passes `/mcp` on with its limited body. Streams end with the caller's token. */
function mcpRoute(mcp: McpPart, streams: OpenStreams, options: HttpServingOptions) {
  const watched = new Set<string>()

  const watchSessions = (caller: Caller): void => {
    const key = `${caller.token} ${caller.login ?? ''}`
    if (watched.has(key)) return
    watched.add(key)
    streams.keep(caller, () => {
      watched.delete(key)
      mcp.revoke(caller.actor)
    })
  }

  return async (c: RequestContext): Promise<Response> => {
    const caller = requireAuth(c.var.caller)
    requireProject(c, options)
    watchSessions(caller)
    const { raw } = c.req
    const request =
      raw.body === null
        ? raw
        : new Request(raw, { method: raw.method, body: await readText(raw, bodyLimits) })
    return closeStreamWith(caller, await mcp.handle(request, c.var.project, caller.actor), streams)
  }
}

/** An event stream that ends when its reader loses access. */
function closeStreamWith(caller: Caller, response: Response, streams: OpenStreams): Response {
  const { body, status, statusText, headers } = response
  if (!body || !headers.get('content-type')?.includes('text/event-stream')) return response
  const reader = body.getReader()
  let release = (): void => undefined
  const guarded = new ReadableStream<Uint8Array>({
    start: (controller) => {
      release = streams.keep(caller, () => {
        controller.close()
        void reader.cancel('The token was revoked.').catch(() => undefined)
      })
    },
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        release()
        closeIfOpen(controller)
      } catch (error) {
        release()
        controller.error(error)
      }
    },
    cancel: async (reason) => {
      release()
      await reader.cancel(reason)
    },
  })
  return new Response(guarded, { status, statusText, headers })
}

/** The stream may already be closed because its reader lost access. */
function closeIfOpen(controller: ReadableStreamDefaultController<Uint8Array>): void {
  if (controller.desiredSize !== null) controller.close()
}

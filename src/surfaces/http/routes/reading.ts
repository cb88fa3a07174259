import type { Hono } from 'hono'
import type { AppEnvironment, RequestContext } from '../app.ts'
import { Refusal } from '../refusal/refusal.ts'

/** A route that is only read: other methods are refused by name. */
export function reading(
  app: Hono<AppEnvironment>,
  path: string,
  answer: (c: RequestContext) => Response | Promise<Response>,
): void {
  app.all(path, (c) => {
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return answer(c)
    throw new Refusal('METHOD_NOT_ALLOWED', `${c.req.path} is read with GET, not with ${c.req.method}.`, {
      headers: { Allow: 'GET, HEAD' },
    })
  })
}

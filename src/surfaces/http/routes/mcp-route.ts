import { readBody } from '../api/read-body.ts'
import type { RequestContext } from '../app.ts'
import { known } from '../guard/admit.ts'
import { largestBody } from '../guard/security.ts'
import type { McpPart } from '../parts.ts'

/** Hands `/mcp` over, with a body that was read within the limit. */
export function mcpRoute(mcp: McpPart) {
  return async (c: RequestContext): Promise<Response> => {
    const { actor } = known(c.var.caller)
    const { raw } = c.req
    if (raw.body === null) return mcp.handle(raw, c.var.project, actor)
    const request = new Request(raw, { method: raw.method, body: await readBody(raw, largestBody) })
    return mcp.handle(request, c.var.project, actor)
  }
}

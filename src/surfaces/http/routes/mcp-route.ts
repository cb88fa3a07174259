import { readBody } from '../api/read-body.ts'
import type { RequestContext } from '../app.ts'
import { known } from '../guard/admit.ts'
import type { Caller } from '../guard/caller.ts'
import type { OpenStreams } from '../guard/open-streams.ts'
import { largestBody } from '../guard/security.ts'
import type { McpPart } from '../parts.ts'

/** Hands `/mcp` over, with a body that was read within the limit. What it opens ends with the caller's token. */
export function mcpRoute(mcp: McpPart, streams: OpenStreams) {
  const watched = new Set<string>()

  const watchSessions = (caller: Caller): void => {
    const key = `${caller.token} ${caller.session ?? ''}`
    if (watched.has(key)) return
    watched.add(key)
    streams.keep(caller, () => {
      watched.delete(key)
      mcp.revoke(caller.actor)
    })
  }

  return async (c: RequestContext): Promise<Response> => {
    const caller = known(c.var.caller)
    watchSessions(caller)
    const { raw } = c.req
    const request =
      raw.body === null
        ? raw
        : new Request(raw, { method: raw.method, body: await readBody(raw, largestBody) })
    return endedWith(caller, await mcp.handle(request, c.var.project, caller.actor), streams)
  }
}

/** A stream of events that breaks off once its reader is let in no more. */
function endedWith(caller: Caller, response: Response, streams: OpenStreams): Response {
  const { body, status, statusText, headers } = response
  if (!body || !headers.get('content-type')?.includes('text/event-stream')) return response
  const reader = body.getReader()
  let closed = (): void => undefined
  const guarded = new ReadableStream<Uint8Array>({
    start: (controller) => {
      closed = streams.keep(caller, () => {
        controller.close()
        void reader.cancel('The token was removed.').catch(() => undefined)
      })
    },
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        closed()
        closeOnce(controller)
      } catch (error) {
        closed()
        controller.error(error)
      }
    },
    cancel: async (reason) => {
      closed()
      await reader.cancel(reason)
    },
  })
  return new Response(guarded, { status, statusText, headers })
}

/** It is closed already where the caller was let in no more while it was read. */
function closeOnce(controller: ReadableStreamDefaultController<Uint8Array>): void {
  if (controller.desiredSize !== null) controller.close()
}

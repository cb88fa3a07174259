/** The same response, and a call once its body was sent, given up or never read because there is none. */
export function whenOver(response: Response, over: () => void): Response {
  const { body, status, statusText, headers } = response
  if (!body) {
    over()
    return response
  }
  const reader = body.getReader()
  const watched = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read()
        if (!done) {
          controller.enqueue(value)
          return
        }
        over()
        controller.close()
      } catch (error) {
        over()
        controller.error(error)
      }
    },
    cancel: async (reason) => {
      over()
      await reader.cancel(reason)
    },
  })
  return new Response(watched, { status, statusText, headers })
}

import { createServer } from 'node:http'
import { books } from './catalog.ts'
import { placeOrder } from './checkout.ts'

export const server = createServer(async (request, response) => {
  const send = (status: number, body: unknown) => {
    response.writeHead(status, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(body))
  }
  if (request.method === 'GET' && request.url === '/books') return send(200, books)
  if (request.method === 'POST' && request.url === '/orders') {
    const body = JSON.parse(await new Response(request as never).text())
    return send(201, placeOrder(body.lines))
  }
  send(404, { error: `Nothing is at ${request.url}` })
})

if (import.meta.main) server.listen(8080)

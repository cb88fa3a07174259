import { createServer } from 'node:http'
import { books, giftCardAmounts } from './catalog.ts'
import { placeOrder } from './checkout.ts'
import { createGiftCard } from './gift-card.ts'

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
  if (request.method === 'POST' && request.url === '/gift-cards') {
    const { amount } = JSON.parse(await new Response(request as never).text())
    if (!giftCardAmounts.includes(amount)) return send(400, { error: `Choose one of ${giftCardAmounts.join(', ')}` })
    return send(201, createGiftCard(amount))
  }
  send(404, { error: `Nothing is at ${request.url}` })
})

if (import.meta.main) server.listen(8080)

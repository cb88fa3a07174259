import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'

// A hono route that reads JSON and answers JSON: what any API in this place would cost at least.

const app = new Hono()
app.post('/api/:name', async (c) => c.json({ missions: [], given: await c.req.json() }))
const listener = getRequestListener(app.fetch)
const server = createServer((request, response) => void listener(request, response))
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port, token: '' }) // it listens on TCP
})

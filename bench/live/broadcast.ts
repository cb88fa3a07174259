import { WebSocketServer } from 'ws'
import { tellUsage } from './parts.ts'

// The least that a broadcaster can do: frames of the same size at the same rate, from memory, to everybody.
const [rate = '300', seconds = '10', readers = '200', size = '600'] = process.argv.slice(2)
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false }, () => {
  const address = server.address()
  process.send?.(typeof address === 'object' && address ? address.port : 0)
  tellUsage()
})
const padding = 'x'.repeat(Number(size))
server.on('connection', (socket) => {
  socket.send(JSON.stringify({ event: 'hello' }))
  if (server.clients.size === Number(readers)) setTimeout(begin, 2_000)
})

function begin(): void {
  const started = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - started) / 1000) * Number(rate))
    for (; sent < Math.min(due, Number(rate) * Number(seconds)); sent += 1) {
      const at = new Date().toISOString()
      const frame = Buffer.from(JSON.stringify({ seq: sent + 1, n: 0, event: 'x', at, data: padding }))
      for (const client of server.clients) client.send(frame, { binary: false })
    }
    if (sent >= Number(rate) * Number(seconds)) clearInterval(timer)
  }, 1)
}

// The least that a JSON-RPC server in Node can do: what Waymark's start is compared with.
import { createInterface } from 'node:readline'

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id } = JSON.parse(line)
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: {} })}\n`)
})

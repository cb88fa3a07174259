import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { openHttpProject } from '../http-project.ts'
import { closed } from '../raw.ts'

/** A frame as a client sends it: masked with zeros, so that its bytes stay what they are. */
function frame(opcode: number, payload: Buffer, { fin = true, masked = true, length = payload.length } = {}) {
  const head = [(fin ? 0x80 : 0) | opcode]
  const mask = masked ? 0x80 : 0
  if (length < 126) head.push(mask | length)
  else if (length < 65_536) head.push(mask | 126, length >> 8, length & 255)
  else {
    const size = Buffer.alloc(8)
    size.writeBigUInt64BE(BigInt(length))
    head.push(mask | 127, ...size)
  }
  return Buffer.concat([Buffer.from(head), Buffer.alloc(masked ? 4 : 0), payload])
}

const text = (content: string) => Buffer.from(content)

const hostile: Readonly<Record<string, Buffer>> = {
  'a frame that is not masked': frame(1, text('{}'), { masked: false }),
  'a frame that announces four gigabytes': frame(2, text('x'), { length: 2 ** 32 }),
  'a frame that announces more than there can be': frame(2, text('x'), { length: Number.MAX_SAFE_INTEGER }),
  'a kind of frame that is none': frame(7, text('x')),
  'a control frame in parts': frame(9, text('x'), { fin: false }),
  'a control frame that is too long': frame(9, Buffer.alloc(200)),
  'a part without a beginning': frame(0, text('x')),
  'text that is no UTF-8': frame(1, Buffer.from([0xff, 0xfe, 0xc0])),
  'a message of ten megabytes': frame(1, Buffer.alloc(10_000_000, 0x5b)),
  'a message in a hundred thousand parts': Buffer.concat([
    frame(1, text('['), { fin: false }),
    ...Array.from({ length: 100_000 }, () => frame(0, text('['), { fin: false })),
  ]),
  'deeply nested JSON': frame(1, Buffer.alloc(50_000, 0x5b)),
  'many small messages': Buffer.concat(Array.from({ length: 20_000 }, () => frame(1, text('{"type":"x"}')))),
  'many pings': Buffer.concat(Array.from({ length: 50_000 }, () => frame(9, text('ping')))),
  noise: randomBytes(100_000),
}

/** Too many messages, each as it should be. */
const staysOpen: ReadonlySet<string> = new Set(['many small messages'])

test.each(Object.keys(hostile))(
  '%s on the live feed ends that connection at most, and nobody waits',
  async (name) => {
    const { port, address, agentToken } = await openHttpProject({})
    const socket = connect(port, '127.0.0.1')
    const over = closed(socket)
    socket.write(
      `GET /ws?since=0 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${agentToken}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
    )
    const [answer] = await new Promise<readonly Buffer[]>((resolve) =>
      socket.once('data', (data) => resolve([data])),
    )
    expect(String(answer)).toMatch(/^HTTP\/1\.1 101/)
    socket.write(hostile[name] ?? '')
    const healthy = () => fetch(`${address}/healthz`, { signal: AbortSignal.timeout(5_000) })
    for (let round = 0; round < 5; round += 1) expect((await healthy()).status).toBe(200)
    if (!staysOpen.has(name)) await over
    socket.destroy()
    expect((await healthy()).status).toBe(200)
  },
)

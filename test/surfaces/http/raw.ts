import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly headers: string
  readonly body: string
  /** Everything that came, of several answers. */
  readonly text: string
}

/** Sends bytes as they are and waits until the server closes the connection. */
export async function sendRaw(port: number, text: string | Buffer): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('error', () => undefined) // a server may close while we still send
  socket.write(text)
  await closed(socket)
  return rawAnswer(Buffer.concat(chunks).toString())
}

/** Resolves when a connection is closed, in whatever way. */
export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.resume().on('error', () => undefined)
    socket.on('close', () => resolve())
  })
}

/** A request whose headers are exactly these. */
export function requestText(line: string, headers: Readonly<Record<string, string>>, body = ''): string {
  const written = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${line} HTTP/1.1\r\n${written.join('')}Connection: close\r\n\r\n${body}`
}

export function rawAnswer(text: string): RawAnswer {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0), headers: head, body, text }
}

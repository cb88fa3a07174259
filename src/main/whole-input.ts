import { readSync } from 'node:fs'
import { isatty } from 'node:tty'
import { Failure } from '../domain/failure.ts'
import { errorCode } from '../storage/sqlite/error-code.ts'

const most = 64 * 1024 * 1024
const atOnce = 64 * 1024

/**
 * Everything on standard input, unless it is a person's terminal or more than a client would ever send. Nothing else goes
 * on meanwhile, so it is read at once: a stream takes ten milliseconds to load.
 */
export async function wholeInput(): Promise<string> {
  if (isatty(0)) throw new Failure('INVALID_INPUT', 'A client calls it, with JSON on standard input.')
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of chunksOfInput()) {
    size += chunk.length
    if (size > most) {
      throw new Failure('INVALID_INPUT', `The client said more than ${most / 1024 / 1024} MB.`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

async function* chunksOfInput(): AsyncGenerator<Buffer> {
  try {
    for (;;) {
      const buffer = Buffer.allocUnsafe(atOnce)
      const read = readSync(0, buffer)
      if (read === 0) return
      yield buffer.subarray(0, read)
    }
  } catch (error) {
    // At the end Windows says so, and without an input there is nothing; only a pipe that must not be waited for is left.
    if (errorCode(error) !== 'EAGAIN') return
  }
  for await (const chunk of process.stdin) yield Buffer.from(chunk)
}

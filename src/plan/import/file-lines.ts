import type { FileHandle } from 'node:fs/promises'
import { Failure } from '../../kernel/failure.ts'

/** Bytes that are read at once. */
const chunkBytes = 256 * 1024
/** In bytes; the longest line of an export is a row with the output of a command. */
const maxLineBytes = 128 * 1024 * 1024

/** The lines of a file without empty ones. Each iteration opens the file anew and holds one line in memory. */
export function fileLines(open: () => Promise<FileHandle>): AsyncIterable<string> {
  return { [Symbol.asyncIterator]: () => linesIn(open) }
}

async function* linesIn(open: () => Promise<FileHandle>): AsyncGenerator<string> {
  const file = await open()
  try {
    const chunk = Buffer.allocUnsafe(chunkBytes)
    let started: Buffer[] = []
    let startedBytes = 0
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length, null)
      if (bytesRead === 0) break
      const read = chunk.subarray(0, bytesRead)
      let from = 0
      for (let end = read.indexOf('\n'); end !== -1; end = read.indexOf('\n', from)) {
        const line = textOf(started, read.subarray(from, end))
        started = []
        startedBytes = 0
        from = end + 1
        if (line !== '') yield line
      }
      startedBytes += bytesRead - from
      if (startedBytes > maxLineBytes) throw lineTooLongFailure()
      started.push(Buffer.from(read.subarray(from)))
    }
    const line = textOf(started, Buffer.alloc(0))
    if (line !== '') yield line
  } finally {
    await file.close()
  }
}

function textOf(started: readonly Buffer[], end: Buffer): string {
  return started.length === 0 ? end.toString('utf8') : Buffer.concat([...started, end]).toString('utf8')
}

function lineTooLongFailure(): Failure {
  return new Failure('INVALID_INPUT', `The export has a line of more than ${maxLineBytes} bytes.`, {
    reason: 'export_line_invalid',
    hint: 'Import a file as `waymark export` writes it.',
  })
}

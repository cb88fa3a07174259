import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'

/** A file of the dashboard as it is sent. */
export interface Asset {
  readonly type: string
  /** Strong; of the content. */
  readonly etag: string
  /** Its name changes with its content, so that it may be kept for ever. */
  readonly immutable: boolean
  readonly plain: Uint8Array<ArrayBuffer>
  /** The same in other encodings, the best first. */
  readonly encoded: readonly EncodedAsset[]
}

interface EncodedAsset {
  readonly encoding: 'br' | 'gzip'
  readonly bytes: Uint8Array<ArrayBuffer>
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
}

/** Reads a file, with its compressed forms where they lie beside it. */
export function readAsset(file: string, beside: ReadonlySet<string>): Asset {
  const plain = bytesOf(file)
  const encodings = [
    { encoding: 'br', file: `${file}.br` },
    { encoding: 'gzip', file: `${file}.gz` },
  ] as const
  return {
    type: types[extname(file)] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    immutable: /-[\w-]{8}\.\w+$/.test(file),
    plain,
    encoded: encodings
      .filter((encoded) => beside.has(encoded.file))
      .map((encoded) => ({ encoding: encoded.encoding, bytes: bytesOf(encoded.file) })),
  }
}

function bytesOf(file: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(file))
}

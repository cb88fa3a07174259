import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { Failure } from '../../kernel/failure.ts'
import type { AssetsPart } from './parts.ts'

/** Serves the dashboard from the folder that it was built into. */
export function serveAssets(folder: string): AssetsPart {
  const assets = new AssetFolder(folder)
  return {
    async answer(request, path) {
      if (!assets.isThere) return missingBuildPage()
      const asset = assets.find(path) ?? pageAt(path, assets)
      if (asset) return assetResponse(asset, request)
      throw new Failure('NOT_FOUND', `The dashboard has no file ${path.slice(0, 200)}.`, {
        reason: 'page_not_found',
      })
    },
    page() {
      const asset = assets.isThere ? assets.find('/index.html') : null
      return asset && new TextDecoder().decode(asset.plain)
    },
  }
}

/** Each page of the dashboard has its own URL, but all use one file. */
function pageAt(path: string, assets: AssetFolder): Asset | null {
  return path.startsWith('/assets/') ? null : assets.find('/index.html')
}

function assetResponse(asset: Asset, request: Request): Response {
  const { type, etag, immutable, plain, packed } = asset
  const isPacked = packed !== null && takesGzip(request.headers.get('accept-encoding') ?? '')
  const headers = {
    'Content-Type': type,
    'Cache-Control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: etag,
    Vary: 'Accept-Encoding',
  }
  const requestTags = request.headers.get('if-none-match') ?? ''
  if (requestTags.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)) {
    return new Response(null, { status: 304, headers })
  }
  return isPacked
    ? new Response(packed, { headers: { ...headers, 'Content-Encoding': 'gzip' } })
    : new Response(plain, { headers })
}

function takesGzip(header: string): boolean {
  return header.split(',').some((part) => {
    const [name, quality = ''] = part.split(';').map((word) => word.trim())
    return name === 'gzip' && !/^q=0(\.0*)?$/.test(quality)
  })
}

function missingBuildPage(): Response {
  const page = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Waymark</title>
<h1>Waymark</h1>
<p>The server runs. Its dashboard was not built: run <code>npm run build</code>, and open this page again.</p>
</html>
`
  return new Response(page, {
    headers: { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' },
  })
}

/**
 * The files of a folder by their served path. Only listed paths are served, so no path can leave the folder. The list is
 * read again after a new build.
 */
class AssetFolder {
  readonly #folder: string
  #built = 0
  #files: ReadonlyMap<string, string> = new Map()
  #served: ReadonlyMap<string, string> = new Map()
  #read = new Map<string, Asset>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** False if the dashboard is not built. */
  get isThere(): boolean {
    const built = statSync(join(this.#folder, 'index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0
    if (built !== this.#built) {
      this.#built = built
      this.#files = built === 0 ? new Map() : filesOf(this.#folder)
      this.#served = withPlain(this.#files)
      this.#read = new Map()
    }
    return built !== 0
  }

  find(path: string): Asset | null {
    const cached = this.#read.get(path)
    if (cached) return cached
    const file = this.#served.get(path)
    if (file === undefined) return null
    const asset = readAsset(file, new Set(this.#files.values()))
    this.#read.set(path, asset)
    return asset
  }
}

function filesOf(folder: string): ReadonlyMap<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => {
        const file = join(parentPath, name)
        return [`/${relative(folder, file).split(sep).join('/')}`, file]
      }),
  )
}

/** Also lists files that exist only in a compressed form. */
function withPlain(files: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const plain = [...files]
    .filter(([path]) => path.endsWith('.gz'))
    .map(([path, file]) => [path.slice(0, -3), file.slice(0, -3)] as const)
  return new Map([...plain, ...files])
}

/** A file of the dashboard. */
export interface Asset {
  readonly type: string
  /** The strong ETag of the content. */
  readonly etag: string
  /** Its name contains a hash: it may be cached without limit. */
  readonly immutable: boolean
  readonly plain: Uint8Array<ArrayBuffer>
  /** Compressed with gzip; null for what does not compress. */
  readonly packed: Uint8Array<ArrayBuffer> | null
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

/** Reads a file, or its compressed form where only that is there. */
function readAsset(file: string, beside: ReadonlySet<string>): Asset {
  const packed = beside.has(`${file}.gz`) ? bytesOf(`${file}.gz`) : null
  const plain = packed === null || beside.has(file) ? bytesOf(file) : new Uint8Array(gunzipSync(packed))
  return {
    type: types[extname(file)] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    immutable: /-[\w-]{8}\.\w+$/.test(file),
    plain,
    packed,
  }
}

function bytesOf(file: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(file))
}

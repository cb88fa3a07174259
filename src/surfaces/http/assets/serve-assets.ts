import { Failure } from '../../../domain/failure.ts'
import type { AssetsPart } from '../parts.ts'
import type { Asset } from './asset.ts'
import { AssetFolder } from './asset-folder.ts'

/** Serves the dashboard from the folder that it was built into. */
export function serveAssets(folder: string): AssetsPart {
  const assets = new AssetFolder(folder)
  return {
    async answer(request, path) {
      if (!assets.isThere) return notBuilt()
      const asset = assets.find(path) ?? pageAt(path, assets)
      if (asset) return answerWith(asset, request)
      throw new Failure('NOT_FOUND', `The dashboard has no file ${path.slice(0, 200)}.`)
    },
  }
}

/** A page of the dashboard has an address of its own, and all are one file. */
function pageAt(path: string, assets: AssetFolder): Asset | null {
  return path.startsWith('/assets/') ? null : assets.find('/index.html')
}

function answerWith(asset: Asset, request: Request): Response {
  const { type, etag, immutable, encoded } = asset
  const accepted = request.headers.get('accept-encoding') ?? ''
  const chosen = encoded.find(({ encoding }) => accepts(accepted, encoding))
  const headers = {
    'Content-Type': type,
    'Cache-Control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: etag,
    Vary: 'Accept-Encoding',
  }
  const held = request.headers.get('if-none-match') ?? ''
  if (held.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)) {
    return new Response(null, { status: 304, headers })
  }
  if (!chosen) return new Response(asset.plain, { headers })
  return new Response(chosen.bytes, { headers: { ...headers, 'Content-Encoding': chosen.encoding } })
}

function accepts(header: string, encoding: string): boolean {
  return header.split(',').some((part) => {
    const [name, quality = ''] = part.split(';').map((word) => word.trim())
    return name === encoding && !/^q=0(\.0*)?$/.test(quality)
  })
}

function notBuilt(): Response {
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

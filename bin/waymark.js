#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { complaintAbout } from './node-version.js'

const complaint = complaintAbout(process.versions.node)
if (complaint === null) await start()
else await startElsewhere(complaint)

// An old Node is what a client finds first on many machines; the package may have brought a newer one.
async function startElsewhere(complaint) {
  const { broughtNode, runWith } = await import('./other-node.js')
  const node = broughtNode()
  if (node === null) await refuse(complaint)
  else runWith(node)
}

async function refuse(complaint) {
  process.stderr.write(complaint)
  process.exitCode = 1
  if (process.argv[2] !== 'mcp') return
  // Standard error goes where no one looks: an MCP client shows what its first request is answered with.
  const { refuseRequests } = await import('./other-node.js')
  refuseRequests(complaint.replace('waymark: ', '').trim().replace('\n', ' '))
}

async function start() {
  const { bundleFor, compileCacheFolder } = await import('./loading.js')
  const module = process.getBuiltinModule('node:module')
  module.enableCompileCache?.(compileCacheFolder(process))
  // A server that is killed would never write the cache, so it is written once the start is over.
  setTimeout(() => module.flushCompileCache?.(), 1000).unref()
  const words = process.argv.slice(2)
  const bundle = new URL(`../dist/${bundleFor(words)}`, import.meta.url)
  const file = fileURLToPath(bundle)
  if (!process.getBuiltinModule('node:fs').existsSync(file)) {
    await refuse(`waymark: It is not built yet: ${file} is missing.\nRun: npm run build\n`)
    return
  }
  if (file.endsWith('.cjs')) {
    const { hook } = await loaded(async () => module.createRequire(import.meta.url)(file))
    await hook?.(words)
    return
  }
  const { main } = await loaded(() => import(bundle.href))
  await main?.()
}

async function loaded(load) {
  try {
    return await load()
  } catch (error) {
    const [reason] = String(error?.message ?? error).split('\n')
    await refuse(
      `waymark: It cannot be loaded: ${reason}\nInstall it again, or in its repository run: npm run build\n`,
    )
    return {}
  }
}

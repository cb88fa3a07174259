#!/usr/bin/env node
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { compileCacheFolder } from './compile-cache.js'
import { complaintAbout } from './node-version.js'

const complaint = complaintAbout(process.versions.node)
if (complaint === null) await start()
else {
  process.stderr.write(complaint)
  process.exitCode = 1
}

async function start() {
  module.enableCompileCache?.(compileCacheFolder(process))
  // A server that is killed would never write the cache, so it is written once the start is over.
  setTimeout(() => module.flushCompileCache?.(), 1000).unref()
  const bundle = new URL('../dist/waymark.js', import.meta.url)
  if (!existsSync(bundle)) {
    process.stderr.write(
      `waymark: It is not built yet: ${fileURLToPath(bundle)} is missing.\nRun: npm run build\n`,
    )
    process.exitCode = 1
    return
  }
  const { main } = await import(bundle.href)
  await main()
}

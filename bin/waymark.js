#!/usr/bin/env node
import module from 'node:module'
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
  const { main } = await import('../dist/waymark.js')
  await main()
}

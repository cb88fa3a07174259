import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { openContext } from '../../src/app/open-context.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { createMcpOverHttp } from '../../src/surfaces/mcp/http/mcp-over-http.ts'

// MCP over HTTP and nothing before it, in a process of its own. Asked, it says how much memory is in use.

const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-bench-')))
const actor = { name: 'agent', kind: 'agent', role: null, channel: 'http' } as const
const environment = { ...process.env, WAYMARK_PROJECT: home, XDG_STATE_HOME: join(home, 'state') }
const context = openContext({ actor, environment, workingFolder: home })
const mcp = createMcpOverHttp({
  catalog: async () => catalog,
  toolsets: ['plan', 'track', 'gate'],
  readOnly: false,
  toolNames: 'portable',
  version: '0.0.0',
  log: () => undefined,
})
const project = { key: 'bench', contextOf: () => context }
const fetch = (request: Request) => mcp.handle(request, project, actor)
serve({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }: AddressInfo) => process.send?.({ port }))

process.on('message', () => {
  globalThis.gc?.()
  process.send?.({ memory: process.memoryUsage().heapUsed / 2 ** 20 })
})
process.on('disconnect', () => {
  rmSync(home, { recursive: true, force: true })
  process.exit()
})

import { z } from 'zod'
import { closeContext, openContext } from '../../../src/app/open-context.ts'
import { messageOf } from '../../../src/kernel/failure.ts'
import {
  defineOperation,
  type Operation,
  type OperationContract,
} from '../../../src/kernel/operations/operation.ts'
import { connect } from '../../../src/surfaces/mcp/connection.ts'
import { serveMcpOverStdio } from '../../../src/surfaces/mcp/stdio.ts'
import type { Surface } from '../../../src/surfaces/mcp/surface.ts'

// A server whose operations have the defects that the real ones should not have.

const empty = z.strictObject({})
const anything = z.looseObject({})

function contract(tool: string): OperationContract<typeof empty, typeof anything> {
  return {
    name: tool,
    tool,
    command: tool,
    toolset: 'gate',
    audience: 'both',
    title: tool,
    description: `Operation ${tool}`,
    kind: 'query',
    input: empty,
    output: anything,
  }
}

const catalog: readonly Operation[] = [
  defineOperation(contract('fail')).handler(() => Promise.reject(new Error('The handler broke.'))),
  defineOperation(contract('print')).handler(() => {
    console.log('printed by a library')
    return Promise.resolve({ printed: true })
  }),
  defineOperation(contract('forget')).handler(() => {
    void Promise.reject(new Error('Nobody waited for this.'))
    return Promise.resolve({ forgotten: true })
  }),
]

const context = openContext({
  actor: { name: 'agent', kind: 'agent', role: null, channel: 'stdio' },
  environment: process.env,
  workingFolder: process.cwd(),
})
const surface: Surface = {
  catalog: () => Promise.resolve(catalog),
  contextOf: () => context,
  toolsets: ['gate'],
  readOnly: false,
  toolNames: 'portable',
  version: '0.0.0',
  log: (line, error) => process.stderr.write(`${line} ${error === undefined ? '' : messageOf(error)}\n`),
}
await serveMcpOverStdio({ ...surface, open: async () => (transport) => connect(surface, transport) })
await closeContext(context)

import { Failure } from '../../../domain/failure.ts'
import { didYouMean } from '../../../domain/nearest-word.ts'
import { invoke } from '../../../operations/invoke.ts'
import type { Operation } from '../../../operations/operation.ts'
import type { RequestContext } from '../app.ts'
import { known } from '../guard/admit.ts'
import { largestBody } from '../guard/security.ts'
import { Refusal } from '../refusal/refusal.ts'
import { readJson } from './read-json.ts'

/** `POST /api/<operation>`: the one way in, as on every surface. */
export function callOperation(catalog: readonly Operation[]) {
  const operations = new Map(catalog.map((operation) => [operation.name, operation]))
  return async (c: RequestContext): Promise<Response> => {
    const { actor } = known(c.var.caller)
    const name = c.req.param('operation') ?? ''
    const operation = operations.get(name)
    if (!operation) throw unknownOperation(name, [...operations.keys()])
    if (c.req.method !== 'POST') throw wrongMethod(c.req.method, name)
    const input = await readJson(c.req.raw, largestBody)
    const idempotencyKey = c.req.header('idempotency-key')
    const options = idempotencyKey === undefined ? {} : { idempotencyKey }
    return c.json(await invoke(operation, c.var.project.contextOf(actor), input, options))
  }
}

function unknownOperation(name: string, names: readonly string[]): Failure {
  return new Failure(
    'NOT_FOUND',
    `There is no operation "${name.slice(0, 100)}".${didYouMean(name, names)}`,
    {
      hint: 'GET /api/openapi.json describes all of them.',
    },
  )
}

function wrongMethod(method: string, name: string): Refusal {
  return new Refusal('METHOD_NOT_ALLOWED', `${name} is called with POST, not with ${method}.`, {
    hint: `POST /api/${name} with a JSON object as body.`,
    headers: { Allow: 'POST' },
  })
}

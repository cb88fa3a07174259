import type { Context } from '../../../operations/context.ts'
import { type Answer, invoke } from '../../../operations/invoke.ts'
import type { Operation } from '../../../operations/operation.ts'

/** Asks an operation of the catalog by its name. */
export type Ask = (operation: string, input: Answer) => Promise<Answer>

export function askIn(catalog: readonly Operation[], context: Context): Ask {
  return (name, input) => {
    const operation = catalog.find((candidate) => candidate.name === name)
    if (!operation) throw new Error(`The catalog has no operation "${name}", which resources are made of.`)
    return invoke(operation, context, input)
  }
}

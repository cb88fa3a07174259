import type { Context } from '../../../operations/context.ts'
import { invoke } from '../../../operations/invoke.ts'
import type { Answer, Operation } from '../../../operations/operation.ts'

/** Asks an operation of the catalog by its name. */
export type Ask = (operation: string, input: Answer) => Promise<Answer>

export function askIn(catalog: () => Promise<readonly Operation[]>, context: Context): Ask {
  return async (name, input) => {
    const operation = (await catalog()).find((candidate) => candidate.name === name)
    if (!operation) throw new Error(`The catalog has no operation "${name}", which resources are made of.`)
    return invoke(operation, context, input)
  }
}

import type { ProcessDefinition } from '../definition.ts'
import { type Finding, finding } from './finding.ts'

/** Words that say of an end that what the process is for was reached. */
const goodEnds = new Set(
  'accepted answered approved closed complete completed delivered deployed done end ended finalized finish finished fixed implemented live merged passed published released resolved shipped signed solved succeeded success successful verified'.split(
    ' ',
  ),
)
const doubts = new Set('almost error errors fail failed no not partially partly un with without'.split(' '))

/**
 * A final state that says no `outcome` counts as success, and opens the gate of the run's mission: a name that is not
 * plainly one is probably a mistake. `stated`: the states that say theirs.
 */
export function outcomes(
  { states }: Pick<ProcessDefinition, 'states'>,
  stated: ReadonlySet<string>,
): readonly Finding[] {
  return states.flatMap(({ name, isFinal }, at) => {
    if (!isFinal || stated.has(name) || isGoodEnd(name)) return []
    const message = `"${name}" is final and says no outcome, so a run that ends there counts as succeeded and opens what it gates. Say outcome: failed, or outcome: succeeded.`
    return [finding('warning', 'no-outcome', { message, path: ['states', at, 'name'] })]
  })
}

function isGoodEnd(name: string): boolean {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
  return words.some((word) => goodEnds.has(word)) && !words.some((word) => doubts.has(word))
}

import type { ProcessDefinition } from '../definition.ts'
import { type Finding, finding } from './finding.ts'

/** A tool is in one list of a state only; where it is in several, the strictest one counts. */
export function toolPermissions({ states }: ProcessDefinition): readonly Finding[] {
  return states.flatMap(({ name, toolPermissions }, at) => {
    if (toolPermissions === null) return []
    const { allowed, denied, ask } = toolPermissions
    const twice = [...new Set([...allowed, ...denied, ...ask])].filter(
      (tool) => [allowed, denied, ask].filter((list) => list.includes(tool)).length > 1,
    )
    return twice.map((tool) => {
      const counts = denied.includes(tool) ? 'denied' : 'ask'
      const message = `"${name}" lists the tool ${tool} more than once; "${counts}" counts.`
      return finding('warning', 'tool-listed-twice', { message, path: ['states', at, 'tool_permissions'] })
    })
  })
}

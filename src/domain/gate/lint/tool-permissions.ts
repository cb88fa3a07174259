import type { ProcessDefinition } from '../definition.ts'
import { readShellLine } from '../hook/shell-line.ts'
import { meantTool } from '../hook/tool-name.ts'
import { type DefinitionPath, type Finding, finding } from './finding.ts'

/** Patterns can fit a call, and a tool is in one list of a state only; where it is in several, the strictest one counts. */
export function toolPermissions({ states }: ProcessDefinition): readonly Finding[] {
  return states.flatMap(({ name, toolPermissions }, at) => {
    if (toolPermissions === null) return []
    const { allowed, denied, ask } = toolPermissions
    const twice = [...new Set([...allowed, ...denied, ...ask])].filter(
      (tool) => [allowed, denied, ask].filter((list) => list.includes(tool)).length > 1,
    )
    const patterns = (['allowed', 'denied', 'ask'] as const).flatMap((list) =>
      toolPermissions[list].flatMap((written, place) =>
        pattern(written, ['states', at, 'tool_permissions', list, place]),
      ),
    )
    const limits = toolPermissions.paths.flatMap(({ tool }) =>
      limited(tool, ['states', at, 'tool_permissions', 'paths', tool]),
    )
    return [
      ...patterns,
      ...limits,
      ...twice.map((tool) => {
        const counts = denied.includes(tool) ? 'denied' : 'ask'
        const message = `"${name}" lists the tool ${tool} more than once; "${counts}" counts.`
        return finding('warning', 'tool-listed-twice', { message, path: ['states', at, 'tool_permissions'] })
      }),
    ]
  })
}

/** Tools that name a file, not a command. */
const fileTools = [
  'Read',
  'Write',
  'Edit',
  'MultiEdit',
  'NotebookEdit',
  'Glob',
  'Grep',
  'Delete',
  'StrReplace',
]

function pattern(written: string, path: DefinitionPath): readonly Finding[] {
  const meant = meantTool(written)
  if (meant === null) {
    const message = `"${written}" is neither a tool nor a tool with a pattern for its commands, such as Bash(npm test*).`
    return [finding('error', 'tool-pattern', { message, path })]
  }
  if (meant.pattern === null) return []
  if (fileTools.includes(meant.tool)) {
    const message = `"${written}" never fits: a pattern is for commands, and ${meant.tool} names a file. Say paths: { ${meant.tool}: ["${meant.pattern}"] }.`
    return [finding('error', 'tool-pattern', { message, path })]
  }
  const { commands, unclear } = readShellLine(meant.pattern)
  if (commands.length === 1 && unclear === null) return []
  const message = `"${written}" never fits: a line is taken apart at its operators, and each command is compared alone. Give each its own entry.`
  return [finding('warning', 'tool-pattern', { message, path })]
}

function limited(tool: string, path: DefinitionPath): readonly Finding[] {
  if (!/[()]/.test(tool)) return []
  const message = `"${tool}" is no tool: paths limit a whole tool to some files.`
  return [finding('error', 'tool-pattern', { message, path })]
}

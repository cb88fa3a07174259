import type { EventDefinition, ProcessDefinition } from '../definition.ts'
import { readShellLine } from '../hook/shell-line.ts'
import { parseToolPattern } from '../hook/tool-use.ts'
import { type DefinitionPath, type Finding, finding } from './finding.ts'

/** Roles, events and transitions agree about permissions. */
export function roles(definition: ProcessDefinition): readonly Finding[] {
  return [
    ...definition.events.flatMap(eventRoles),
    ...narrowedTransitions(definition),
    ...listedEvents(definition),
    ...idleRoles(definition),
    ...agentApprovals(definition),
  ]
}

function eventRoles({ name, allowedRoles }: EventDefinition, index: number): readonly Finding[] {
  const path = ['events', index, 'allowed_roles']
  if (allowedRoles.length === 0) {
    const message = `No one may emit "${name}": its list of roles is empty.`
    return [finding('warning', 'roles-disagree', { message, path })]
  }
  if (!allowedRoles.includes('*') || allowedRoles.length === 1) return []
  const message = `"${name}" allows "*", which is everyone. Remove the other roles.`
  return [finding('warning', 'roles-disagree', { message, path })]
}

function narrowedTransitions({ transitions, events }: ProcessDefinition): readonly Finding[] {
  return transitions.flatMap(({ event, allowedRoles }, index) => {
    const allowed = events.find(({ name }) => name === event)?.allowedRoles
    if (allowedRoles === null || allowed === undefined || allowed.includes('*')) return []
    if (allowedRoles.includes('*') || allowedRoles.some((role) => allowed.includes(role))) return []
    const message = `No role may take this transition: "${event}" is for ${allowed.join(', ') || 'no one'}, the transition for ${allowedRoles.join(', ') || 'no one'}.`
    return finding('warning', 'roles-disagree', { message, path: ['transitions', index, 'allowed_roles'] })
  })
}

/** `roles[].allowed_events` has no effect, so it must match the events. */
function listedEvents(definition: ProcessDefinition): readonly Finding[] {
  return definition.roles.flatMap(({ name: role, allowedEvents }, index) =>
    definition.events.flatMap(({ name, allowedRoles }) => {
      if (allowedEvents === null) return []
      const listed = allowedEvents.includes(name)
      const permitted = allowedRoles.includes('*') || allowedRoles.includes(role)
      if (listed === permitted) return []
      const message = listed
        ? `Role "${role}" lists "${name}", but the event does not allow the role. The event decides.`
        : `Event "${name}" allows role "${role}", which does not list the event. The event decides.`
      return finding('warning', 'roles-disagree', { message, path: ['roles', index, 'allowed_events'] })
    }),
  )
}

function idleRoles(definition: ProcessDefinition): readonly Finding[] {
  const approving = definition.guards.flatMap(({ guard }) => (guard.type === 'approval' ? [guard.role] : []))
  const acting = [...definition.events.flatMap(({ allowedRoles }) => allowedRoles), ...approving]
  if (acting.includes('*')) return []
  return definition.roles.flatMap(({ name }, index) => {
    if (acting.includes(name)) return []
    const message = `Role "${name}" may emit no event and approves nothing.`
    return finding('warning', 'unused', { message, path: ['roles', index, 'name'] })
  })
}

function agentApprovals(definition: ProcessDefinition): readonly Finding[] {
  return definition.guards.flatMap(({ name, guard }) => {
    if (guard.type !== 'approval') return []
    if (definition.roles.find((role) => role.name === guard.role)?.kind !== 'agent') return []
    const message = `"${name}" needs an approval by role "${guard.role}", which an agent can have. Declare it as kind: human.`
    return finding('warning', 'roles-disagree', { message, path: ['guards', name, 'role'] })
  })
}

/** Patterns can match a call, and a tool is in only one list of a state; otherwise the strictest list counts. */
export function toolPermissions({ states }: ProcessDefinition): readonly Finding[] {
  return states.flatMap(({ name, toolPermissions }, index) => {
    if (toolPermissions === null) return []
    const { allowed, denied, ask } = toolPermissions
    const twice = [...new Set([...allowed, ...denied, ...ask])].filter(
      (tool) => [allowed, denied, ask].filter((list) => list.includes(tool)).length > 1,
    )
    const patterns = (['allowed', 'denied', 'ask'] as const).flatMap((list) =>
      toolPermissions[list].flatMap((entry, place) =>
        pattern(entry, ['states', index, 'tool_permissions', list, place]),
      ),
    )
    const limits = toolPermissions.paths.flatMap(({ tool }) =>
      limitedToolFindings(tool, ['states', index, 'tool_permissions', 'paths', tool]),
    )
    return [
      ...patterns,
      ...limits,
      ...twice.map((tool) => {
        const counts = denied.includes(tool) ? 'denied' : 'ask'
        const message = `"${name}" lists the tool ${tool} more than once; "${counts}" counts.`
        return finding('warning', 'tool-listed-twice', {
          message,
          path: ['states', index, 'tool_permissions'],
        })
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

function pattern(text: string, path: DefinitionPath): readonly Finding[] {
  const parsed = parseToolPattern(text)
  if (parsed === null) {
    const message = `"${text}" is neither a tool nor a tool with a pattern for its commands, such as Bash(npm test*).`
    return [finding('error', 'tool-pattern', { message, path })]
  }
  if (parsed.pattern === null) return []
  if (fileTools.includes(parsed.tool)) {
    const message = `"${text}" never matches: patterns are for commands, and ${parsed.tool} takes a file. Use paths: { ${parsed.tool}: ["${parsed.pattern}"] }.`
    return [finding('error', 'tool-pattern', { message, path })]
  }
  const { commands, unclear } = readShellLine(parsed.pattern)
  if (commands.length === 1 && unclear === null) return []
  const message = `"${text}" never matches: each command of a line is compared by itself. Add an entry for each command.`
  return [finding('warning', 'tool-pattern', { message, path })]
}

function limitedToolFindings(tool: string, path: DefinitionPath): readonly Finding[] {
  if (!/[()]/.test(tool)) return []
  const message = `"${tool}" is not a tool: paths limit a whole tool to some files.`
  return [finding('error', 'tool-pattern', { message, path })]
}

/** A call of a tool that has not happened yet. */
export interface ToolUse {
  /** The tool's name, and other clients' names of the same tool. */
  readonly names: readonly [string, ...string[]]
  /** Whether it changes the file that it names. */
  readonly edits: boolean
  readonly file: ToolTarget
  /** The line that it gives to a shell; null when it gives none. */
  readonly command: string | null
}

/** The file or folder that a call names, if it names one. `path` is relative to the work tree's top, with `/`. */
export type ToolTarget =
  | { readonly where: 'inside'; readonly path: string }
  | { readonly where: 'outside'; readonly path: string }
  | { readonly where: 'nowhere' }

/** The decision about a call. Null is none: the client's own rules apply. */
export interface HookDecision {
  readonly decision: 'ask' | 'deny'
  readonly reason: string
}

/** The strictest of several, with every reason for it. */
export function strictestDecision(all: readonly (HookDecision | null)[]): HookDecision | null {
  const decisions = all.filter((one) => one !== null)
  const denials = decisions.filter(({ decision }) => decision === 'deny')
  const [first, ...others] = denials.length > 0 ? denials : decisions
  if (first === undefined) return null
  return { ...first, reason: [...new Set([first, ...others].map(({ reason }) => reason))].join('\n') }
}

/** Whether a tool is the one that is meant: by its exact name, or by its beginning as in `mcp__github__*`. */
export function isTool(pattern: string, { names }: Pick<ToolUse, 'names'>): boolean {
  if (!pattern.endsWith('*')) return names.includes(pattern)
  const beginning = pattern.slice(0, -1)
  return names.some((name) => name.startsWith(beginning))
}

/** `Bash(npm test*)`: a tool with a pattern for its commands; without a pattern, the whole tool. */
interface ToolPattern {
  readonly tool: string
  readonly pattern: string | null
}

/** Null if it is neither a name nor a name with a pattern. */
export function parseToolPattern(text: string): ToolPattern | null {
  const [, tool, pattern] = /^([^()\s]+)\((.+)\)$/s.exec(text) ?? []
  if (tool !== undefined && pattern !== undefined) return { tool, pattern }
  return /[()]/.test(text) ? null : { tool: text, pattern: null }
}

/** Some clients leave out the server of a tool, so only its name identifies it. */
const ownTools = [
  'start_mission',
  'complete_mission',
  'list_missions',
  'get_context',
  'start_workflow',
  'complete_workflow',
  'start_phase',
  'complete_phase',
  'plan_tasks',
  'start_task',
  'complete_task',
  'log_decision',
  'log_issue',
  'log_milestone',
  'reply_to_review',
]

/** An agent leaves a state with Waymark's own tools, so no state may deny them. */
export function isOwnTool({ names }: Pick<ToolUse, 'names'>): boolean {
  return names.some((name) => {
    if (/^mcp__(?:plugin_waymark_)?waymark__/.test(name)) return true
    // Cursor names no server; Gemini CLI, OpenCode and Copilot CLI put its name before that of the tool.
    const [, bare = ''] = /^(?:MCP:|(?:mcp_)?waymark[_-])(.*)$/.exec(name) ?? []
    return /^(?:taskman|state_gate)[_.]/.test(bare) || ownTools.includes(bare)
  })
}

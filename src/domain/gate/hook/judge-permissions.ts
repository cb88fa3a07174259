import picomatch from 'picomatch'
import { stateNamed, type ToolPermissions } from '../definition.ts'
import type { HookRun } from './hook-run.ts'
import { isTool } from './tool-name.ts'
import { type HookVerdict, strictest, type ToolUse } from './tool-use.ts'
import { waysOn } from './ways-on.ts'

interface Objection {
  readonly decision: HookVerdict['decision']
  /** What the state does, as the rest of a sentence. */
  readonly says: string
}

/** What the state of a run says to a call: denied before asked before not allowed. An empty list restricts nothing. */
export function judgePermissions(run: HookRun, use: ToolUse): HookVerdict | null {
  const { record, definition } = run
  const permissions = stateNamed(definition, record.state)?.toolPermissions ?? null
  if (permissions === null) return null
  const found = objections(permissions, use)
  if (found.length === 0) return null
  const where = `Run ${record.id} (${definition.name}) is in the state "${record.state}", which`
  const verdict = strictest(found.map(({ decision, says }) => ({ decision, reason: `${where} ${says}.` })))
  return verdict && { ...verdict, reason: `${verdict.reason} ${waysOn(run)}` }
}

function objections(permissions: ToolPermissions, use: ToolUse): readonly Objection[] {
  const { allowed, denied, ask, paths } = permissions
  const [name] = use.names
  const isIn = (list: readonly string[]) => list.some((meant) => isTool(meant, use))
  if (isIn(denied)) return [{ decision: 'deny', says: `denies ${name}` }]
  const limits = paths.filter(({ tool }) => isTool(tool, use)).flatMap(({ globs }) => beyond(globs, use))
  if (isIn(ask)) return [...limits, { decision: 'ask', says: `lets a person decide about ${name}` }]
  if (allowed.length === 0 || isIn(allowed)) return limits
  return [...limits, { decision: 'deny', says: `allows only ${allowed.join(', ')}, not ${name}` }]
}

/** What a limit to some files says to a call. */
function beyond(globs: readonly string[], { names: [name], file }: ToolUse): readonly Objection[] {
  const limit = `limits ${name} to ${globs.join(', ')}`
  if (file.where === 'nowhere') {
    return [{ decision: 'ask', says: `${limit}, and this call names no file` }]
  }
  if (file.where === 'inside' && picomatch([...globs], { dot: true })(file.path)) return []
  return [{ decision: 'deny', says: `${limit}, not to ${file.path || 'the whole project'}` }]
}

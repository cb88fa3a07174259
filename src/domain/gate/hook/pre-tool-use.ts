import type { SettingName } from '../happening.ts'
import { settingOf } from '../settings.ts'
import type { HookAttempt, HookRun } from './hook-run.ts'
import { judgeAreas } from './judge-areas.ts'
import { judgePermissions } from './judge-permissions.ts'
import { isOwnTool } from './tool-name.ts'
import { type HookVerdict, strictest, type ToolUse } from './tool-use.ts'

/** What holds in a work tree while a tool is about to be called there. */
export interface HookSituation {
  readonly attempts: readonly HookAttempt[]
  readonly runs: readonly HookRun[]
  readonly settings: ReadonlyMap<SettingName, string>
}

/** What is said to a call. Null is no decision, and never a yes: the person's own permissions stay as they are. */
export function judgeToolUse(situation: HookSituation, use: ToolUse): HookVerdict | null {
  if (isOwnTool(use)) return null
  const { runs, attempts, settings } = situation
  return strictest([
    ...runs.map((run) => judgePermissions(run, use)),
    judgeAreas(attempts, use, settingOf(settings, 'hook_outside_areas')),
  ])
}

import { judgePath } from '../../track/scope/judge.ts'
import { isDeclared } from '../../track/scope/scope.ts'
import type { HookAttempt } from './hook-run.ts'
import type { HookVerdict, ToolUse } from './tool-use.ts'

const mostShown = 8

/**
 * What the areas of the open attempts say to an edit: it has to be in those of any of them. An attempt without areas
 * restricts nothing, and files outside the work tree are judged by nobody.
 */
export function judgeAreas(
  attempts: readonly HookAttempt[],
  { edits, file }: ToolUse,
  policy: string,
): HookVerdict | null {
  const declared = attempts.filter(({ scope }) => isDeclared(scope))
  if (policy === 'ignore' || !edits || file.where !== 'inside' || declared.length === 0) return null
  if (declared.some(({ scope }) => judgePath(scope, file.path) !== 'out')) return null
  const areas = [...new Set(declared.flatMap(({ attempt }) => attempt.areas))]
  const more = areas.length > mostShown ? ' and more' : ''
  const tasks = declared.map(({ attempt, task }) => `"${task}" (${attempt.taskId})`)
  const whose = tasks.slice(0, 3).join(', ') + (tasks.length > 3 ? ' and others' : '')
  return {
    decision: policy === 'deny' ? 'deny' : 'ask',
    reason: [
      `${file.path} is outside the areas of the open work on ${whose}: ${areas.slice(0, mostShown).join(', ')}${more}.`,
      `Keep to them, or declare this one first: start_task { "parent_task_id": "${declared[0]?.attempt.taskId ?? ''}",`,
      `"name": "…", "areas": [${JSON.stringify(file.path)}] }.`,
    ].join(' '),
  }
}

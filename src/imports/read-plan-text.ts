import type { PlanFormat } from '../ports/plan-files.ts'
import { readBacklog } from './backlog/read-backlog.ts'
import { readBeads } from './beads/read-beads.ts'
import type { ImportResult } from './import-result.ts'
import { readPlanJson } from './json/plan-json.ts'
import { readPlanJsonl } from './json/plan-jsonl.ts'
import { readMarkdownPlan } from './markdown/read-markdown-plan.ts'
import { readTaskMaster } from './task-master/read-task-master.ts'

/** Formats that are text, and nothing but a plan. */
export type TextFormat = Exclude<PlanFormat, 'journal' | 'taskman'>

export function readPlanText({
  format,
  text,
  name,
}: {
  readonly format: TextFormat
  readonly text: string
  readonly name: string
}): ImportResult {
  switch (format) {
    case 'markdown':
      return readMarkdownPlan(text)
    case 'json':
      return readPlanJson(text)
    case 'jsonl':
      return readPlanJsonl(text)
    case 'task-master':
      return readTaskMaster(text)
    case 'beads':
      return readBeads(text)
    case 'backlog':
      return readBacklog([{ path: name, text }])
  }
}

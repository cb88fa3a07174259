import { Failure } from '../../kernel/failure.ts'
import { isJsonObject, parseJsonOrText } from '../../kernel/json.ts'
import { excerpt } from '../../kernel/text.ts'
import { type DoneWhen, noDoneWhen, parseDoneWhen } from '../../plan/domain/done-when.ts'
import { isSensitiveList, sensitiveDefault } from '../../track/domain/scope/sensitive.ts'
import { completionModes } from '../../track/domain/verdict.ts'
import type { SettingName } from './run.ts'

interface SettingDefinition {
  readonly values: readonly [string, ...string[]]
  /** The first of the values unless a person sets another. */
  readonly meaning: string
  /** A date is taken too: the words of the list for it. */
  readonly date?: string
  /** A list of path patterns is taken too: the words of the list for it. */
  readonly patterns?: string
  /** The name of a branch is taken too: the words of the list for it. */
  readonly branch?: string
  /** A JSON object is taken too: the words of the list for it. */
  readonly json?: string
}

/** The settings of a project, with the meaning of each value. */
export const settingDefinitions = {
  elicitation: {
    values: ['off', 'on'],
    meaning:
      'Ask for decisions in the client of the agent too, not only in the inbox. A client can answer without its person.',
  },
  hook_out_of_scope: {
    values: ['ask', 'deny', 'ignore'],
    meaning:
      'What hooks do with an edit that is out of scope for the open attempts: "ask" the person, "deny" it, or "ignore" the scope.',
  },
  hook_on_error: {
    values: ['open', 'closed'],
    meaning: 'What hooks do when they fail: "open" leaves the decision to the client, "closed" denies.',
  },
  guard_git: {
    values: ['ask', 'deny', 'snapshot', 'off'],
    meaning:
      'What hooks do before a git command that would change uncommitted files of other agents: "ask" a person, "deny" it, or only keep a "snapshot". With "off", no snapshot either.',
  },
  stop_hook: {
    values: ['warn', 'block_once'],
    meaning:
      'What hooks do when an agent stops while its task is open: "warn" the person, or with "block_once" also send the agent back once if no file changed, a file changed that must not, or tests check less than before.',
  },
  inbox_gate: {
    values: ['blockers', 'all', 'none'],
    meaning:
      'Which open inbox items of a done task block the tasks that depend on it: "blockers" (with reviews and contradicted verdicts), "all" or "none". With "all", they also block the completion of their mission.',
  },
  upload_diff: {
    values: ['on', 'off'],
    meaning:
      'Let connected machines send the diff of a completed task to the server. Without it, others see only the list of files.',
  },
  retention_days: {
    values: ['off', '30', '90', '180', '365'],
    meaning:
      'Days to keep the diffs of attempts on other machines. Hashes, sizes and the log stay. Without it, diffs are kept forever.',
  },
  lines: {
    values: ['on', 'off'],
    meaning:
      'Record which lines each attempt made: positions and hashes, never the text. waymark blame needs it.',
  },
  every_agent_captured: {
    values: ['off'],
    date: 'a date such as 2026-11-01',
    meaning:
      'The date since when every agent here is recorded. Lines that no agent made after it then count as a person’s; without a date, such lines have no author.',
  },
  completion: {
    values: completionModes,
    meaning:
      'What follows when the measurement contradicts a completed task: with "review" it goes to the inbox, and dependent tasks wait. With "flag" it is only marked. With "refuse" the completion is rejected, and unproven tasks wait for a person.',
  },
  sensitive: {
    values: [sensitiveDefault],
    patterns: 'path patterns such as infra/, !docs/AGENTS.md',
    meaning:
      'Sensitive files: a person is asked when they change and neither the scope nor the outcome of the task names them. Default: CI definitions, scripts and install steps of manifests, git hooks, configuration of agents and clients. Patterns add files; patterns with ! remove files.',
  },
  default_branch: {
    values: ['automatic'],
    branch: 'a branch such as main or origin/develop',
    meaning:
      'The branch that finished work lands on. With "automatic": the default branch of origin, else init.defaultBranch, main or master, of origin if it has one.',
  },
  done_when: {
    values: ['none'],
    json: 'JSON such as {"check": ["npm test"], "keeps": ["LICENSE"]}',
    meaning:
      'What every task promises: criteria, check (commands that must pass), changes and keeps (path patterns). Missions and tasks add to it.',
  },
} as const satisfies Record<SettingName, SettingDefinition>

/** The fixed values of a setting; and in words, the other values that it takes, or null. */
export function settingValues(name: SettingName): {
  readonly values: readonly string[]
  readonly others: string | null
} {
  const { values, date, patterns, branch, json }: SettingDefinition = settingDefinitions[name]
  return { values, others: date ?? patterns ?? branch ?? json ?? null }
}

/** Whether a value is valid for a setting. */
export function isValidSetting(name: SettingName, value: string): boolean {
  const { values, date, patterns, branch, json }: SettingDefinition = settingDefinitions[name]
  if (values.includes(value) || (date !== undefined && dateIn(value) !== null)) return true
  if (json !== undefined && value.startsWith('{')) return parseDoneWhenSetting(value) !== null
  if (branch !== undefined) return /^[^\s~^:?*[\\\0-\x1f]{1,200}$/.test(value) && !value.includes('..')
  return patterns !== undefined && isSensitiveList(value)
}

/** Fails with INVALID_INPUT for JSON that promises nothing readable. */
function parseDoneWhenSetting(value: string): DoneWhen {
  const parsed = parseJsonOrText(value)
  if (isJsonObject(parsed)) return { ...noDoneWhen, ...parseDoneWhen(parsed) }
  throw new Failure('INVALID_INPUT', `done_when cannot be "${excerpt(value, 80)}": this is not JSON.`, {
    reason: 'done_when_invalid',
    hint: 'Example: waymark setting set done_when \'{"check": ["npm test"]}\'',
  })
}

/** What every task of the project promises; null for nothing. */
export function doneWhenOf(settings: ReadonlyMap<SettingName, string>): DoneWhen | null {
  const value = settingOf(settings, 'done_when')
  return value.startsWith('{') ? parseDoneWhenSetting(value) : null
}

/** The start of a day (UTC), milliseconds since the epoch; null if the text is no day. */
export function dateIn(value: string): number | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(value)) return null
  const time = Date.parse(`${value}T00:00:00Z`)
  return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== value ? null : time
}

/** The value of a setting, or its default. */
export function settingOf(settings: ReadonlyMap<SettingName, string>, name: SettingName): string {
  return settings.get(name) ?? settingDefinitions[name].values[0]
}

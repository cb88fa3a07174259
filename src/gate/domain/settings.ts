import { isSensitiveList, sensitiveDefault } from '../../track/domain/scope/sensitive.ts'
import type { SettingName } from './run.ts'

interface SettingDefinition {
  readonly values: readonly [string, ...string[]]
  /** The first of the values unless a person sets another. */
  readonly meaning: string
  /** A date is taken too: the words of the list for it. */
  readonly date?: string
  /** A list of path patterns is taken too: the words of the list for it. */
  readonly patterns?: string
}

/** What a person may set for a project, and what each word means. */
export const settingDefinitions = {
  elicitation: {
    values: ['off', 'on'],
    meaning:
      'Whether an agent’s client may put the question to its person. Clients can answer by themselves.',
  },
  hook_outside_areas: {
    values: ['ask', 'deny', 'ignore'],
    meaning: 'What the hook says to an edit outside the areas of the open attempts.',
  },
  hook_on_error: {
    values: ['open', 'closed'],
    meaning: 'What the hook does when it fails: leave the decision to the client, or deny.',
  },
  inbox_gate: {
    values: ['blockers', 'all', 'none'],
    meaning:
      'Which open inbox items keep a done task from being settled, so that what depends on it waits: blockers and reviews, all, or none. With all, no mission is completed while something waits.',
  },
  upload_diff: {
    values: ['on', 'off'],
    meaning:
      'Whether a machine that is connected to a server sends what a task changed, line by line, when it is completed. Without it, others see the list of files alone.',
  },
  retention_days: {
    values: ['off', '30', '90', '180', '365'],
    meaning:
      'How many days after its end what an attempt on another machine changed, line by line, is kept; its hash and size stay, and so does the log. Without it, everything is kept.',
  },
  lines: {
    values: ['on', 'off'],
    meaning:
      'Whether it is recorded which lines each attempt made: where they went and came, and hashes of them, never their text. Without it, waymark blame knows nothing of them.',
  },
  every_agent_captured: {
    values: ['off'],
    date: 'a date, as 2026-11-01',
    meaning:
      'Since when every agent that works here is recorded: then lines of later commits that no attempt made count as a person’s, in statistics and exports. Without it nobody is called human.',
  },
  sensitive: {
    values: [sensitiveDefault],
    patterns: 'path patterns, as infra/, !docs/AGENTS.md',
    meaning:
      'Which files ask a person when they change and neither the areas nor the outcome of a task names them. The default: CI definitions, scripts and install steps of manifests, git hooks, configuration of agents and their clients. Patterns add files, those with ! leave files out.',
  },
} as const satisfies Record<SettingName, SettingDefinition>

/** The words that a setting takes, for people. */
export function settingValues(name: SettingName): readonly string[] {
  const { values, date, patterns }: SettingDefinition = settingDefinitions[name]
  return [...values, ...(date === undefined ? [] : [date]), ...(patterns === undefined ? [] : [patterns])]
}

/** Whether a setting takes a value. */
export function isValidSetting(name: SettingName, value: string): boolean {
  const { values, date, patterns }: SettingDefinition = settingDefinitions[name]
  if (values.includes(value) || (date !== undefined && dateIn(value) !== null)) return true
  return patterns !== undefined && isSensitiveList(value)
}

/** The beginning of a day (UTC), milliseconds since the epoch; null for what names none. */
export function dateIn(value: string): number | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(value)) return null
  const time = Date.parse(`${value}T00:00:00Z`)
  return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== value ? null : time
}

/** What is set, or its default. */
export function settingOf(settings: ReadonlyMap<SettingName, string>, name: SettingName): string {
  return settings.get(name) ?? settingDefinitions[name].values[0]
}

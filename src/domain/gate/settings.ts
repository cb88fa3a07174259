import type { SettingName } from './run.ts'

interface SettingDefinition {
  readonly values: readonly [string, ...string[]]
  /** The first of the values unless a person sets another. */
  readonly meaning: string
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
  holds_gate: {
    values: ['blockers', 'all', 'none'],
    meaning:
      'Which open holds keep a done task from being settled, so that what depends on it waits: blockers and reviews, all, or none. With all, no mission is completed while something waits.',
  },
  upload_diff: {
    values: ['on', 'off'],
    meaning:
      'Whether a machine that is connected to a server sends what a task changed, line by line, when it is completed. Without it, others see the list of files alone.',
  },
  retention_days: {
    values: ['off', '30', '90', '180', '365'],
    meaning:
      'How many days after its end what an attempt on another machine changed, line by line, is kept; its hash and size stay, and so does the journal. Without it, everything is kept.',
  },
} as const satisfies Record<SettingName, SettingDefinition>

/** What is set, or its default. */
export function settingOf(settings: ReadonlyMap<SettingName, string>, name: SettingName): string {
  return settings.get(name) ?? settingDefinitions[name].values[0]
}

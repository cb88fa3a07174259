import { z } from 'zod'
import { settingNames } from '../../gate/domain/run.ts'
import { isValidSetting, settingDefinitions, settingOf, settingValues } from '../../gate/domain/settings.ts'
import { Failure } from '../../kernel/failure.ts'
import { didYouMean } from '../../kernel/nearest-word.ts'
import { choice } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { excerpt } from '../../kernel/text.ts'

export const settingList = defineOperation({
  name: 'setting_list',
  command: 'setting list',
  toolset: 'gate',
  audience: 'both',
  title: 'List the settings of the project',
  description: 'List the settings of this project with their values and the possible ones.',
  kind: 'query',
  input: z.strictObject({}),
  output: z.object({
    settings: list(
      z.object({
        name: z.enum(settingNames),
        value: z.string(),
        values: strings,
        /** Other values that it takes, in words; null if only those. */
        others: z.string().nullable(),
        meaning: z.string(),
      }),
    ),
  }),
}).handler(({ store }) =>
  store.view(async ({ runs }) => {
    const settings = await runs.settings()
    return {
      settings: settingNames.map((name) => {
        const { meaning } = settingDefinitions[name]
        return { name, value: settingOf(settings, name), ...settingValues(name), meaning }
      }),
    }
  }),
)

/** Characters: a list of paths or checks may be long. */
const maxValue = 10_000

export const settingSet = defineOperation({
  name: 'setting_set',
  command: 'setting set',
  toolset: 'gate',
  audience: 'person',
  title: 'Change a setting of the project',
  description: 'Change a setting of this project. The log records who did it.',
  kind: 'command',
  idempotent: true,
  positional: ['name', 'value'],
  input: z.strictObject({
    name: choice(settingNames, 'Name of the setting (waymark setting list)'),
    value: z.string().min(1).max(maxValue).describe('Its new value'),
  }),
  output: z.object({ name: z.enum(settingNames), value: z.string(), before: z.string() }),
}).handler(({ record }, { name, value }) => {
  if (!isValidSetting(name, value)) {
    const { values, others } = settingValues(name)
    throw new Failure(
      'INVALID_INPUT',
      `${name} cannot be "${excerpt(value, 100)}".${didYouMean(value, values)}`,
      {
        reason: 'setting_value_invalid',
        hint: `Choose one of ${[...values, ...(others === null ? [] : [others])].join(', ')}.`,
      },
    )
  }
  return record(async ({ runs }) => {
    const before = settingOf(await runs.settings(), name)
    return {
      events: before === value ? [] : [{ kind: 'setting.changed', name, value }],
      answer: { name, value, before },
    }
  })
})

import { z } from 'zod'
import { settingNames } from '../../domain/gate/happening.ts'
import { settingDefinitions, settingOf } from '../../domain/gate/settings.ts'
import { defineOperation } from '../operation.ts'

export const settingList = defineOperation({
  name: 'setting_list',
  command: 'setting list',
  toolset: 'gate',
  audience: 'both',
  title: 'Settings of the project',
  description: 'What people set for this project, and what else could be set.',
  kind: 'query',
  input: z.strictObject({}),
  output: z.looseObject({
    settings: z.array(z.looseObject({ name: z.string(), value: z.string(), values: z.array(z.string()) })),
  }),
}).handler(({ store }) =>
  store.view(async ({ runs }) => {
    const settings = await runs.settings()
    return {
      settings: settingNames.map((name) => {
        const { values, meaning } = settingDefinitions[name]
        return { name, value: settingOf(settings, name), values: [...values], meaning }
      }),
    }
  }),
)

import { entriesAt, textAt, textsAt } from './entry.ts'
import { blocks, indented } from './parts/sections.ts'
import type { View } from './view.ts'

/** Each setting with its value, what it decides, and what else it could be. */
export const settings: View = (answer, { ink }) =>
  blocks(
    ...entriesAt(answer, 'settings').map((setting) => {
      const [name, value] = [textAt(setting, 'name'), textAt(setting, 'value')]
      const choices = textsAt(setting, 'values').join(', ')
      return [
        `${name}: ${ink('bold', value)}`,
        indented(textAt(setting, 'meaning')),
        indented(ink('dim', `One of ${choices}: waymark setting set ${name} <value>`)),
      ].join('\n')
    }),
  )

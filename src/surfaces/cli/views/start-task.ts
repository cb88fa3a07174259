import { entriesAt, textAt, textsAt } from './entry.ts'
import { pairs, warnings } from './parts/sections.ts'
import type { View } from './view.ts'

export const startTask: View = (answer, page) => {
  const areas = entriesAt(answer, 'areas').map(
    (area) => `${textAt(area, 'area')} (${textAt(area, 'files')} files)`,
  )
  const lines = [
    `${page.ink('green', 'Started')} task ${page.ink('bold', textAt(answer, 'task_id'))}.`,
    pairs(
      [
        ['attempt', textAt(answer, 'attempt_id')],
        ['phase', textAt(answer, 'phase_number')],
        ['snapshot', `${textAt(answer, 'snapshot_type')} ${textAt(answer, 'snapshot_id').slice(0, 12)}`],
        ['areas', areas.join(', ')],
      ],
      page,
    ),
    warnings(textsAt(answer, 'warnings'), page),
  ]
  return lines.filter((line) => line !== '').join('\n')
}

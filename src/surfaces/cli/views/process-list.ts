import { counted } from '../text/count.ts'
import { table } from '../text/table.ts'
import { entriesAt, numberAt, textAt } from './entry.ts'
import type { View } from './view.ts'

export const processList: View = (answer, page) => {
  const rows = entriesAt(answer, 'processes').map((process) => {
    const errors = numberAt(process, 'errors')
    const standing = errors > 0 ? page.ink('red', counted(errors, 'error')) : page.ink('green', 'sound')
    return [
      textAt(process, 'process_id'),
      textAt(process, 'name'),
      textAt(process, 'version'),
      textAt(process, 'origin'),
      standing,
    ]
  })
  if (rows.length === 0) return 'There are no processes. Write one in .waymark/processes/<id>.yaml.'
  const columns = [{ title: 'id' }, { title: 'process', shrinks: true }, { title: 'version' }]
  return table([...columns, { title: 'from' }, { title: 'check' }], rows, page)
}

import { entriesAt, numberAt } from './entry.ts'
import { missionTable } from './parts/mission-table.ts'
import { nextPage } from './parts/next-page.ts'
import { blocks, cutNote } from './parts/sections.ts'
import type { View } from './view.ts'

export const listMissions: View = (answer, page) => {
  const missions = entriesAt(answer, 'missions')
  if (missions.length === 0)
    return 'There are no such missions. waymark mission list --status all shows every one.'
  return blocks(
    missionTable(missions, page),
    cutNote(missions.length, numberAt(answer, 'total'), nextPage(answer)),
  )
}

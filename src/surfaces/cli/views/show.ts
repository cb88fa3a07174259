import { textAt } from './entry.ts'
import { missionPage } from './parts/mission-page.ts'
import { taskPage } from './parts/task-page.ts'
import type { View } from './view.ts'

export const show: View = (answer, page) =>
  textAt(answer, 'kind') === 'task' ? taskPage(answer, page) : missionPage(answer, page)

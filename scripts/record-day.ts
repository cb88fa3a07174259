import { parseArgs } from 'node:util'
import { liveThroughDay } from './record-day/day.ts'
import { createRepository } from './record-day/repository.ts'
import { createTeam, report } from './record-day/team.ts'

/** Records a day of work for the demo, in real time: see record-day/README.md. `--pace 0.1` thinks ten times quicker. */
const { values } = parseArgs({
  options: { pace: { type: 'string', default: '1' }, to: { type: 'string', default: 'demo' } },
})
const repository = createRepository()
report(`recording in ${repository.home}`)
const team = createTeam(repository, Number(values.pace))
try {
  await liveThroughDay(team)
} finally {
  await team.leave()
}
const { keepRecording } = await import('./record-day/keep.ts')
await keepRecording(repository, values.to)
repository.remove()

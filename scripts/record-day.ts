import { parseArgs } from 'node:util'
import { castOn, say, thinkAt } from './record-day/cast.ts'
import { liveThroughDay } from './record-day/day.ts'
import { plantGround } from './record-day/ground.ts'

/** Records a day of real work for the demo, in real time: see demo/README.md. `--pace 0.1` thinks ten times quicker. */
const { values } = parseArgs({
  options: { pace: { type: 'string', default: '1' }, to: { type: 'string', default: 'demo' } },
})
const ground = plantGround()
say(`recording in ${ground.home}`)
const cast = castOn(ground, thinkAt(Number(values.pace)))
try {
  await liveThroughDay(cast)
} finally {
  await cast.leave()
}
const { keepRecording } = await import('./record-day/keep.ts')
keepRecording(ground, values.to)
ground.remove()

import { expect, test } from 'vitest'
import { contest } from './concurrency/contest.ts'
import { killing } from './concurrency/killing.ts'

const each = Number(process.env['WAYMARK_SOAK_EMITS'] ?? 1000)
const kills = Number(process.env['WAYMARK_SOAK_KILLS'] ?? 100)

test(`two processes emit ${each} events each`, async () => {
  const { conflicts } = await contest(each)
  console.log(`${2 * each} events accepted, ${conflicts} conflicts`)
})

test(`${kills} servers killed in the middle of events`, async () => {
  const { kept, lost } = await killing(kills)
  console.log(`killed before an event was kept ${lost} times, after it ${kept} times`)
  expect(Math.min(kept, lost), 'the kills never fell on both sides of an event').toBeGreaterThan(0)
})

import { expect, test } from 'vitest'
import { approvalsByEvent } from './approvals-by-event.ts'

test('lists an approval given with an event once, with that event', () => {
  const [go, yes] = [
    { by: 'agent', at: 1 },
    { by: 'tess', at: 3 },
  ]
  const [early, last] = [
    { by: 'ben', at: 2 },
    { by: 'tess', at: 3 },
  ]
  const { byEvent: of, alone } = approvalsByEvent(
    [go, yes],
    [early, last],
    ({ by, at }: typeof go) => `${by} ${at}`,
  )
  expect([of.get(go), of.get(yes), alone]).toEqual([[], [last], [early]])
})

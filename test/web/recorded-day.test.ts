import { test } from 'vitest'
import { useScreens } from '../support-web/screen.ts'

const { open, serving } = useScreens({ recorded: true })

test('a mission of the recorded day leads to what its first page promises', async () => {
  const { missions } = await serving().day.person('list_missions', {})
  const screen = await open(`/missions/${missions[0].mission_id}`)
  await screen.see(
    /asked a question: .*A claim was caught: .*sent work back: .*approved work: /,
    '.day-moments',
  )
  const [, caught] = screen.all('.day-moments a')
  screen.go(caught?.getAttribute('href') ?? '')
  await screen.see('Contradicted', '.task-verdict')
  await screen.see('Sent back', '.stream')
})

test('a mission that goes on once a person answers says that it needs them', async () => {
  const { missions } = await serving().day.person('list_missions', {})
  const waiting = missions.find(({ status }: { readonly status: string }) => status === 'BLOCKED')
  const screen = await open(`/missions/${waiting.mission_id}`)
  await screen.see('Needs you', '.mission-header h1')
})

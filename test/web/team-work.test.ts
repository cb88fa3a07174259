import { expect, test } from 'vitest'
import { useScreens } from '../support-web/screen.ts'

const ids = { mission: '', open: '', ben: '' }

const { open, serving } = useScreens({
  team: true,
  fill: async ({ away, write }, { call, ask }) => {
    await call('person_add', { name: 'Cleo' })
    await call('member_add', { person: 'Cleo', access: 'contributor' })
    const { secret: ben } = await call('token_create', { admin: true, person: 'Ben' })
    const { secret } = await call('token_create', { name: 'codex', person: 'Cleo' })
    const { mission_id } = await ask(secret, 'start_mission', { name: 'Discounts', objective: 'o' })
    const outcome = { summary: 'Changed src/diff/reader.ts.' }
    const { task_id } = await ask(secret, 'start_task', { mission_id, name: 'Here', goal: 'g' })
    write('src/here.ts', 'export const here = 1\n')
    await ask(secret, 'complete_task', { task_id, status: 'success', outcome })
    const there = await away('start_task', { mission_id, name: 'There', goal: 'g' })
    write('src/there.ts', 'export const there = 1\n')
    await away('complete_task', {
      task_id: there.task_id,
      status: 'success',
      outcome: { summary: 'Did it.' },
    })
    const started = await away('start_task', { mission_id, name: 'Open there', goal: 'g' })
    await ask(secret, 'start_task', { mission_id, name: 'Coupons', goal: 'g' })
    Object.assign(ids, { mission: mission_id, open: started.task_id, ben })
  },
})

const machineId = /\be-[0-9a-f]{8}/

test('an agent has one mark in the head of a card and in its claim, with its person behind it', async () => {
  const screen = await open('/', ids.ben)
  await screen.see('codex (Cleo)', '.card .claimed')
  const marks = (selector: string) => screen.all(`${selector} .agent-mark`).map(({ outerHTML }) => outerHTML)
  const [head] = marks('.card:has(.claimed) .card-by')
  expect(screen.text('.card .card-by')).toContain('codex (Cleo)')
  expect(new Set(marks('.card .claimed'))).toEqual(new Set([head]))
})

test('the page of a task that is open on another machine names the machine, and says nothing of a measurement', async () => {
  const screen = await open(`/tasks/${ids.open}`, ids.ben)
  await screen.see('In progress on machine the edge of the tests', 'main')
  const text = screen.text('main')
  expect(text).not.toMatch(machineId)
  expect(text).not.toMatch(/measured|tk-/i)
})

test('the processes of a project without files at the server are said to be in the clones', async () => {
  const screen = await open('/processes', ids.ben)
  await screen.see('Feature', 'main')
  expect(screen.text('main')).not.toContain('no files of the project')
  const { fetch } = globalThis
  globalThis.fetch = async (url, init) => {
    const response = await fetch(url, init)
    if (typeof url !== 'string' || !url.endsWith('/status')) return response
    return Response.json({ ...(await response.json()), witness: null })
  }
  try {
    await serving().call('start_mission', { name: 'Later', objective: 'o' })
    await screen.see('waymark process list lists them too', 'main')
  } finally {
    // The screen puts the real one back when it closes.
    globalThis.fetch = fetch
  }
})

test('a review of work on two machines names each work tree by its folder and machine', async () => {
  const screen = await open(`/review/mission/${ids.mission}`, ids.ben)
  await screen.see('there.ts', '.review-path')
  expect(screen.text('.review-tree')).toContain('diffkit on the edge of the tests')
  expect(screen.text('.review-file-words')).toContain('in diffkit on the server')
  expect(screen.text('main')).not.toMatch(machineId)
})

test('a stale attempt says who has no access any more, and has the answers and keys of the command line', async () => {
  await serving().call('person_disable', { person: 'Cleo' })
  const screen = await open('/', ids.ben)
  await screen.see('Cleo is disabled', '.card:has([href*="tasks"]) .card-question')
  const [card] = screen.all('.card').filter((one) => one.textContent?.includes('Cleo is disabled'))
  card?.dispatchEvent(new window.Event('pointerdown', { bubbles: true }))
  await screen.see('A abandon the attempt · R let it continue', '.hint')
  const verbs = [...(card?.querySelectorAll('.verbs button') ?? [])].map(({ textContent }) => textContent)
  expect(verbs).toEqual([
    expect.stringContaining('Abandon the attempt'),
    expect.stringContaining('Let it continue'),
  ])
})

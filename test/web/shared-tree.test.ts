import { expect, test } from 'vitest'
import { useScreens } from '../support-web/screen.ts'

const command = `node -e "process.exit(0)"`
const otherCommand = `node -e "process.exitCode = 0"`
const ids = { cart: '', format: '', checked: '', allowed: '' }

const { open, serving } = useScreens({
  fill: async ({ person, agent, write }) => {
    const start = async (name: string, areas: readonly string[]) =>
      (await agent(name)('start_task', { name: `Work of ${name}`, agent_name: name, areas })).task_id
    ids.cart = await start('alice', ['src/cart.js'])
    ids.format = await start('bob', ['src/format.js'])
    write('src/cart.js', 'export const cart = 1\n')
    write('src/format.js', 'export const format = 1\n')
    const outcome = (summary: string) => ({
      summary,
      manual_review_needed: true,
      manual_review_reason: 'Is it right?',
    })
    await agent('bob')('complete_task', {
      task_id: ids.format,
      status: 'success',
      outcome: outcome('Formats money.'),
    })
    await agent('alice')('complete_task', {
      task_id: ids.cart,
      status: 'success',
      outcome: outcome('Has a cart.'),
    })
    await person('taskman_phase_add', { id: 'P1', name: 'Shop' })
    const finish = async (title: string, check: string) => {
      const planned = { title, phase: 'P1', done_when: { check: [check] } }
      const { id } = await person('taskman_task_add', planned)
      await agent('cara')('start_task', { planned_task_id: id, areas: ['src/discount.js'] })
      write('src/discount.js', `export const discount = "${title}"\n`)
      await agent('cara')('complete_task', {
        task_id: id,
        status: 'success',
        outcome: { summary: 'Did it.' },
      })
      return id
    }
    ids.allowed = await finish('Add a coupon', otherCommand)
    const { items } = await person('inbox', { kind: 'command' })
    await person('approve', { id: items[0].item_id })
    write('src/discount.js', 'export const discount = 0\n')
    ids.checked = await finish('Add a discount', command)
  },
})

test('the card of a review shows only a file that is measured as its task’s', async () => {
  const screen = await open('/')
  const shown = () =>
    screen.all('.card').flatMap((card) => {
      const task = [ids.cart, ids.format].find((id) => card.querySelector(`h2 a[href*="${id}"]`))
      const file = card.querySelector('.first-hunk a')?.textContent
      return task && file ? [[task, file]] : []
    })
  await expect.poll(shown).toHaveLength(2)
  expect(Object.fromEntries(shown())).toEqual({ [ids.cart]: 'src/cart.js', [ids.format]: 'src/format.js' })
})

test('a task names the files of others without what its agent should do', async () => {
  const screen = await open(`/tasks/${ids.cart}`)
  await screen.see('src/format.js (bob)', '.warnings')
  expect(screen.text('.warnings')).not.toContain('your summary')
})

test('a command is allowed by its name, without a diff, and the check that waited for it runs', async () => {
  const screen = await open('/')
  await expect.poll(() => screen.named(`Allow ${command} A`).length).toBe(1)
  const card = screen.all('.card').find(({ textContent }) => textContent?.includes('Do not allow'))
  expect(card?.querySelector('.first-hunk')).toBeNull()
  await screen.click(`Allow ${command} A`)
  await screen.see(`Allowed ${command}`, '.toasts')
  // An answer can be taken back for five seconds.
  await screen.see('Verdict: proven', '.toasts')
  screen.go(`/tasks/${ids.checked}`)
  await expect.poll(() => screen.text('.completion-verdict')).toContain('Proven')
  expect(screen.named('Run the check')).toEqual([])
}, 20_000)

test('a check runs from the page of its task', async () => {
  const screen = await open(`/tasks/${ids.allowed}`)
  await screen.see('Unproven', '.task-verdict')
  await screen.click('Run the check')
  await screen.see('passed', '[role=status]')
})

test('a review shows the words with which the work was sent back', async () => {
  const text = 'Round the cart to cents.'
  const subject = { task: ids.cart }
  await serving().day.person('review_send', { subject, action: 'send_back', text })
  const screen = await open(`/review/task/${ids.cart}`)
  await screen.see(text, '.review-request')
  screen.go(`/tasks/${ids.cart}`)
  await screen.see(/^Sent back .*Tess/, '.stream')
})

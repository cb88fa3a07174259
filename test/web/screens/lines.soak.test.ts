import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { git } from '../../support/git.ts'
import { useDashboard } from '../../support-web/dashboard.ts'
import { lines } from '../../support-web/day.ts'
import { violationsOf } from '../../support-web/violations.ts'
import { otherTheme, overhang } from '../looks.ts'

const outcome = { summary: 'Renames are read.', achievements: [], limitations: [] }
const told = { task: '', committed: '' }

const { serving, open } = useDashboard({
  fill: async (day) => {
    const vera = day.agent('vera')
    const { mission_id } = await vera('start_mission', { name: 'Reading', objective: 'Patches are read' })
    const begun = { mission_id, agent_name: 'vera', goal: 'Read renames of files' }
    const { task_id } = await vera('start_task', { ...begun, name: 'Read renames' })
    told.task = task_id
    await vera('log_decision', {
      task_id,
      category: 'trade_off',
      question: 'How are renames told?',
      chosen: 'By similarity',
      options_considered: ['By similarity', 'By inode'],
      reasoning: 'Inodes are not in a patch.',
    })
    const first = ['// read a rename of a file', 'export const rename = 1', 'export const limit = 10']
    day.write('src/diff/index.ts', `export * from './reader.ts'\n${first.join('\n')}\n`)
    day.write(
      'src/long.ts',
      lines(6_000, (at) => `export const value${at} = ${at}`),
    )
    await vera('complete_task', { task_id, status: 'success', outcome })
    const subject = { task: task_id }
    const { content } = await day.person('review_show', subject)
    const comment = { subject, path: 'src/diff/index.ts', line: 2, kind: 'question', text: 'Of folders too?' }
    await day.person('review_comment', comment)
    await day.person('review_send', { subject, action: 'comment', content, viewed: true })
    git(day.folder, 'add', '-A')
    git(day.folder, '-c', 'user.name=Pia', '-c', 'user.email=p@x', 'commit', '-qm', 'Read renames')
    told.committed = git(day.folder, 'rev-parse', 'HEAD').trim()
    // A person, while no attempt is open; then another agent, so that it is seen.
    day.write(
      'src/diff/index.ts',
      `export * from './reader.ts'\n${first.join('\n')}\nexport const person = 5\n`,
    )
    const next = await day.agent('otto')('start_task', { name: 'More', agent_name: 'otto', mission_id })
    day.write('src/other.ts', 'export const other = 1\n')
    await day.agent('otto')('complete_task', { task_id: next.task_id, status: 'success', outcome })
    writeFileSync(join(day.folder, 'picture.bin'), Buffer.from([0, 1, 2, 0]))
    day.write('.env', 'TOKEN=marked-secret\n')
    day.write(
      '<img src=x onerror="window.ran=1">.ts',
      `const a = 1 // \u202e evil\n<script>window.ran=1</script>\n${'x'.repeat(9_000)}\n`,
    )
    day.write('empty.txt', '')
  },
})

test('each line says who it is from, and the chosen one why it is there, by keys and by address', async () => {
  const { page, complaints } = await open({ path: '/lines?file=src/diff/index.ts', colorScheme: 'light' })
  const margins = page.getByRole('list', { name: 'Author of each line' }).getByRole('listitem')
  await margins.first().waitFor()
  const said = (await margins.allTextContents()).map((text) => text.replaceAll(/\s+/g, ' '))
  expect(said).toHaveLength(3)
  expect(said[0]).toMatch(/Tess Example.*not recorded/)
  expect(said[1]).toMatch(/vera.*Read renames of files.*lines 2 to 4/)
  expect(said[2]).toMatch(/No attempt.*a person, or an unseen tool.*line 5/)
  await page.locator('.lines-row [data-colour="keyword"]').first().waitFor()

  for (const key of ['j', 'j', 'j', 'k']) await page.keyboard.press(key)
  await page.waitForURL(/line=2$/)
  const why = page.getByRole('complementary', { name: 'History of line 2' })
  await why.getByText(`Made by vera for task ${told.task}`).waitFor()
  for (const text of [
    'Read renames of files',
    'Reading',
    'By similarity',
    'Inodes are not in a patch.',
    'Of folders too?',
  ])
    await why.getByText(text, { exact: false }).first().waitFor()
  await why.getByText('Instead of: By inode').waitFor()
  await why.getByText(told.committed.slice(0, 8)).last().waitFor()
  expect(await violationsOf(page)).toEqual([])
  await otherTheme(page, 'light')
  expect(await violationsOf(page, ['color-contrast'])).toEqual([])

  await page.keyboard.press('.')
  await page.waitForURL(/line=5$/)
  await page.getByText('Changed while no attempt was open: by a person or an unrecorded tool.').waitFor()
  await page.keyboard.press(',')
  await page.waitForURL(/line=2$/)
  await why.getByRole('link', { name: 'Before it' }).click()
  await page.getByText(/at commit [0-9a-f]{8}/).waitFor()
  expect(await page.locator('.lines-row').count()).toBe(1)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goBack()
  await why.getByText('Made by vera').waitFor()
  await expect.poll(() => overhang(page)).toBe(0)
  await why.getByRole('link', { name: 'Read renames', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Read renames' }).waitFor()
  expect(complaints).toEqual([])
})

test('an address finds a line by its text after it moved, and a live end of work is shown without reloading', async () => {
  const { page } = await open({ path: `/tasks/${told.task}/diff` })
  await page.getByTitle('Show who wrote the line, and why').filter({ hasText: /^4$/ }).first().click()
  await page.getByRole('complementary', { name: 'History of line 4' }).getByText('Made by vera').waitFor()
  const { day } = serving()
  const ida = day.agent('ida')
  const { task_id } = await ida('start_task', { name: 'Say it', goal: 'Say what is read', agent_name: 'ida' })
  const now = [
    '// what is read, and what is not',
    "export * from './reader.ts'",
    '// read a rename of a file',
    'export const rename = 1',
    'export const limit = 10',
    'export const person = 5',
  ]
  day.write('src/diff/index.ts', `${now.join('\n')}\n`)
  await ida('complete_task', { task_id, status: 'success', outcome })
  await page.getByRole('list', { name: 'Authors' }).getByText('ida', { exact: true }).waitFor()
  // The chosen line moved down by one, and stays chosen.
  await page.getByRole('complementary', { name: 'History of line 5' }).waitFor()
  await page.goto(`${serving().address}/tasks/${told.task}/diff`)
  await page.getByTitle('Show who wrote the line, and why').filter({ hasText: /^4$/ }).first().click()
  await page.getByRole('complementary', { name: 'History of line 5' }).getByText('Made by vera').waitFor()
})

test('the statistics tell shares of lines with n and definition, and what lives on by age', async () => {
  const { page, complaints } = await open({ path: '/statistics?by=agent' })
  await page.keyboard.press('6')
  await page.waitForURL(/by=lines/)
  const card = page.locator('.figure-card', { hasText: 'Lines by agents' })
  await card.getByText('of lines with a known author').waitFor()
  const told = await serving().day.person('provenance_stats', {})
  await card
    .getByText(
      `${(told.kinds.agent + told.kinds.outside + told.kinds.human).toLocaleString('en')} lines with a known author`,
    )
    .waitFor()
  const row = page.getByRole('table', { name: 'Lines by agent' }).getByRole('row', { name: /vera/ })
  expect(await row.getByRole('cell').first().textContent()).toBe(told.groups[0].lines.toLocaleString('en'))
  await page.getByRole('table', { name: 'Surviving lines, by age' }).getByText('within a day').waitFor()
  // All work of this day is younger.
  const reworked = page.locator('.figure-card', { hasText: 'Reworked within 14 days' })
  await reworked.getByText('No attempt ended 14 days ago yet').waitFor()
  expect(await reworked.locator('.figure-value').textContent()).toBe('– by agents, – outside')
  await page.getByRole('combobox', { name: 'Lines by' }).selectOption('mission')
  await page
    .getByRole('row', { name: /Reading/ })
    .getByRole('link')
    .waitFor()
  expect(complaints).toEqual([])
})

test('6,000 lines scroll with a few of them drawn; what has no lines to show says so', async () => {
  const { page, show, complaints } = await open({ path: '/lines?file=src/long.ts&line=5500' })
  await page.locator('.lines-row[aria-current]', { hasText: 'value5499' }).waitFor()
  expect(await page.locator('.lines-row').count()).toBeLessThan(120)
  await page.locator('.lines-pane').evaluate((pane) => pane.scrollTo(0, 40_000))
  await page.locator('.lines-row', { hasText: 'value2005 ' }).waitFor()
  expect(await page.locator('.lines-row').count()).toBeLessThan(120)
  const says = async (path: string, text: string) => {
    await show(path)
    await page.getByText(text).first().waitFor()
  }
  await says('/lines?file=picture.bin', 'picture.bin is not a text file.')
  await says('/lines?file=empty.txt', 'The file is empty.')
  await says('/lines?file=no/such.ts', 'There is no file no/such.ts')
  await says('/lines?file=../../etc/passwd', 'is not in the work tree')
  await show('/lines?file=.git/config')
  await page.locator('main').getByText('.git/config', { exact: true }).waitFor()
  expect(await page.locator('.lines-row').count()).toBe(0)
  await says('/lines?file=src', 'src is a folder')
  await says('/lines?file=README.md&rev=nowhere', 'There is no commit "nowhere"')
  await says('/lines?file=.env', '.env has the name of a secret file')
  expect(await page.content()).not.toContain('marked-secret')
  await says(`/lines?file=${encodeURIComponent('<img src=x onerror="window.ran=1">.ts')}`, 'U+202E')
  await page.getByText('8,000 more characters').waitFor()
  await show('/lines')
  await page.getByLabel('File, from the top of the work tree').fill('README.md:3')
  await page.keyboard.press('Enter')
  await page.getByRole('complementary', { name: 'History of line 3' }).waitFor()
  expect(await page.evaluate(() => 'ran' in window)).toBe(false)
  expect(complaints.filter((text) => !text.includes('the server responded with a status of 4'))).toEqual([])
})

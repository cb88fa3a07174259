import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { useDashboard } from '../../support-web/dashboard.ts'
import { fillHostileDay, hostile } from '../../support-web/hostile-day.ts'
import { fillHostileProcess } from '../../support-web/hostile-process.ts'
import { journey } from '../../support-web/journey.ts'

const paths: string[] = []
const picture = 'src/<svg onload=window.ran=1>.svg'
const link = '[x](javascript:window.ran=1) <a href="javascript:window.ran=1">y</a>'

const { serving, open } = useDashboard({
  fill: async (day) => {
    const seen = [...(await fillHostileDay(day)), ...(await fillHostileProcess(day))]
    const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: day.context.folder })
    git('checkout', '-qb', '<img/src=x/onerror=window.ran=1>')
    const agent = day.agent(hostile('painter'))
    const { task_id } = await agent('start_task', { name: link, areas: ['src/**'] })
    await day.person('taskman_task_note_add', { id: task_id, content: link })
    day.write(
      picture,
      '<svg xmlns="http://www.w3.org/2000/svg" onload="window.ran=1"><script>window.ran=1</script></svg>',
    )
    day.write('src/readme.md', `# ${link}\n`)
    await agent('complete_task', { task_id, status: 'success', outcome: { summary: link } })
    const file = encodeURIComponent(picture)
    paths.push(
      ...new Set(seen.map(({ path }) => path)),
      `/review/task/${task_id}`,
      `/tasks/${task_id}`,
      `/tasks/${task_id}/diff`,
      '/review',
      `/lines?file=${file}&line=1`,
      '/dependencies',
      '/history',
      '/statistics?since=all',
      '/agents',
      '/projects',
      '/settings',
      '/start',
      `/nowhere/${encodeURIComponent(link)}`,
    )
  },
})

journey('runs no payload on any route, and each answers its content security policy', async () => {
  const { page, show, complaints } = await open({ path: '/' })
  const policy = (await page.request.get(serving().address)).headers()['content-security-policy']
  expect(policy).toMatch(/^default-src 'self';.*object-src 'none'; base-uri 'none'/)
  expect(policy).not.toContain('unsafe-')
  for (const path of paths) {
    await show(path)
    await page.locator('main h1, main .lines-form, main h2').first().waitFor()
    await expect.poll(() => page.locator('main [aria-busy=true]').count()).toBe(0)
    const found = await page.evaluate(
      () =>
        `${'ran' in window} ${document.querySelectorAll('#app script, #app svg script, a[href^="javascript:" i], [onerror], [onload]').length}`,
    )
    expect([path, found]).toEqual([path, 'false 0'])
    expect([
      path,
      (await page.request.get(serving().address + path)).headers()['content-security-policy'],
    ]).toEqual([path, policy])
  }
  const visited = (name: string) => paths.some((path) => path.split('/')[1]?.split('?')[0] === name)
  const routes = readFileSync(new URL('../../../web/router/routes.ts', import.meta.url), 'utf8')
  const names = [...routes.matchAll(/path: '\/([a-z]*)/g)].flatMap(([, name = '']) => name || [])
  expect(names.length).toBeGreaterThan(15)
  const missing = names.filter((name) => !visited(name))
  expect(missing).toEqual([])
  const image = await page.goto(
    `${serving().address}/api/review/image?path=${encodeURIComponent(picture)}&side=new`,
  )
  expect(image?.status()).toBeGreaterThanOrEqual(400)
  expect(await page.evaluate(() => 'ran' in window)).toBe(false)
  expect(complaints.filter((text) => !text.includes('Failed to load resource'))).toEqual([])
})

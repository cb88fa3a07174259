import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { useDashboard } from '../../support-web/dashboard.ts'

let [ended, settled] = ['', '']
const { open } = useDashboard({
  fill: async (day) => {
    const work = async (name: string, areas: readonly string[]) =>
      day.agent(name)('start_task', { name: `Work of ${name}`, agent_name: name, areas })
    const reader = await work('reader-agent', ['src/diff/reader.ts'])
    const parser = await work('parser-agent', ['src/diff/regex-parser.ts'])
    day.write('src/diff/reader.ts', 'export const line0 = 1\n')
    day.write('src/diff/regex-parser.ts', '// rewritten\n')
    day.write('src/diff/index.ts', "export * from '../../web/regex-parser.ts'\n")
    const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: day.folder })
    git('add', 'src/diff/reader.ts')
    git('-c', 'user.name=Tess', '-c', 'user.email=tess@example.com', 'commit', '-qm', 'Read one line')
    const end = (name: string, task_id: string, summary: string) =>
      day.agent(name)('complete_task', { task_id, status: 'success', outcome: { summary } })
    await end('reader-agent', reader.task_id, 'Reads one line.')
    await end('parser-agent', parser.task_id, 'Rewrote the parser, and src/diff/index.ts with it.')
    ended = reader.task_id
    settled = parser.task_id
  },
})

test.each(['light', 'dark'] as const)(
  '%s: a task says what is probably of others, with whom, and which commits were made',
  async (colorScheme) => {
    const { page, complaints } = await open({ path: `/tasks/${ended}`, colorScheme })
    await page.getByText('1 file, in scope').waitFor()
    const others = page.getByRole('region', { name: 'Probably by others' })
    await others.getByText('src/diff/regex-parser.ts').waitFor()
    await others.getByText('parser-agent').first().waitFor()
    await page.getByText('probably by this agent, with parser-agent').waitFor()
    const commits = page.getByRole('region', { name: 'Commits' })
    await commits.getByText('Read one line').waitFor()
    expect(await commits.getByText(/by this agent|by another agent|author unknown/).count()).toBe(1)
    if (process.env['WAYMARK_PICTURES'])
      await page.screenshot({
        path: `${process.env['WAYMARK_PICTURES']}/shared-${colorScheme}.png`,
        fullPage: true,
      })
    expect(complaints).toEqual([])
  },
)

test('what the agent’s word settled is said', async () => {
  const { page } = await open({ path: `/tasks/${settled}` })
  const word = page.getByRole('region', { name: 'Counted by the agent’s claim' })
  await word.getByText('src/diff/index.ts').waitFor()
})

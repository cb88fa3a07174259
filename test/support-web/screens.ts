import { execFileSync } from 'node:child_process'
import type { Page } from 'playwright-core'
import type { OpenPage } from './dashboard.ts'
import type { Day } from './day.ts'

/** A view as it is when it has something to show. */
export interface Screen {
  readonly path: string
  /** What is on it once everything was read. */
  readonly shows: string
  /** Opens what lies over it. */
  readonly opens?: (page: Page) => Promise<void>
}

/** Every view of a project in which much happened, with what lies over a view. */
export async function screensOf(day: Day): Promise<readonly Screen[]> {
  const { missions } = await day.person('list_missions', { status: 'all' })
  const tasksOf = (mission: { readonly [count: string]: number }) =>
    (mission['done_tasks'] ?? 0) + (mission['open_tasks'] ?? 0) + (mission['to_do_tasks'] ?? 0)
  const [largest] = missions.toSorted(
    (a: Parameters<typeof tasksOf>[0], b: Parameters<typeof tasksOf>[0]) => tasksOf(b) - tasksOf(a),
  )
  const mission = `/missions/${largest.mission_id}`
  const { columns } = await day.person('board', {})
  const reviewed = `/tasks/${columns.review[0].id}`
  const active = `/tasks/${columns.active[0].id}`
  const { runs } = await day.person('state_gate_list_runs', { status: 'all' })
  // One of each standing: they look alike.
  const standings = new Map<string, string>(
    runs.map(({ status, run_id }: { readonly status: string; readonly run_id: string }) => [status, run_id]),
  )
  const { sessions } = await day.person('sessions', {})
  const session = sessions.find(({ files }: { readonly files: number }) => files > 0).session_id
  const [{ turn_id: turn }] = (await day.person('sessions_show', { id: session })).turns
  // In the project's own folder: agents of the day worked in other work trees, too.
  const tracked = execFileSync('git', ['ls-files', '*.ts', '*.js', '*.md'], { cwd: day.context.folder })
  const file = encodeURIComponent(tracked.toString().split('\n')[0] ?? '')
  return [
    { path: '/', shows: '.card .verbs' },
    { path: '/board', shows: '.task-card' },
    { path: '/missions', shows: '.mission-list li' },
    { path: mission, shows: '.bar-box' },
    { path: `${mission}/board`, shows: '.mission-board li' },
    { path: `${mission}/dependencies?as=graph`, shows: '.node, .dependencies-note' },
    { path: `${mission}/changes`, shows: '.change-tree' },
    { path: `${mission}/decisions`, shows: '.decisions li, .tab-page .empty' },
    { path: `${mission}/log`, shows: '.log-list li' },
    { path: reviewed, shows: '.task .changes-head' },
    { path: `${reviewed}/diff`, shows: '.whole-diff .diff-line' },
    { path: active, shows: '.task .changes-head' },
    { path: `/review${reviewed.replace('tasks', 'task')}`, shows: '.review-line .line-text' },
    { path: `/review/mission/${largest.mission_id}`, shows: '.review-line .line-text' },
    { path: '/review', shows: '.review-line .line-text' },
    { path: '/lines', shows: '.lines-form' },
    { path: `/lines?file=${file}&line=1`, shows: '.why-history' },
    { path: '/plan', shows: '.plan-row' },
    { path: '/dependencies?as=graph', shows: '.node' },
    { path: '/dependencies?as=list', shows: '.dependency-list li' },
    { path: '/processes', shows: '.rows li' },
    { path: '/processes/feature', shows: '.next-events li' },
    { path: '/processes/feature?tab=parts', shows: '.defined dt' },
    { path: '/processes/feature?tab=source', shows: '.source-line' },
    ...[...standings.values()].map((run) => ({ path: `/runs/${run}`, shows: '.machine-state' })),
    { path: '/history', shows: '.mission-list li' },
    { path: '/history?of=runs', shows: '.rows li, .empty' },
    { path: '/history?of=sessions', shows: '.session-list li' },
    { path: `/history?of=sessions&session=${session}&turn=${turn}`, shows: '.turn .diff-line' },
    { path: '/log', shows: '.log-row' },
    { path: '/statistics?since=all', shows: '.figure-card' },
    { path: '/statistics?by=agent&since=all', shows: '.group-table td' },
    { path: '/statistics?by=lines', shows: '.line-kinds' },
    { path: '/settings/project', shows: '.settings-row' },
    { path: '/start', shows: 'main pre, main .snippet' },
    { path: '/nowhere', shows: 'h1:has-text("Page not found")' },
    {
      path: '/missions',
      shows: 'dialog.palette [role=option]',
      opens: (page) => page.keyboard.press('Control+k'),
    },
    { path: '/missions', shows: 'dialog.help-sheet dt', opens: (page) => page.keyboard.press('?') },
  ]
}

/** Goes to a screen, and waits until what it shows is there. */
export async function see({ page, show }: OpenPage, { path, shows, opens }: Screen): Promise<void> {
  // What lies over a view stays when the address changes.
  while ((await page.locator('dialog[open]').count()) > 0) await page.keyboard.press('Escape')
  await show(path)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await opens?.(page)
  await page.locator(shows).first().waitFor()
}

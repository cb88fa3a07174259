import { age } from '../text/age.ts'
import { counted } from '../text/count.ts'
import { table } from '../text/table.ts'
import { type Entry, entriesAt, numberAt, textAt, textsAt } from './entry.ts'
import { missionTable } from './parts/mission-table.ts'
import { blocks, cutNote, indented, pairs, section, warnings } from './parts/sections.ts'
import type { Page, View } from './view.ts'

export const status: View = (answer, page) => {
  const missions = entriesAt(answer, 'missions')
  const waiting = numberAt(answer, 'waiting')
  return blocks(
    pairs(
      [
        ['project', textAt(answer, 'project')],
        ['record', recordLine(answer)],
        ['witness', textAt(answer, 'witness')],
      ],
      page,
    ),
    missions.length === 0 && numberAt(answer, 'facts') <= 1 ? section('First steps', firstSteps, page) : '',
    section('Open missions', missionTable(missions, page), page),
    cutNote(missions.length, numberAt(answer, 'missions_total'), 'waymark mission list shows the others.'),
    section('Running now', runningTable(entriesAt(answer, 'running'), page), page),
    waiting === 0
      ? 'Nothing waits for you.'
      : page.ink(
          'yellow',
          `${counted(waiting, 'thing')} ${waiting === 1 ? 'waits' : 'wait'} for you: waymark inbox`,
        ),
    warnings(textsAt(answer, 'warnings'), page),
  )
}

const firstSteps = indented(
  [
    'waymark import plan.md                   reads a plan: headings are phases, lists are tasks',
    'waymark phase add --id P1 --name Design  begins one by hand; then waymark task add --phase P1 --title "…"',
    'claude mcp add waymark -- waymark mcp    connects an agent, here Claude Code; any MCP client runs waymark mcp',
    'waymark serve --open                     opens the dashboard',
    'waymark demo play                        plays a recorded day, in a folder of its own',
  ].join('\n'),
)

function recordLine(answer: Entry): string {
  const database = textAt(answer, 'database')
  if (answer['recorded'] !== true) return `${database}, made when something is recorded`
  return `${database}, ${counted(numberAt(answer, 'facts'), 'fact')}`
}

function runningTable(running: readonly Entry[], page: Page): string {
  const columns = [
    { title: 'id' },
    { title: 'task', shrinks: true },
    { title: 'agent' },
    { title: 'started' },
    { title: 'last call' },
  ]
  const rows = running.map((task) => [
    textAt(task, 'task_id'),
    textAt(task, 'name'),
    textAt(task, 'agent_name'),
    age(textAt(task, 'started_at'), page.now),
    task['stale'] === true
      ? page.ink('red', `stale, ${age(textAt(task, 'last_call_at'), page.now)}`)
      : age(textAt(task, 'last_call_at'), page.now),
  ])
  return table(columns, rows, page)
}

import type { Tree } from './repository.ts'
import {
  type Agent,
  type GatedMission,
  plannedTask,
  report,
  startGatedMission,
  success,
  type Team,
} from './team.ts'

/** A mission whose first task claims tests that do not exist. It is contradicted and sent back; the second try is proven. */
export async function buildSearch(team: Team, cursor: Agent, tree: Tree): Promise<void> {
  const { think } = team
  const mission = await startGatedMission(cursor, 'cursor', {
    name: 'Search',
    objective: 'Customers find a book by a part of its title or the name of its author.',
    profile: 'simple',
    scope: 'src/search.ts, test/search.test.ts',
  })
  const search = await claimTooMuch(team, { cursor, mission, tree })
  await sendBack(team, search)
  await reworkSearch(team, { cursor, mission, tree })
  await think(6)
  await submitSearch(team, mission)
  await filterResults(team, { cursor, mission, tree })
}

interface SearchWork {
  readonly cursor: Agent
  readonly mission: GatedMission
  readonly tree: Tree
}

const areas = ['src/search.ts', 'test/search.test.ts']

async function claimTooMuch(team: Team, { cursor, mission, tree }: SearchWork): Promise<string> {
  const { think } = team
  await think(6)
  const task = await mission.start(1, 'Find', {
    planned_task_id: plannedTask(team, 'search'),
    goal: 'A part of a title or of a name finds the book',
    areas,
  })
  await think(16)
  tree.writeStep('search')
  tree.commit('Search books by title and author')
  await think(5)
  report('cursor claims tests that do not exist')
  await cursor.call(
    'complete_task',
    success(
      task,
      'Added src/search.ts and tests in test/search.test.ts. All tests pass.',
      {
        achievements: ['Search by title and author'],
        manual_review_needed: true,
        manual_review_reason: 'Is the order of the results right?',
      },
      { packages_added: ['fuse.js'], commands_executed: ['npm test'], tests_status: 'passed' },
    ),
  )
  return task.task_id
}

async function sendBack(team: Team, taskId: string): Promise<void> {
  await team.think(12)
  report('Tess approves the check')
  for (const item of team.person('inbox', '--kind', 'command').items) team.person('approve', item.item_id)
  await team.think(6)
  report('Tess sends the search back')
  team.comment(taskId, 'return books.filter', '! "le guin" finds nothing. Ignore case and accents, please.')
  const { content } = team.person('review', 'show', taskId)
  team.person(
    'review',
    taskId,
    '--send-back',
    '--text',
    'test/search.test.ts is not there. Please add the tests, and list matching titles first.',
    '--content',
    content,
  )
}

async function reworkSearch(team: Team, { cursor, mission, tree }: SearchWork): Promise<void> {
  const { think } = team
  await think(8)
  const task = await mission.start(1, 'Find', {
    planned_task_id: plannedTask(team, 'search'),
    goal: 'What the review asks for',
    areas,
  })
  await think(14)
  tree.writeStep('search-ranked')
  tree.commit('Ignore case and accents in the search, and test it')
  for (const comment of team.person('review', 'comments', task.task_id).comments) {
    await cursor.call('reply_to_review', {
      comment_id: comment.comment_id,
      text:
        comment.path === null
          ? 'Added five tests; matching titles come first.'
          : 'Both sides are compared in lower case without accents.',
      done: true,
    })
    await think(2)
  }
  await cursor.call(
    'complete_task',
    success(
      task,
      'src/search.ts ignores case and accents and lists matching titles first. test/search.test.ts has five tests.',
      { manual_review_needed: true, manual_review_reason: 'You asked for changes.' },
      { commands_executed: ['npm test'], tests_status: 'passed', tokens_input: 33_800, tokens_output: 5_100 },
    ),
  )
  await think(14)
  report('Tess approves the search')
  const { content } = team.person('review', 'show', task.task_id)
  team.person('review', task.task_id, '--approve', '--content', content)
}

/** The gate runs the tests, which are approved, and waits for a person until the end of the day. */
async function submitSearch(team: Team, mission: GatedMission): Promise<void> {
  await team.think(6)
  await mission.submit('call')
}

async function filterResults(team: Team, { cursor, mission, tree }: SearchWork): Promise<void> {
  const { think } = team
  await think(6)
  const task = await mission.start(2, 'Filter', {
    planned_task_id: plannedTask(team, 'filter'),
    goal: 'Results between two prices',
    areas,
  })
  await think(16)
  tree.writeStep('filter')
  await think(4)
  report('claude-code discards files in the wrong work tree')
  team.hook(tree, 'claude', 'git checkout -- .')
  tree.git('checkout', '--', '.')
  await think(5)
  report('Tess restores the lost files')
  team.person('restore', task.task_id, '--yes')
  await think(4)
  await cursor.call('complete_task', {
    task_id: task.task_id,
    status: 'partial_success',
    outcome: {
      summary:
        'filterByPrice in src/search.ts keeps the books between two prices. Tested in test/search.test.ts.',
      limitations: ['Prices in other currencies are not converted'],
      manual_review_needed: true,
      manual_review_reason: 'Should a book without a price stay in the results?',
    },
    metadata: { commands_executed: ['npm test'], tests_status: 'passed' },
  })
}

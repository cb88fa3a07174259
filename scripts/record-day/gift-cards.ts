import {
  type Agent,
  type GatedMission,
  plannedTask,
  report,
  startGatedMission,
  success,
  type Team,
} from './team.ts'

interface Payment {
  /** Called once others can join the mission. */
  readonly onMission: (missionId: string) => void
  /** Resolves when paying with a gift card is done, in another work tree. */
  readonly paid: Promise<void>
}

/** A mission with a gate: the tests fail although the agent says that they pass, then a person approves it. */
export async function buildGiftCards(team: Team, claude: Agent, { onMission, paid }: Payment): Promise<void> {
  const { think } = team
  const mission = await startGatedMission(claude, 'claude-code', {
    name: 'Gift cards',
    objective: 'Customers buy a gift card, and its recipient pays with it at checkout.',
    profile: 'standard',
    scope: 'src/, test/',
  })
  await createCards(team, mission, claude)
  onMission(mission.id)
  await think(6)
  await sellCards(team, mission, claude)
  await paid
  team.repository.main.git('merge', '--quiet', '--no-edit', 'checkout')
  await passTheGate(team, mission, claude)
  await emailCards(team, claude)
}

async function createCards(team: Team, mission: GatedMission, claude: Agent): Promise<void> {
  const { think, repository } = team
  const { main } = repository
  const task = await mission.start(1, 'Cards', {
    planned_task_id: plannedTask(team, 'create'),
    goal: 'A card has a code that people can type, and a balance in cents',
    areas: ['src/gift-card.ts', 'test/gift-card.test.ts'],
  })
  await think(10)
  await claude.call('log_decision', {
    task_id: task.task_id,
    category: 'architecture',
    question: 'How is the code of a gift card made?',
    options_considered: ['numbers in a row', 'a UUID', 'twelve random characters without look-alikes'],
    chosen: 'twelve random characters without look-alikes',
    reasoning: 'Numbers in a row can be guessed, and nobody types a UUID from paper.',
  })
  main.writeStep('gift-card')
  await think(8)
  main.commit('Create gift cards with a code and a balance')
  await claude.call(
    'complete_task',
    success(
      task,
      'Added gift cards with a random code and a balance in src/gift-card.ts. All tests pass.',
      { achievements: ['Codes without characters that look alike'] },
      { commands_executed: ['npm test'], tests_status: 'passed', tokens_input: 41_300, tokens_output: 6_200 },
    ),
  )
}

async function sellCards(team: Team, mission: GatedMission, claude: Agent): Promise<void> {
  const { think, repository } = team
  const { main } = repository
  const task = await mission.start(2, 'Shop', {
    planned_task_id: plannedTask(team, 'sell'),
    goal: 'POST /gift-cards creates a card',
    areas: ['src/server.ts', 'docs/api.md'],
  })
  await think(14)
  main.writeStep('sell')
  await claude.call('log_milestone', {
    task_id: task.task_id,
    message: 'The route answers; the API page is next',
    progress: 70,
  })
  await think(8)
  main.commit('Sell gift cards in the shop')
  await claude.call(
    'complete_task',
    success(
      task,
      'POST /gift-cards in src/server.ts creates a gift card of a fixed amount. docs/api.md describes it.',
      {},
      { tests_status: 'not_run', tokens_input: 28_700, tokens_output: 3_900 },
    ),
  )
  await think(10)
  const [item] = team.person('inbox', '--kind', 'scope').items
  report('Tess approves a file out of scope')
  team.person('approve', item.item_id, 'The amounts belong in the catalog.')
}

/** The server runs the tests, which a person allows once. They fail: the agent fixes what they found. */
async function passTheGate(team: Team, mission: GatedMission, claude: Agent): Promise<void> {
  const { think, repository } = team
  await mission.submit('callRefused')
  await think(8)
  for (const item of team.person('inbox', '--kind', 'command').items) team.person('approve', item.item_id)
  await think(4)
  report('the tests fail')
  await mission.submit('callRefused')
  const fix = await mission.start(2, 'Shop', {
    name: 'Refuse a gift card of zero',
    goal: 'The failing test passes',
    areas: ['src/gift-card.ts'],
  })
  await think(10)
  repository.main.writeStep('gift-card-zero')
  repository.main.commit('Refuse a gift card of zero')
  await claude.call(
    'complete_task',
    success(
      fix,
      'src/gift-card.ts refuses an amount of zero.',
      {},
      { commands_executed: ['npm test'], tests_status: 'passed' },
    ),
  )
  await think(4)
  await mission.submit('call')
  await think(12)
  report('Tess approves the gift cards')
  team.person('approve', mission.runId, 'Bought one and paid with it. Ship it.')
  await think(5)
  await claude.call('complete_mission', {
    mission_id: mission.id,
    status: 'completed',
    summary: 'Customers buy gift cards and pay with them at checkout.',
    achievements: ['A gift card pays a part of an order', 'Codes that people can type'],
    limitations: ['A card is shown on the screen, not sent by email'],
  })
}

/** A task that fails, and says so. */
async function emailCards(team: Team, claude: Agent): Promise<void> {
  const { think } = team
  await think(6)
  const task = await claude.call('start_task', {
    planned_task_id: plannedTask(team, 'email'),
    goal: 'The recipient gets the code by email',
    areas: ['src/email.ts', 'test/'],
    agent_name: 'claude-code',
  })
  await think(14)
  await claude.call('log_issue', {
    task_id: task.task_id,
    type: 'dependency_conflict',
    description: 'The mail service rejects our test account: it has no verified sender.',
    resolution: 'None. Someone with access to the account has to verify the sender.',
  })
  await think(4)
  await claude.call('complete_task', {
    task_id: task.task_id,
    status: 'failed',
    outcome: {
      summary: 'Email cannot be sent before the sender is verified. Nothing was changed.',
      next_steps: ['Verify the sender at the mail service'],
    },
  })
}

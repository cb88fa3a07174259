import type { Tree } from './repository.ts'
import { type Agent, plannedTask, report, success, type Team } from './team.ts'

/** A task in another work tree of the same mission, with a question that a person answers. */
export async function payAtCheckout(
  team: Team,
  codex: Agent,
  { tree, missionId }: { readonly tree: Tree; readonly missionId: string },
): Promise<void> {
  const { think } = team
  tree.git('merge', '--quiet', 'main')
  await think(3)
  const task = await codex.call('start_task', {
    mission_id: missionId,
    phase: 2,
    phase_name: 'Shop',
    planned_task_id: plannedTask(team, 'pay'),
    goal: 'A gift card pays an order',
    areas: ['src/checkout.ts', 'test/checkout.test.ts'],
    agent_name: 'codex',
    caller_type: 'subagent',
  })
  await think(9)
  report('codex asks a question')
  await codex.call('log_issue', {
    task_id: task.task_id,
    type: 'unclear_requirement',
    description:
      'The gift card covers only a part of the order. Refuse it, or charge the rest to the credit card?',
    resolution: 'Waiting for an answer.',
    requires_human_review: true,
  })
  await think(16)
  const [item] = team.person('inbox', '--kind', 'blocker').items
  report('Tess answers')
  team.person(
    'resolve',
    item.item_id,
    'Charge the rest to the credit card. A balance never becomes negative.',
  )
  await think(12)
  tree.writeStep('pay')
  await codex.call('log_milestone', {
    task_id: task.task_id,
    message: 'A gift card pays a part of an order',
    progress: 80,
  })
  await think(8)
  tree.commit('Pay with a gift card at checkout')
  await codex.call(
    'complete_task',
    success(
      task,
      'placeOrder in src/checkout.ts takes a gift card; the credit card pays the rest. Covered by test/checkout.test.ts.',
      { achievements: ['The balance never becomes negative'] },
      { commands_executed: ['npm test'], tests_status: 'passed', tokens_input: 52_100, tokens_output: 8_400 },
    ),
  )
}

/** The task that is open at the end of the day: it waits for an answer. */
export async function showBalance(team: Team, codex: Agent, tree: Tree): Promise<void> {
  const { think } = team
  // The gate of the mission waits for every question in it.
  await think(60)
  const task = await codex.call('start_task', {
    planned_task_id: plannedTask(team, 'balance'),
    goal: 'A customer sees what is left on a card',
    areas: ['src/balance.ts', 'test/balance.test.ts'],
    agent_name: 'codex',
  })
  await think(10)
  tree.writeStep('balance')
  await codex.call('log_issue', {
    task_id: task.task_id,
    type: 'unclear_requirement',
    description: 'May anyone with the code see the balance, or only a customer who is signed in?',
    resolution: 'Started with the text of the balance, which both need.',
    requires_human_review: true,
  })
}

import type { Agent, Team } from './team.ts'

const phases = [
  ['P1', 'Gift cards', 'Customers can give a gift card', 'A card bought today pays an order tomorrow'],
  ['P2', 'Search', 'Customers find a book', 'The right book is among the first three results'],
  ['P3', 'Orders', 'Orders need no phone call', 'An address is checked, an order can be canceled'],
  ['P4', 'Release', 'Gift cards are on for everyone', 'No error in the first hour'],
] as const

/** Short name, phase, title, role, and the tasks that it depends on. */
const tasks = [
  ['create', 'P1', 'Create gift cards with a code and a balance', 'developer', []],
  ['sell', 'P1', 'Sell gift cards in the shop', 'developer', ['create']],
  ['pay', 'P1', 'Pay with a gift card at checkout', 'developer', ['create']],
  ['balance', 'P1', 'Show the balance of a gift card', 'developer', ['create']],
  ['email', 'P1', 'Email the gift card to its recipient', 'developer', ['sell']],
  ['search', 'P2', 'Search books by title and author', 'developer', []],
  ['filter', 'P2', 'Filter search results by price', 'developer', ['search']],
  ['spelling', 'P2', 'Suggest a spelling when nothing is found', 'developer', ['search']],
  ['address', 'P3', 'Validate the shipping address', 'developer', []],
  ['cancel', 'P3', 'Cancel an order within an hour', 'developer', ['pay']],
  ['export', 'P3', 'Export orders as CSV', 'developer', []],
  ['load', 'P4', 'Load test the checkout', 'qa-engineer', ['pay', 'address']],
  ['announce', 'P4', 'Write the announcement', 'documentation-writer', ['sell', 'search']],
  ['switch-on', 'P4', 'Switch gift cards on', 'devops-engineer', ['load', 'announce']],
] as const

/** What the tasks of the search promise: checked when they are completed. */
const promises: Readonly<Record<string, object>> = {
  search: { check: ['npm test'], changes: ['src/search.ts', 'test/**'] },
  filter: { check: ['npm test'], keeps: ['package.json'] },
}

/** An agent writes the plan of the project. */
export async function writePlan(team: Team, agent: Agent): Promise<void> {
  for (const [at, [id, name, milestone, criterion]] of phases.entries()) {
    await agent.call('taskman_phase_add', { id, name, 'sort-order': at + 1 })
    await agent.call('taskman_milestone_add', { id: `M${at + 1}`, phase: id, name: milestone, criterion })
    await team.think(1)
  }
  for (const [at, [name, phase, title, role]] of tasks.entries()) {
    const added = await agent.call('taskman_task_add', {
      title,
      phase,
      milestone: `M${phase.slice(1)}`,
      role,
      'sort-order': at + 1,
      ...(promises[name] && { done_when: promises[name] }),
    })
    team.tasks.set(name, added.id)
    await team.think(0.6)
  }
  for (const [name, , , , dependencies] of tasks) {
    for (const dependency of dependencies) {
      await agent.call('taskman_task_dep_add', {
        'task-id': team.tasks.get(name),
        'dep-id': team.tasks.get(dependency),
      })
    }
  }
}

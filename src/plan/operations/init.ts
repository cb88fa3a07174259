import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { formatCount } from '../../kernel/text.ts'
import type { DocumentTask, PlanDocument } from '../domain/document.ts'
import { Added, addPlan } from './plan-import.ts'

export const init = defineOperation({
  name: 'taskman_init',
  tool: 'taskman_init',
  command: 'init',
  toolset: 'plan',
  audience: 'both',
  title: 'Initialize',
  description:
    'Create and initialize the database tables (phases, milestones, tasks, task_deps). Run once when starting a new project.',
  kind: 'command',
  idempotent: true,
  input: z.strictObject({}),
  output: z.object({ message: z.string() }),
  print: (answer) => [String(answer['message'])],
}).handler(({ record }) =>
  // A record that nothing happened in still makes the database; what is in it stays.
  record(async () => ({ events: [], answer: { message: 'Database initialized.' } })),
)

export const demo = defineOperation({
  name: 'demo',
  command: 'demo',
  toolset: 'plan',
  audience: 'both',
  title: 'Fill a demonstration plan',
  description:
    'Fills an empty plan with a realistic one: a small web shop, midway. Touches no existing plan.',
  kind: 'command',
  input: z.strictObject({}),
  output: Added,
}).handler(async (handling) => {
  const existing = await handling.store.view(({ plan }) => plan.phases(null))
  if (existing.length > 0) {
    throw new Failure(
      'CONFLICT',
      `This project already has a plan of ${formatCount(existing.length, 'phase')}: ${existing
        .slice(0, 5)
        .map(({ name }) => name)
        .join(', ')}.`,
      {
        reason: 'plan_exists',
        hint: 'Look at the demonstration in another folder, or with WAYMARK_DATABASE=/tmp/demo.db waymark demo.',
      },
    )
  }
  return addPlan(handling, demoPlan, { mission: undefined, dryRun: false })
})

type TemplateTask = readonly [key: string, title: string, more?: Partial<DocumentTask>]

/** A small web shop, midway: design done, development running, the rest waiting. */
const demoPlan: PlanDocument = {
  phases: [
    { key: 'P1', name: 'Design', status: 'done', sortOrder: 1, foreignId: null },
    { key: 'P2', name: 'Development', status: 'in_progress', sortOrder: 2, foreignId: null },
    { key: 'P3', name: 'Acceptance', status: 'to_do', sortOrder: 3, foreignId: null },
    { key: 'P4', name: 'Delivery', status: 'to_do', sortOrder: 4, foreignId: null },
  ],
  milestones: [
    milestone('M1', 'P1', 'Specification approved', 'The owner signed it', true),
    milestone('M2', 'P2', 'Orders can be placed', 'A customer pays for a cart in the test shop', false),
    milestone('M3', 'P3', 'Accepted', 'No open defect of the first kind', false),
    milestone('M4', 'P4', 'In production', 'The shop answers under its own name', false),
  ],
  tasks: [
    ...phaseTasks('P1', 'M1', [
      ['brief', 'Write down what the shop must do', { role: 'product-owner', status: 'done' }],
      ['screens', 'Draw the screens', { role: 'ui-designer', status: 'done', dependsOn: ['brief'] }],
      [
        'architecture',
        'Decide on the architecture',
        { role: 'software-architect', status: 'done', dependsOn: ['brief'] },
      ],
      [
        'spec',
        'Have the specification approved',
        { role: 'project-manager', status: 'done', dependsOn: ['screens', 'architecture'] },
      ],
    ]),
    ...phaseTasks('P2', 'M2', [
      [
        'schema',
        'Model products, carts and orders',
        { role: 'developer', status: 'done', dependsOn: ['spec'] },
      ],
      ['catalog', 'List products and search them', { role: 'developer', dependsOn: ['schema'] }],
      ['accounts', 'Sign up, log in, reset a password', { role: 'developer', dependsOn: ['schema'] }],
      ['cart', 'Fill a cart', { role: 'developer', dependsOn: ['catalog'] }],
      [
        'payment',
        'Pay with a card',
        {
          role: 'developer',
          dependsOn: ['cart', 'accounts'],
          description: 'With the provider’s test account. A refused card leaves the cart as it was.',
        },
      ],
      ['orders', 'Place an order and confirm it by mail', { role: 'developer', dependsOn: ['payment'] }],
      ['back-office', 'Let the shop see and ship orders', { role: 'developer', dependsOn: ['orders'] }],
      [
        'threats',
        'Look for ways to order without paying',
        { role: 'security-engineer', dependsOn: ['payment'] },
      ],
    ]),
    ...phaseTasks('P3', 'M3', [
      ['test-plan', 'Write the test plan', { role: 'qa-engineer', dependsOn: ['spec'] }],
      ['tests', 'Run it', { role: 'qa-engineer', dependsOn: ['test-plan', 'back-office'] }],
      ['load', 'Measure a hundred orders a minute', { role: 'devops-engineer', dependsOn: ['orders'] }],
      ['defects', 'Fix what was found', { role: 'developer', dependsOn: ['tests', 'threats', 'load'] }],
    ]),
    ...phaseTasks('P4', 'M4', [
      [
        'handbook',
        'Write the handbook of the shop',
        { role: 'documentation-writer', dependsOn: ['back-office'] },
      ],
      ['servers', 'Set the servers up', { role: 'devops-engineer', dependsOn: ['architecture'] }],
      ['launch', 'Put it into production', { role: 'devops-engineer', dependsOn: ['defects', 'servers'] }],
      ['announce', 'Tell the world', { role: 'community-manager', dependsOn: ['launch', 'handbook'] }],
    ]),
  ],
}

function milestone(key: string, phase: string, name: string, criterion: string, reached: boolean) {
  return { key, phase, name, criterion, reached, foreignId: null }
}

function phaseTasks(
  phase: string,
  milestoneKey: string,
  lines: readonly TemplateTask[],
): readonly DocumentTask[] {
  return lines.map(([key, title, more], index) => ({
    key,
    title,
    description: null,
    phase,
    milestone: milestoneKey,
    parent: null,
    role: null,
    assignee: null,
    areas: [],
    status: 'to_do',
    resolution: null,
    sortOrder: (index + 1) * 10,
    dependsOn: [],
    notes: [],
    creator: 'project-manager',
    createdAt: null,
    updatedAt: null,
    foreignId: null,
    ...more,
  }))
}

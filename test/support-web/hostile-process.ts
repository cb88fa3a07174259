import type { Day } from './day.ts'
import { hostile, type Seen } from './hostile-day.ts'

const withReason = { type: 'object', properties: { reason: { type: 'string' } } }

// JSON is YAML too, and quotes whatever is said.
const process = {
  process: {
    dialect: 1,
    id: 'hostile',
    version: '1',
    name: hostile('process name'),
    description: hostile('process description'),
    initial_state: 'build',
  },
  roles: [
    { name: 'agent', kind: 'agent' },
    { name: hostile('role'), kind: 'human', description: hostile('role description') },
  ],
  states: [
    { name: 'build', description: hostile('state description'), prompt: hostile('prompt') },
    { name: 'review' },
    { name: 'live', is_final: true },
  ],
  events: [
    { name: 'submit', description: hostile('event description'), allowed_roles: ['agent'] },
    { name: 'release', allowed_roles: [hostile('role')], payload_schema: withReason },
    { name: 'request_changes', allowed_roles: [hostile('role')], payload_schema: withReason },
  ],
  transitions: [
    { from: 'build', event: 'submit', to: 'review', guard: 'small' },
    { from: 'review', event: 'release', to: 'live', guard: 'approved' },
    { from: 'review', event: 'request_changes', to: 'build' },
  ],
  guards: {
    small: {
      type: 'context',
      variable: 'size',
      condition: 'equals',
      value: 'small',
      description: hostile('guard description'),
    },
    approved: { type: 'approval', role: hostile('role') },
  },
  artifacts: [{ type: 'plan', description: hostile('artifact description'), paths: ['plan.md'] }],
}

/** A run that waits in its first state, and one that was sent back, approved and has ended. */
export async function fillHostileProcess(day: Day): Promise<readonly Seen[]> {
  const written = `# ${hostile('comment')}\n${JSON.stringify(process, null, 2)}\n`
  day.write('.waymark/processes/hostile.yaml', written)
  const waiting = await beginRun(day, 'big')
  const ended = await beginRun(day, 'small')
  const { run_id } = ended
  await submit(day, run_id)
  await day.person('decide', { run_id, event: 'request_changes', reason: hostile('rejection') })
  await submit(day, run_id)
  await day.person('approve', { id: run_id, event: 'release', reason: hostile('approval') })
  const [name, description] = [hostile('process name'), hostile('process description')]
  return [
    { path: '/processes', texts: [name] },
    { path: '/processes/hostile', texts: [name, description, hostile('prompt')] },
    {
      path: '/processes/hostile?tab=parts',
      texts: ['state', 'event', 'guard', 'artifact'].map((of) => hostile(`${of} description`)),
    },
    { path: '/processes/hostile?tab=parts', texts: [hostile('role')] },
    { path: '/processes/hostile?tab=source', texts: written.trim().split('\n') },
    {
      path: `/runs/${waiting.run_id}`,
      texts: [name, hostile('prompt'), hostile('context'), hostile('guard description')],
    },
    { path: `/runs/${run_id}`, texts: [name, hostile('rejection'), hostile('approval')] },
    { path: '/history?of=runs', texts: [name] },
  ]
}

function beginRun(day: Day, size: string) {
  const context = { size, said: hostile('context') }
  return day.agent(hostile('agent'))('state_gate_create_run', { process_id: 'hostile', context })
}

async function submit(day: Day, run_id: string): Promise<void> {
  const agent = day.agent(hostile('agent'))
  const { revision } = await agent('state_gate_get_state', { run_id })
  const idempotency_key = `submitted at ${revision}`
  await agent('state_gate_emit_event', {
    run_id,
    event_name: 'submit',
    expected_revision: revision,
    idempotency_key,
  })
}

import type { Day } from './day.ts'

/** A process in which an agent hands in a plan, and an owner lets it through or sends it back. */
export const gatedRelease = `process: { dialect: 1, id: gated-release, version: "1", name: Gated release, initial_state: build }
roles: [{ name: agent, kind: agent }, { name: owner, kind: human }]
states:
  - { name: build, prompt: Write plan.md., required_artifacts: [plan] }
  - { name: review, description: A person looks at it }
  - { name: live, is_final: true }
events:
  - { name: submit, allowed_roles: [agent] }
  - { name: release, description: Ship it, allowed_roles: [owner] }
  - { name: request_changes, allowed_roles: [owner] }
transitions:
  - { from: build, event: submit, to: review, guard: small }
  - { from: review, event: release, to: live, guard: approved }
  - { from: review, event: request_changes, to: build }
guards:
  approved: { type: approval, role: owner, artifact: plan, description: The owner approved the plan }
  small: { type: context, variable: size, condition: equals, value: small, description: The change is small }
artifacts: [{ type: plan, paths: ["plan.md"] }]
`

export interface BegunRun {
  readonly id: string
  /** Sends an event as the agent, at the revision that the run has. Answers the code of a refusal, or null. */
  readonly emit: (event: string, more?: object) => Promise<string | null>
}

/** A run that waits in \`build\`; \`submit\` was refused once. */
export async function beginGatedRun(day: Day): Promise<BegunRun> {
  day.write('.waymark/processes/gated-release.yaml', gatedRelease)
  day.write('plan.md', 'The plan.\n')
  const ada = day.agent('ada')
  const { run_id } = await ada('state_gate_create_run', {
    process_id: 'gated-release',
    context: { size: 'small' },
  })
  let sent = 0
  const emit: BegunRun['emit'] = async (event_name, more = {}) => {
    sent += 1
    const { revision } = await ada('state_gate_get_state', { run_id })
    const input = {
      run_id,
      event_name,
      expected_revision: revision,
      idempotency_key: `sent-${sent}`,
      ...more,
    }
    try {
      await ada('state_gate_emit_event', input)
      return null
    } catch (error) {
      if (error instanceof Error && 'code' in error) return String(error.code)
      throw error
    }
  }
  return { id: run_id, emit }
}

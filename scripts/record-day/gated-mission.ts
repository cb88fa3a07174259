import type { Answer } from '../../examples/demo/agent.ts'
import type { Agent } from './client.ts'

/** A mission with a run that gates it, as its leader works on it. */
export interface GatedMission {
  readonly id: string
  readonly begin: (phase: number, phaseName: string, more: object) => Promise<Answer>
  /** Emits an event, which is accepted or refused as the day means it to be. */
  readonly event: (tell: 'call' | 'refused', name: string, more: object) => Promise<Answer>
}

export async function startGated(leader: Agent, agentName: string, wish: object): Promise<GatedMission> {
  const { mission_id, run } = await leader.call('start_mission', wish)
  let round = 0
  return {
    id: mission_id,
    begin: (phase, phase_name, more) =>
      leader.call('start_task', {
        mission_id,
        phase,
        phase_name,
        agent_name: agentName,
        caller_type: 'orchestrator',
        ...more,
      }),
    event: async (tell, event_name, more) => {
      const { revision } = await leader.call('state_gate_get_state', { run_id: run.run_id })
      round += 1
      return leader[tell]('state_gate_emit_event', {
        run_id: run.run_id,
        event_name,
        expected_revision: revision,
        idempotency_key: `${event_name}-${round}-${Date.now()}`,
        ...more,
      })
    },
  }
}

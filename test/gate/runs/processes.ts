/** The process of the specification's examples, in the original's words. */
export const explorationProcess = `process:
  dialect: 1
  id: exploration-process
  version: "1.0.0"
  name: 探索プロセス
  initial_state: experiment
  initial_context: { exploration_mode: domain, team_mode: solo }
roles:
  - { name: agent, kind: agent }
  - { name: lead, kind: human }
states:
  - { name: experiment, prompt: "Plan for {{context.exploration_mode}}.", required_artifacts: [experiment_plan] }
  - { name: observe }
  - { name: synthesize }
  - { name: decide }
  - { name: answered, is_final: true }
  - { name: dropped, is_final: true, outcome: failed }
events:
  - name: submit_experiment_plan
    description: 実験計画を提出
    allowed_roles: [agent]
    payload_schema: { type: object, required: [plan], properties: { plan: { type: string } } }
  - name: submit_observation
    description: 観察結果を提出
    allowed_roles: [agent]
    payload_schema: { type: object, required: [findings], properties: { findings: { type: string } } }
  - { name: submit_synthesis, description: 統合結果を提出, allowed_roles: [agent] }
  - { name: finalize, allowed_roles: [lead] }
  - { name: drop, allowed_roles: ["*"] }
transitions:
  - { from: experiment, event: submit_experiment_plan, to: observe, guard: has_experiment_plan }
  - { from: observe, event: submit_observation, to: synthesize, guard: has_sufficient_observations, when_blocked: record }
  - { from: synthesize, event: submit_synthesis, to: decide, guard: has_synthesis }
  - { from: decide, event: finalize, to: answered }
  - { from: "*", event: drop, to: dropped, escape: true }
guards:
  has_experiment_plan: { type: artifact, artifact_type: experiment_plan, condition: exists, description: 実験計画が必要です }
  has_sufficient_observations: { type: artifact, artifact_type: observation, condition: count, min_count: 3 }
  has_synthesis: { type: artifact, artifact_type: synthesis, condition: exists }
artifacts:
  - { type: experiment_plan, description: 実験計画, paths: ["docs/experiment.md"] }
  - { type: observation, paths: ["evidence/*.md", "evidence/screenshots/*.png"] }
  - { type: synthesis, paths: ["docs/synthesis.md"] }
`

/** Two states and an end, with the parts that a test is about. */
export function process(
  id: string,
  parts: {
    readonly guards?: string
    /** The guard of `go`, from `work` to `done`. */
    readonly guard?: string
    readonly more?: string
    readonly artifacts?: string
    /** More keys of the state `work`. */
    readonly work?: string
    readonly go?: string
  } = {},
): string {
  return `process:
  dialect: 1
  id: ${id}
  version: "1.0.0"
  name: ${id}
  initial_state: work
roles:
  - { name: agent, kind: agent }
  - { name: reviewer, kind: human }
  - { name: owner, kind: human }
states:
  - { name: work${parts.work ?? ''} }
  - { name: done, is_final: true }
  - { name: abandoned, is_final: true, outcome: failed }
events:
  - { name: go, allowed_roles: [agent, reviewer]${parts.go ?? ''} }
  - { name: abandon, allowed_roles: ["*"] }
transitions:
  - { from: work, event: go, to: done${parts.guard === undefined ? '' : `, guard: ${parts.guard}`} }
  - { from: "*", event: abandon, to: abandoned, escape: true }
${parts.guards === undefined ? '' : `guards:\n${parts.guards}\n`}${parts.artifacts === undefined ? '' : `artifacts:\n${parts.artifacts}\n`}${parts.more ?? ''}`
}

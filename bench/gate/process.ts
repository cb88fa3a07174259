/** What the bench runs: a state that stays open, with evidence that a guard counts. */
export const benchProcess = `process:
  dialect: 1
  id: bench
  version: "1.0.0"
  name: Bench
  initial_state: work
  initial_context: { risk: low, request: "the request" }
  context_schema: { type: object, properties: { risk: { enum: [low, high] }, note: { type: string } } }
roles:
  - { name: agent, kind: agent }
  - { name: owner, kind: human }
states:
  - { name: work, prompt: "Work on {{context.request}}." }
  - { name: done, is_final: true }
  - { name: abandoned, is_final: true, outcome: failed }
events:
  - name: say
    description: Keep a note
    allowed_roles: [agent]
    payload_schema: { type: object, required: [note], properties: { note: { type: string } } }
  - { name: observe, description: Hand in observations, allowed_roles: [agent] }
  - { name: finish, description: All is there, allowed_roles: [agent] }
  - { name: abandon, description: Give it up, allowed_roles: ["*"] }
transitions:
  - { from: work, event: say, to: work, assign: { note: $.payload.note } }
  - { from: work, event: observe, to: work, guard: low_risk }
  - { from: work, event: finish, to: done, guard: { all: [low_risk, enough] }, when_blocked: record }
  - { from: "*", event: abandon, to: abandoned, escape: true }
guards:
  low_risk: { type: context, variable: risk, condition: equals, value: low }
  enough: { type: artifact, artifact_type: observation, condition: count, min_count: 1000000 }
artifacts:
  - type: observation
    paths: ["evidence/*.json"]
    schema: { type: object, required: [findings], properties: { findings: { type: array } } }
`

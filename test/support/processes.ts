import type { ProcessDefinition } from '../../src/gate/domain/definition.ts'
import type { EventRequest } from '../../src/gate/domain/event-request.ts'
import { type Artifact, nothingObserved } from '../../src/gate/domain/evidence.ts'
import { readDefinition } from '../../src/gate/process-files/read-definition.ts'

/** A small process with every kind of transition, as a file. */
export const smallProcess = `process:
  dialect: 1
  id: small
  version: "1.0.0"
  name: Small
  initial_state: plan
  initial_context: { risk: low }
  context_schema: { type: object, properties: { risk: { enum: [low, high] }, summary: { type: string } } }
roles:
  - { name: agent, kind: agent }
  - { name: reviewer, kind: human }
states:
  - { name: plan, required_artifacts: [plan], prompt: "Plan with risk {{context.risk}}." }
  - { name: build, max_visits: 2 }
  - { name: review }
  - { name: done, is_final: true }
  - { name: abandoned, is_final: true, outcome: failed }
events:
  - name: submit_plan
    allowed_roles: [agent]
    payload_schema: { type: object, required: [summary], properties: { summary: { type: string }, risk: {} } }
  - { name: submit_build, allowed_roles: [agent] }
  - { name: approve, allowed_roles: [reviewer] }
  - { name: send_back, allowed_roles: [reviewer] }
  - { name: abandon, allowed_roles: ["*"] }
transitions:
  - { from: plan, event: submit_plan, to: build, assign: { summary: $.payload.summary, risk: $.payload.risk } }
  - { from: build, event: submit_build, to: review, guard: enough, when_blocked: record }
  - { from: review, event: approve, to: done, guard: low_risk }
  - { from: review, event: approve, to: plan }
  - { from: review, event: send_back, to: build }
  - { from: "*", event: abandon, to: abandoned, escape: true }
guards:
  enough: { type: artifact, artifact_type: observation, condition: count, min_count: 2, hint: "Look again." }
  low_risk: { type: context, variable: risk, condition: equals, value: low }
artifacts:
  - { type: plan, paths: ["docs/plan.md"], fresh: state }
  - { type: observation, paths: ["notes/*.md"] }
`

/** The definition in a file that must be readable. */
export function definitionIn(text: string): ProcessDefinition {
  const { definition, findings } = readDefinition(text)
  if (definition === null) throw new Error(findings.map(({ message }) => message).join('\n'))
  return definition
}

export function eventRequest(event: string, more: Partial<EventRequest> = {}): EventRequest {
  return {
    event,
    payload: {},
    artifacts: [],
    emitter: { role: 'agent', kind: 'agent' },
    expectedRevision: null,
    observed: nothingObserved,
    assumed: [],
    ...more,
  }
}

export function artifactOf(type: string, path: string): Omit<Artifact, 'revision'> {
  return { type, path, bytes: 500, sha256: 'a'.repeat(64), status: 'current' }
}

export const reviewer = { emitter: { role: 'reviewer', kind: 'person' } } as const

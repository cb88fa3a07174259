import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type PlanServer, startServers } from '../../plan/servers.ts'
import type { Answer } from '../../support/project.ts'
import { temporaryRepository } from '../../surfaces/mcp/server-process.ts'

/** Takes move it and assign; files are recorded until there are three since the state was entered. */
const raceProcess = `process:
  dialect: 1
  id: race
  version: "1.0.0"
  name: Race
  initial_state: open
roles:
  - { name: agent, kind: agent }
states:
  - { name: open }
  - { name: full }
  - { name: done, is_final: true }
events:
  - name: take
    allowed_roles: [agent]
    payload_schema: { type: object, required: [by], properties: { by: { type: string } } }
  - { name: hand_in, allowed_roles: [agent] }
  - { name: finish, allowed_roles: [agent] }
transitions:
  - { from: open, event: take, to: open, assign: { last: $.payload.by } }
  - { from: open, event: hand_in, to: full, guard: enough, when_blocked: record }
  - { from: full, event: take, to: open, assign: { last: $.payload.by } }
  - { from: full, event: hand_in, to: full }
  - { from: full, event: finish, to: done }
guards:
  enough: { type: artifact, artifact_type: sheet, condition: count, min_count: 3 }
artifacts:
  - { type: sheet, paths: ["sheets/*.txt"], fresh: state }
`

export interface Race {
  readonly folder: string
  readonly servers: readonly PlanServer[]
  readonly run: string
}

/** A project with the race's process and these servers over it, and no run yet. */
export async function raceTrack(count: number, name?: string): Promise<Omit<Race, 'run'>> {
  const folder = temporaryRepository()
  put(folder, '.waymark/processes/race.yaml', raceProcess)
  return { folder, servers: await startServers(folder, count, name) }
}

export async function beginRace(count: number, name?: string): Promise<Race> {
  const { folder, servers } = await raceTrack(count, name)
  const { run_id: run } = await firstOf(servers).call('state_gate_create_run', { process_id: 'race' })
  return { folder, servers, run }
}

export function firstOf<Item>(items: readonly Item[]): Item {
  const [first] = items
  if (first === undefined) throw new Error('there is none')
  return first
}

export interface Sent {
  readonly event_name: string
  readonly payload: { readonly by: string }
  readonly artifact_paths: readonly string[]
}

/** The event that somebody sends at a turn: every third hands in a file. */
export function eventAt(folder: string, by: string): Sent {
  if (Number(by.split('/').at(-1)) % 3 > 0) return { event_name: 'take', payload: { by }, artifact_paths: [] }
  const path = `sheets/${by.replaceAll('/', '-')}.txt`
  put(folder, path, by)
  return { event_name: 'hand_in', payload: { by }, artifact_paths: [path] }
}

export interface Insisted {
  readonly result: Answer
  /** The payload's `by` of this event. */
  readonly by: string
  readonly conflicts: number
}

/** Emits an event until it is accepted, after each conflict at the revision that the refusal names. */
export async function insist(server: PlanServer, run: string, sent: Sent): Promise<Insisted> {
  const { by } = sent.payload
  let { revision } = await server.call('state_gate_get_state', { run_id: run })
  for (let conflicts = 0; ; conflicts += 1) {
    const idempotency_key = `${by}#${conflicts}`
    const input = { run_id: run, expected_revision: revision, idempotency_key, ...sent }
    const { isError, structuredContent } = await server.result('state_gate_emit_event', input)
    if (!isError) return { result: structuredContent.result, by, conflicts }
    const { code, message, details } = structuredContent.error
    if (code !== 'REVISION_CONFLICT') throw new Error(`${by}: ${code}: ${message}`)
    revision = details.current_revision
  }
}

function put(folder: string, path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}

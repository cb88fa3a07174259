import type { NewProjectEvent } from '../../src/events/domain/project-event.ts'
import type {
  CommandResult,
  ProcessVersion,
  RunApproval,
  RunEvent,
  RunRecord,
  RunRefusal,
  StoredArtifact,
} from '../../src/gate/domain/run.ts'
import type { CommandResultId, RunEventId, RunId } from '../../src/kernel/id.ts'
import { definitionIn, smallProcess } from '../support/processes.ts'

type Advanced = Extract<NewProjectEvent, { kind: 'run.advanced' }>

export const r = (number: number): RunId => `run-${number}` as RunId
export const definition = definitionIn(smallProcess)
export const version: ProcessVersion = { hash: 'small-1', id: 'small', version: '1.0.0', name: 'Small' }
export const kept: NewProjectEvent = { kind: 'process.kept', hash: version.hash, definition }

export function aRun(changes: Partial<RunRecord> = {}): RunRecord {
  return {
    id: r(1),
    process: version,
    missionId: null,
    taskId: null,
    status: 'active',
    state: 'plan',
    revision: 1,
    context: { risk: 'low' },
    createdBy: 'claude',
    createdAt: 1,
    updatedAt: 1,
    endedAt: null,
    ...changes,
  }
}

export const created = (changes: Partial<RunRecord> = {}): NewProjectEvent => ({
  kind: 'run.created',
  run: aRun(changes),
})

export function anArtifact(path: string, changes: Partial<StoredArtifact> = {}): StoredArtifact {
  return {
    type: 'observation',
    path,
    bytes: 500,
    sha256: 'a'.repeat(64),
    stamp: 's1',
    revision: 2,
    author: 'claude',
    ...changes,
  }
}

/** An event that stays in its state unless `changes` say otherwise. */
export function anEvent(revision: number, changes: Partial<RunEvent> = {}): RunEvent {
  return {
    id: `evt-${revision}` as RunEventId,
    runId: r(1),
    revision,
    kind: 'event',
    event: 'submit_plan',
    payload: { summary: 'It will work.' },
    from: 'plan',
    to: 'plan',
    stateChanged: false,
    artifacts: [],
    unsatisfied: [],
    role: 'agent',
    author: 'claude',
    createdAt: revision,
    ...changes,
  }
}

export function advanced(event: RunEvent, changes: Partial<Advanced> = {}): Advanced {
  const subject = { missionId: null, taskId: null }
  return {
    kind: 'run.advanced',
    runId: event.runId,
    ...subject,
    event,
    status: 'active',
    context: null,
    ...changes,
  }
}

/** An event that enters a state. */
export const entering = (revision: number, to: string, changes: Partial<RunEvent> = {}) =>
  advanced(anEvent(revision, { to, stateChanged: true, ...changes }))

export function refused(
  changes: Partial<RunRefusal> = {},
): Extract<NewProjectEvent, { kind: 'run.refused' }> {
  const refusal: RunRefusal = {
    runId: r(1),
    event: 'submit_plan',
    code: 'GUARD_FAILED',
    message: 'Guards do not hold.',
    missing: ['has_plan: there is none'],
    state: 'plan',
    revision: 1,
    role: 'agent',
    author: 'claude',
    createdAt: 3,
    ...changes,
  }
  return { kind: 'run.refused', runId: refusal.runId, missionId: null, taskId: null, refusal }
}

export function approved(
  changes: Partial<RunApproval> = {},
): Extract<NewProjectEvent, { kind: 'run.approved' }> {
  const approval: RunApproval = {
    runId: r(1),
    role: 'reviewer',
    artifact: 'plan',
    content: 'c'.repeat(64),
    reason: null,
    author: 'Tess',
    createdAt: 4,
    ...changes,
  }
  return { kind: 'run.approved', runId: approval.runId, missionId: null, taskId: null, approval }
}

export function aCommand(number: number, changes: Partial<CommandResult> = {}): CommandResult {
  return {
    id: `cmd-${number}` as CommandResultId,
    runId: r(1),
    run: 'npm test',
    folder: '/tree',
    tree: 'tree-1',
    status: 'running',
    exitCode: null,
    output: '',
    treeHeld: true,
    runner: 'host:1',
    startedAt: number,
    endedAt: null,
    ...changes,
  }
}

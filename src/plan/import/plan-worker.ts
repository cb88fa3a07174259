import { parentPort } from 'node:worker_threads'
import type { DocumentTask } from '../domain/document.ts'
import type { PlanWorkerRequest, PlanWorkerResponse } from './read-plan.ts'
import { readPlanText } from './read-plan.ts'

/** Tasks that are handed over at once. */
const part = 500

let tasks: readonly DocumentTask[] = []

parentPort?.on('message', (asked: PlanWorkerRequest) => parentPort?.postMessage(answerRequest(asked)))

function answerRequest(asked: PlanWorkerRequest): PlanWorkerResponse {
  if (asked.kind === 'tasks') return { kind: 'tasks', tasks: tasks.slice(asked.from, asked.from + part) }
  const result = readPlanText(asked)
  if (!result.accepted) return { kind: 'read', result, tasks: 0 }
  tasks = result.document.tasks
  return {
    kind: 'read',
    result: { ...result, document: { ...result.document, tasks: [] } },
    tasks: tasks.length,
  }
}

import { parentPort } from 'node:worker_threads'
import type { DocumentTask } from '../domain/document.ts'
import type { PlanWorkerRequest, PlanWorkerResponse } from './read-plan.ts'
import { readPlanText } from './read-plan.ts'

/** Tasks per message. */
const batchSize = 500

let tasks: readonly DocumentTask[] = []

parentPort?.on('message', (request: PlanWorkerRequest) => parentPort?.postMessage(answerRequest(request)))

function answerRequest(request: PlanWorkerRequest): PlanWorkerResponse {
  if (request.kind === 'tasks')
    return { kind: 'tasks', tasks: tasks.slice(request.from, request.from + batchSize) }
  const result = readPlanText(request)
  if (!result.accepted) return { kind: 'read', result, tasks: 0 }
  tasks = result.document.tasks
  return {
    kind: 'read',
    result: { ...result, document: { ...result.document, tasks: [] } },
    tasks: tasks.length,
  }
}

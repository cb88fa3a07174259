import { parentPort } from 'node:worker_threads'
import { type JobName, type Jobs, jobs } from './job.ts'

/** A job for the worker thread. */
export type Assignment = {
  readonly [Name in JobName]: {
    readonly id: number
    readonly job: Name
    readonly input: Parameters<Jobs[Name]>
  }
}[JobName]

/** What the worker thread answers, under the assignment's id. */
export type Answer =
  | { readonly id: number; readonly value: ReturnType<Jobs[JobName]> }
  | { readonly id: number; readonly error: unknown }

parentPort?.on('message', (assignment: Assignment) => parentPort?.postMessage(answer(assignment)))

function answer(assignment: Assignment): Answer {
  try {
    return { id: assignment.id, value: perform(assignment) }
  } catch (error) {
    return { id: assignment.id, error }
  }
}

function perform(assignment: Assignment): ReturnType<Jobs[JobName]> {
  switch (assignment.job) {
    case 'scan':
      return jobs.scan(...assignment.input)
    case 'treeHash':
      return jobs.treeHash(...assignment.input)
    case 'changes':
      return jobs.changes(...assignment.input)
    case 'touched':
      return jobs.touched(...assignment.input)
    case 'unifiedDiff':
      return jobs.unifiedDiff(...assignment.input)
  }
}

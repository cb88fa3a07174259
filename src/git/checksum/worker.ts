import { parentPort, workerData } from 'node:worker_threads'
import { type JobName, type Jobs, jobs } from './job.ts'

/** One job for one worker thread. */
export type Assignment = {
  readonly [Name in JobName]: { readonly job: Name; readonly input: Parameters<Jobs[Name]> }
}[JobName]

// The only sender is run-job.ts.
parentPort?.postMessage(perform(workerData as Assignment))

function perform(assignment: Assignment): ReturnType<Jobs[JobName]> {
  switch (assignment.job) {
    case 'scan':
      return jobs.scan(...assignment.input)
    case 'changes':
      return jobs.changes(...assignment.input)
    case 'touched':
      return jobs.touched(...assignment.input)
    case 'unifiedDiff':
      return jobs.unifiedDiff(...assignment.input)
  }
}

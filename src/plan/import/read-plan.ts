import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { yieldToEventLoop } from '../../kernel/files/yield-to-event-loop.ts'
import { outlineOf } from '../../kernel/json-outline.ts'
import { untilEnd } from '../../kernel/process-end.ts'
import type { PlanFormat } from '../../project/ports/project-files.ts'
import type { DocumentTask } from '../domain/document.ts'
import { readBacklog } from './backlog.ts'
import { readBeads } from './beads.ts'
import { type ImportResult, rejectedImport } from './import-result.ts'
import { readMarkdownPlan } from './markdown.ts'
import { readTaskMaster } from './task-master.ts'
import { readPlanJson, readPlanJsonl } from './waymark.ts'

/** Up to this many characters are read in a few milliseconds; longer plans are read on a thread. */
const shortText = 20_000
/** Milliseconds. */
const patience = 120_000

/** The thread's answer without the tasks, which are fetched in batches so that no transfer takes long. */
export type PlanWorkerResponse =
  | { readonly kind: 'read'; readonly result: ImportResult; readonly tasks: number }
  | { readonly kind: 'tasks'; readonly tasks: readonly DocumentTask[] }

export type PlanWorkerRequest =
  | { readonly kind: 'read'; readonly format: TextFormat; readonly text: string; readonly name: string }
  | { readonly kind: 'tasks'; readonly from: number }

interface PlanText {
  readonly format: TextFormat
  readonly text: string
  /** The file's name for messages. */
  readonly name: string
}

/** Reads a plan from its text without blocking the event loop. */
export async function readPlan(source: PlanText): Promise<ImportResult> {
  if (source.text.length <= shortText) return readPlanText(source)
  // The parent's flags, such as a test runner's loaders, must not reach the worker.
  const worker = new Worker(workerFile(), { execArgv: [] })
  try {
    const read = await askWorker(worker, { kind: 'read', ...source })
    if (read.kind !== 'read') throw new Error('The reader of plans answered out of turn.')
    const { result } = read
    if (!result.accepted) return result
    const tasks: DocumentTask[] = []
    while (tasks.length < read.tasks) {
      const part = await askWorker(worker, { kind: 'tasks', from: tasks.length })
      if (part.kind !== 'tasks' || part.tasks.length === 0)
        throw new Error('The reader of plans answered out of turn.')
      for (const task of part.tasks) tasks.push(task)
      await yieldToEventLoop()
    }
    return { ...result, document: { ...result.document, tasks } }
  } finally {
    void worker.terminate()
  }
}

function askWorker(worker: Worker, question: PlanWorkerRequest): Promise<PlanWorkerResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<PlanWorkerResponse>()
  const rejectExit = (code: number) => reject(new Error(`The reader of plans ended with code ${code}.`))
  const deadline = setTimeout(
    () => reject(new Error(`Reading the plan takes longer than ${patience / 1000} seconds.`)),
    patience,
  )
  worker.once('message', resolve).once('error', reject).once('exit', rejectExit)
  worker.postMessage(question)
  return untilEnd(promise).finally(() => {
    clearTimeout(deadline)
    worker.off('message', resolve).off('error', reject).off('exit', rejectExit)
  })
}

/** Bundled, the worker lies beside this file; in the sources Node runs its TypeScript. */
function workerFile(): string {
  const bundled = join(import.meta.dirname, 'plan-worker.js')
  return existsSync(bundled) ? bundled : join(import.meta.dirname, 'plan-worker.ts')
}

/** Formats that are text and only a plan. */
type TextFormat = Exclude<PlanFormat, 'log' | 'taskman'>

/** Larger texts take seconds to read, and no one works through such a plan. */
const maxLines = 500_000
const maxValues = 2_000_000

function sizeProblem(format: TextFormat, text: string): string | null {
  if (format === 'json' || format === 'task-master') {
    return outlineOf(text, maxValues).values > maxValues
      ? `The plan has more than ${maxValues} JSON values. Split it into several files.`
      : null
  }
  let lines = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1
  return lines > maxLines
    ? `The plan has ${lines} lines; at most ${maxLines} are read. Split it into several files.`
    : null
}

export function readPlanText({
  format,
  text,
  name,
}: {
  readonly format: TextFormat
  readonly text: string
  readonly name: string
}): ImportResult {
  const problem = sizeProblem(format, text)
  if (problem !== null) return rejectedImport(problem)
  switch (format) {
    case 'markdown':
      return readMarkdownPlan(text)
    case 'json':
      return readPlanJson(text)
    case 'jsonl':
      return readPlanJsonl(text)
    case 'task-master':
      return readTaskMaster(text)
    case 'beads':
      return readBeads(text)
    case 'backlog':
      return readBacklog([{ path: name, text }])
  }
}

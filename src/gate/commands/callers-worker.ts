import { parentPort } from 'node:worker_threads'
import { calledFromCommand, type LocalConnection } from './processes.ts'

parentPort?.on('message', (connections: readonly LocalConnection[]) =>
  parentPort?.postMessage(calledFromCommand(connections)),
)

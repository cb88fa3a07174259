import { parentPort } from 'node:worker_threads'
import { connectionsFromCommands, type LocalConnection } from './os-processes.ts'

parentPort?.on('message', (connections: readonly LocalConnection[]) =>
  parentPort?.postMessage(connectionsFromCommands(connections)),
)

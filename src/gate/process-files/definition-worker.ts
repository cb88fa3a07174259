import { parentPort } from 'node:worker_threads'
import { readDefinition } from './read-definition.ts'

parentPort?.on('message', (text: string) => parentPort?.postMessage(readDefinition(text)))

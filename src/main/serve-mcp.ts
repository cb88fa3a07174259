import { Failure } from '../domain/failure.ts'
import { readMcpFlags } from './settings/mcp-flags.ts'

export async function serveMcp(words: readonly string[]): Promise<void> {
  readMcpFlags(words)
  throw new Failure('UNAVAILABLE', 'not yet')
}

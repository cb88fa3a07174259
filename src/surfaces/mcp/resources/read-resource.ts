import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import { Failure, type FailureCode } from '../../../domain/failure.ts'
import type { Answer } from '../../../operations/invoke.ts'
import type { Ask } from './ask.ts'
import { changesUri, type ResourceTarget, targetOf } from './resource-uri.ts'

// A page of changes stays below about 2,000 tokens.
const changesShown = 40

/** The content behind an address, as JSON. */
export async function readResource(uri: string, ask: Ask): Promise<ReadResourceResult> {
  const target = targetOf(uri)
  if (!target) throw new ResourceNotFoundError(uri)
  try {
    const content = await contentOf(target, ask)
    if (!content) throw new ResourceNotFoundError(uri)
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(content) }] }
  } catch (error) {
    throw error instanceof Failure ? protocolError(uri, error) : error
  }
}

async function contentOf(target: ResourceTarget, ask: Ask): Promise<Answer | null> {
  if (target.kind === 'changes') return changesFrom(target.id, target.offset, ask)
  const shown = await ask('show', { id: target.id })
  const isTask = shown['kind'] === 'task'
  return isTask === (target.kind === 'task') ? shown : null
}

async function changesFrom(id: string, offset: number, ask: Ask): Promise<Answer> {
  const { next_offset, ...found } = await ask('changes', { id, offset, limit: changesShown })
  return { ...found, next: typeof next_offset === 'number' ? changesUri(id, next_offset) : null }
}

function protocolError(uri: string, { code, message, hint }: Failure): ProtocolError {
  return new ProtocolError(codes[code], hint === undefined ? message : `${message} ${hint}`, { uri, code })
}

const codes = {
  INVALID_INPUT: ProtocolErrorCode.InvalidParams,
  NOT_FOUND: ProtocolErrorCode.InvalidParams,
  CONFLICT: ProtocolErrorCode.InvalidParams,
  REFUSED: ProtocolErrorCode.InvalidParams,
  FORBIDDEN: ProtocolErrorCode.InvalidParams,
  IDEMPOTENCY_KEY_REUSED: ProtocolErrorCode.InvalidParams,
  UNAVAILABLE: ProtocolErrorCode.InternalError,
  INTERNAL: ProtocolErrorCode.InternalError,
} as const satisfies Record<FailureCode, number>

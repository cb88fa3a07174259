import { type ReadResourceResult, ResourceNotFoundError } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { answerBudget, fitSections } from '../../../domain/budget.ts'
import type { Answer } from '../../../operations/operation.ts'
import type { Ask } from './ask.ts'
import { changesUri, type ResourceTarget, targetOf } from './resource-uri.ts'

const changesRead = 60

/** The content behind an address, as JSON. */
export async function readResource(uri: string, ask: Ask): Promise<ReadResourceResult> {
  const target = targetOf(uri)
  const content = target && (await contentOf(target, ask))
  if (!content) throw new ResourceNotFoundError(uri)
  return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(content) }] }
}

async function contentOf(target: ResourceTarget, ask: Ask): Promise<Answer | null> {
  if (target.kind === 'changes') return changesFrom(target.id, target.offset, ask)
  if (target.kind === 'run') return ask('run_summary', { run_id: target.id })
  const shown = await ask('show', { id: target.id, brief: true })
  const isTask = shown['kind'] === 'task'
  return isTask === (target.kind === 'task') ? shown : null
}

/** As many changes as fit an answer, with the address of those that follow. */
async function changesFrom(id: string, offset: number, ask: Ask): Promise<Answer> {
  const { next_offset, changes, ...found } = await ask('changes', { id, offset, limit: changesRead })
  const entries = z.array(z.unknown()).parse(changes)
  const shown = fitSections([{ name: 'changes', entries }], answerBudget).get('changes') ?? entries.length
  const more = shown < entries.length || next_offset !== null
  return { ...found, changes: entries.slice(0, shown), next: more ? changesUri(id, offset + shown) : null }
}

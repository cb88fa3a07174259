import { Failure } from '../../../domain/failure.ts'
import { writeFact } from '../../../operations/journal/journal-line.ts'
import type { RequestContext } from '../app.ts'
import { known } from '../guard/admit.ts'

const usual = 100
const most = 1_000

/** `GET /api/journal?since=<seq>&limit=`: the facts after a position as an export writes them, oldest first. */
export async function readJournal(c: RequestContext): Promise<Response> {
  const { actor } = known(c.var.caller)
  const since = numberIn(c, 'since', { least: 0, most: Number.MAX_SAFE_INTEGER }) ?? 0
  const limit = numberIn(c, 'limit', { least: 1, most }) ?? usual
  const { facts, head } = await c.var.project.contextOf(actor).store.view(async ({ journal }) => ({
    facts: await journal.since(since, limit),
    head: await journal.head(),
  }))
  const next = facts.at(-1)?.seq ?? Math.min(since, head)
  // The lines are JSON already: what is read here and what was exported are the same text.
  const text = `{"facts":[${facts.map(writeFact).join(',')}],"next":${next},"head":${head}}`
  return c.body(text, 200, { 'Content-Type': 'application/json' })
}

interface Range {
  readonly least: number
  readonly most: number
}

function numberIn(c: RequestContext, name: string, range: Range): number | undefined {
  const text = c.req.query(name)
  if (text === undefined || text === '') return undefined
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= range.least && number <= range.most) return number
  const limits = `from ${range.least}${range.most === most ? ` to ${most}` : ''}`
  throw new Failure('INVALID_INPUT', `${name} must be a whole number ${limits}, not "${text.slice(0, 50)}".`)
}

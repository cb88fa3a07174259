import type { Reads, Store, StoreReader } from '../../../store/ports/store.ts'
import { Failure } from '../../failure.ts'

type OperationInput = Readonly<Record<string, unknown>>

/** The reads for each prefix of ids. */
const knownBy: Readonly<Record<string, (reads: Reads) => Pick<Reads['tasks'], 'idsLike'>>> = {
  m: ({ missions }) => missions,
  w: ({ missions }) => missions,
  t: ({ tasks }) => tasks,
  h: ({ inboxItems }) => inboxItems,
  run: ({ runs }) => runs,
  cs: ({ capture }) => capture,
}

const wholeId = 12
const wholeRunId = 36

/**
 * Completes short ids in an input if they are unique: `t-8x` becomes `t-8x2kq0m4v7aa`, and `run-5151d362`, the end of an
 * id as it is shown, the run. People name phases and milestones themselves, so `m-1` may be one.
 */
export async function expandIds(
  store: Pick<StoreReader, 'view'>,
  operation: string,
  input: OperationInput,
): Promise<OperationInput> {
  const isNamed = /_(?:phase|milestone)_/.test(operation)
  const short = Object.entries(input).filter(
    ([field, value]) => isIdField(field) && !(isNamed && field === 'id') && [value].flat().some(isShort),
  )
  if (short.length === 0) return input
  const expanded = await store.view((reads) =>
    Promise.all(short.map(async ([field, value]) => [field, await expandAll(reads, value)] as const)),
  )
  return { ...input, ...Object.fromEntries(expanded) }
}

/** The ids with a prefix, for the completion of a shell. */
export async function idsWithPrefix(store: Store, prefix: string): Promise<readonly string[]> {
  const reads = knownBy[prefix.slice(0, prefix.indexOf('-'))]
  return reads ? store.view((all) => reads(all).idsLike(prefix, 20)) : []
}

async function expandAll(reads: Reads, value: unknown): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((entry) => expandAll(reads, entry)))
  return isShort(value) ? expand(reads, value) : value
}

async function expand(reads: Reads, prefix: string): Promise<string> {
  const kind = prefix.slice(0, prefix.indexOf('-'))
  const matches = (await knownBy[kind]?.(reads).idsLike(prefix, 6)) ?? []
  if (matches.includes(prefix)) return prefix
  if (matches.length < 2) return matches[0] ?? prefix
  const [examples, more] = [matches.slice(0, 5).join(', '), matches.length > 5 ? ' and more' : '']
  throw new Failure('INVALID_INPUT', `${prefix} could be ${examples}${more}.`, {
    reason: 'short_id_ambiguous',
    hint: 'Type more of the id, so that only one matches.',
  })
}

function isIdField(field: string): boolean {
  return (
    (/(^|[-_])ids?$/.test(field) && field !== 'phase_id') || ['mission', 'task', 'depends_on'].includes(field)
  )
}

function isShort(value: unknown): value is string {
  if (typeof value !== 'string') return false
  const [, kind = '', rest = ''] = /^([a-z]+)-([0-9a-z-]*)$/.exec(value) ?? []
  return Object.hasOwn(knownBy, kind) && rest.length < (kind === 'run' ? wholeRunId : wholeId)
}

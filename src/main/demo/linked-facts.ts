import type { Fact } from '../../domain/fact.ts'
import { beforeFirst, factRows } from '../../storage/rows/fact-row.ts'

/** The same facts with hashes of their own, each over the one before. */
export function linkFacts(facts: readonly Fact[]): readonly Fact[] {
  let head = { seq: 0, head: beforeFirst }
  return facts.map(({ at, actor, happening }) => {
    const [row] = factRows({ projectId: '', at, actor }, [happening], head)
    if (!row) throw new Error('one happening is one row')
    head = { seq: row.seq, head: row.hash }
    return { seq: row.seq, at, version: row.version, actor, happening, hash: row.hash }
  })
}

import { z } from 'zod'
import type { Reads } from '../../ports/store.ts'
import { defineOperation } from '../operation.ts'
import { journalMark, writeFact } from './journal-line.ts'

const page = 5_000

export const exportProject = defineOperation({
  name: 'export',
  command: 'export',
  toolset: 'track',
  audience: 'both',
  title: 'Export the project',
  description:
    'The whole record as JSON lines, hashes included: `import` restores it elsewhere, exactly as it is.',
  kind: 'query',
  input: z.strictObject({}),
  output: z.looseObject({ facts: z.int(), text: z.string() }),
  print: (answer) => [String(answer['text'])],
}).handler(({ store }) =>
  store.view(async (reads) => {
    const lines = await allLines(reads)
    return { facts: lines.length, text: [JSON.stringify(journalMark), ...lines].join('\n') }
  }),
)

async function allLines({ journal }: Reads): Promise<readonly string[]> {
  const lines: string[] = []
  for (;;) {
    const facts = await journal.since(lines.length, page)
    for (const fact of facts) lines.push(writeFact(fact))
    if (facts.length < page) return lines
  }
}

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Fact } from '../../src/domain/fact.ts'
import { linkFacts } from '../../src/main/demo/linked-facts.ts'
import { homeMark, recordingFiles } from '../../src/main/demo/recording.ts'
import { journalMark, readFact, writeFact } from '../../src/operations/journal/journal-line.ts'
import { git, keepTree, packObjects, textsIn } from './keep-work.ts'

/** What is kept of a day: where it was lived through, and how its programs were run. */
export interface Lived {
  readonly home: string
  readonly environment: Record<string, string>
}

/** Writes the recording: the journal, the repository with its snapshots, and the objects of both. */
export function keepRecording({ home, environment }: Lived, to: string): void {
  mkdirSync(to, { recursive: true })
  const main = join(home, 'waymark')
  const listed = git(main, environment, 'worktree', 'list', '--porcelain')
  const folders = [...listed.matchAll(/^worktree (.+)$/gm)].map(([, folder]) => folder ?? '')
  const trees = folders.map((folder) => keepTree(folder, { home, environment }))
  const work = { texts: textsIn(home, folders), trees }
  const bin = join(import.meta.dirname, '..', '..', 'bin', 'waymark.js')
  const exported = execFileSync(process.execPath, [bin, 'export'], {
    cwd: main,
    env: environment,
    encoding: 'utf8',
  })
  const [, ...lines] = exported.trim().split('\n')
  const facts = lines.map((line, at) => readFact(nameless(line, home), at + 2))
  writeFileSync(join(to, recordingFiles.journal), small(journalText(facts)))
  writeFileSync(join(to, recordingFiles.work), small(nameless(JSON.stringify(work), home)))
  writeFileSync(join(to, recordingFiles.objects), packObjects(main, home, environment))
}

function journalText(facts: readonly Fact[]): string {
  return [JSON.stringify(journalMark), ...linkFacts(facts).map(writeFact)].join('\n')
}

/** Without the folder and the name of the machine that it was recorded on. */
function nameless(text: string, home: string): string {
  return text.replaceAll(home, homeMark).replaceAll(`"runner":"${hostname()}:`, '"runner":"recorder:')
}

function small(text: string): Buffer {
  return gzipSync(text, { level: 9 })
}

import type { EvidenceFiles } from '../ports/evidence-files.ts'
import { contentsOf } from './contents.ts'
import { readEvidence } from './read-evidence.ts'
import { standingOf } from './standing.ts'

/** Reads evidence on this machine's disk. */
export function evidenceFiles(): EvidenceFiles {
  return { read: readEvidence, standing: standingOf, contents: contentsOf }
}

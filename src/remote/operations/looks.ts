import type { PortCallName } from './port-calls.ts'

/**
 * What a server may ask of a machine during an operation that does not declare its measurements yet. For every other
 * operation, and for every other call, the answer is no.
 */

const changes = [
  'witness.snapshot',
  'witness.changes',
  'witness.touched',
  'witness.packages',
  'witness.states',
  'witness.contents',
  'copies.contents',
] as const satisfies readonly PortCallName[]

/** What the guards of a run look at, and what an approval is bound to. */
const run = [
  ...changes,
  'witness.locate',
  'witness.treeHash',
  'witness.content',
  'witness.branch',
  'evidenceFiles.freshness',
  'evidenceFiles.contents',
  'shownContents.isKept',
  'shownContents.keep',
  'shownContents.since',
  'commandApprovals.hashOf',
  'commandApprovals.filesOf',
  'commandApprovals.isApproved',
  'commandApprovals.refusalOf',
  'commandApprovals.list',
] as const satisfies readonly PortCallName[]

export const looks: Readonly<Record<string, readonly PortCallName[]>> = {
  show: [...run, 'processFiles.load', 'linkedTrees.bound'],
  review_show: run,
  review_send: run,
}

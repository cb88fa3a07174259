import {
  approvedContent,
  type ContentParts,
  differenceWords,
  isContent,
  isContentName,
  revisionContent,
  shortenContent,
} from '../../gate/domain/approved-content.ts'
import { awaitedDecision } from '../../gate/domain/decisions.ts'
import { shownCommandOf, storeShownCommand } from '../../gate/operations/run/commands.ts'
import { engineRun } from '../../gate/operations/run/evidence.ts'
import { gatherApprovedContent } from '../../gate/operations/run/external-state.ts'
import type { LoadedRun } from '../../gate/ports/run-reads.ts'
import type { WorkTreeWitness } from '../../git/ports/work-tree.ts'
import { Failure } from '../../kernel/failure.ts'
import type { Context, QueryContext } from '../../kernel/operations/operation.ts'
import type { InboxItem, InboxItemRequest } from '../../track/domain/records.ts'

/** What an answer to a hold or a run is bound to, as it is now. */
export interface ApprovalContent {
  /** The hash of it all, or the run's revision where nothing can be hashed. */
  readonly content: string
  /** What each approval that the state asks for would be bound to, by what it is of; null where there is nothing. */
  readonly approvals: ReadonlyMap<string | null, string | null>
  readonly parts: () => Promise<ContentParts>
}

/** What a run shows to the person who decides about it: its state, its files as they were handed in, what is to be approved. */
export async function shownContentOfRun(context: QueryContext, loaded: LoadedRun): Promise<ApprovalContent> {
  const { fingerprint, evidenceFiles, folder } = context
  const { record, definition, artifacts, visits } = loaded
  const asked = record.status === 'active' ? (awaitedDecision(definition, record.state)?.approvals ?? []) : []
  const external = await gatherApprovedContent(context, loaded, asked)
  const run = engineRun(loaded, external.standings)
  const approvals = new Map(
    asked.map(({ of }) => {
      const content = approvedContent(definition, run, {
        of,
        tree: external.approvedTree,
        changes: external.changes?.files ?? null,
      })
      return [of, content && fingerprint(content)] as const
    }),
  )
  const files = artifacts.map(({ type, path, sha256 }) => `${type} ${path} ${sha256}`).sort()
  const entered = visits.find(({ state }) => state === record.state)?.last ?? 1
  const { state, context: known } = record
  const bound = [...approvals].map(([of, content]) => ({ of, content }))
  const isBare = files.length === 0 && bound.every(({ content }) => content === null)
  const whole = { process: record.process.hash, state, entered, context: known, files, bound }
  return {
    content: isBare ? revisionContent(record.revision) : fingerprint(whole),
    approvals,
    parts: async () => {
      const changed = external.changes?.files.map(({ path }) => path) ?? []
      const top = changed.length === 0 ? folder : (await context.witness.locate(folder)).top
      const unseen = artifacts.map(({ path, sha256 }) => ({ path, sha256, text: null }))
      return {
        files: external.elsewhere
          ? unseen
          : [
              ...(await evidenceFiles.contents(folder, [...new Set(artifacts.map(({ path }) => path))])),
              ...(await evidenceFiles.contents(top, changed)),
            ],
        facts: {
          state,
          'entered at revision': `${entered}`,
          ...(isBare && { revision: `${record.revision}` }),
          context: JSON.stringify(known).slice(0, 2000),
          'files handed in': fingerprint(files),
          ...(external.approvedTree !== null && { 'work tree': external.approvedTree }),
        },
      }
    },
  }
}

/** What a hold shows; null for one whose answer is words alone: what it asks does not change. */
export async function shownContentOfItem(
  context: QueryContext,
  hold: InboxItem,
): Promise<ApprovalContent | null> {
  const { request, runId } = hold
  if (hold.status !== 'open' || request === null) return null
  if (request.kind === 'command') {
    return request.edge === context.edge?.id ? shownCommandOf(context, request) : shownCommandContent(request)
  }
  const loaded = runId === null ? null : await context.store.view(({ runs }) => runs.load(runId))
  return loaded && shownContentOfRun(context, loaded)
}

/** What would run on another machine is shown as that one asked about it. */
function shownCommandContent({
  hash,
  run,
  folder,
  files = [],
}: Extract<InboxItemRequest, { kind: 'command' }>): ApprovalContent {
  return {
    content: hash,
    approvals: new Map(),
    parts: async () => ({
      files: files.map((file) => ({ ...file, text: null })),
      facts: { command: run, folder },
    }),
  }
}

/** The contents of several holds, by the hold's id, and kept: a tree that several of them ask for is measured once. */
export async function shownContentsOf(
  context: QueryContext,
  holds: readonly InboxItem[],
): Promise<ReadonlyMap<string, string>> {
  const once = { ...context, witness: cacheTreeHashes(context.witness) }
  const contents = new Map<string, string>()
  for (const hold of holds) {
    const shown = await shownContentOfItem(once, hold)
    if (shown) contents.set(hold.id, await storeShownContent(context, shown))
  }
  return contents
}

/** The content to answer with, kept so that a change since can be told. */
export async function storeShownContent(
  context: QueryContext,
  shown: Pick<ApprovalContent, 'content' | 'parts'>,
): Promise<string> {
  await storeShownCommand(context, shown)
  return shown.content
}

function cacheTreeHashes(witness: WorkTreeWitness): WorkTreeWitness {
  const trees = new Map<string, Promise<string>>()
  return {
    ...witness,
    treeHash: (folder) => {
      const known = trees.get(folder) ?? witness.treeHash(folder)
      trees.set(folder, known)
      return known
    },
  }
}

/**
 * Fails with CONFLICT where what someone saw is not what is there, with the difference. Answers what is there where it
 * is the same, and null where no one says what they saw.
 */
export async function assertContentSeen(
  context: Context,
  { id, seen }: { readonly id: string; readonly seen: string | undefined },
  look: () => Promise<ApprovalContent | null>,
): Promise<ApprovalContent | null> {
  if (seen === undefined) return null
  if (!isContentName(seen)) {
    throw new Failure(
      'INVALID_INPUT',
      `"${seen.slice(0, 80)}" is not a content: give its hash, or at least the first 6 characters of it, or a revision such as r3.`,
      { reason: 'content_invalid', hint: 'waymark inbox shows the content of each question.' },
    )
  }
  const shown = await look()
  if (shown === null) {
    throw new Failure(
      'INVALID_INPUT',
      `${id} is answered in words: it has no content that could be "${seen}".`,
      { reason: 'content_not_applicable', hint: 'Leave the content out.' },
    )
  }
  if (isContent(seen, shown.content)) return shown
  throw await contentChangedFailure(context, { id, seen, shown })
}

async function contentChangedFailure(
  context: Context,
  { id, seen, shown }: { readonly id: string; readonly seen: string; readonly shown: ApprovalContent },
): Promise<Failure> {
  const now = await shown.parts()
  const difference = await context.shownContents.since(seen, now)
  await context.shownContents.keep(shown.content, now)
  const words = difference && differenceWords(difference)
  const what = words ? `: ${words}` : '; what you saw is no longer kept, so the difference is not known'
  return new Failure(
    'CONFLICT',
    `${id} is not what you saw (${shortenContent(seen)} → ${shortenContent(shown.content)})${what}.`,
    {
      reason: 'content_changed',
      hint: `Look at it again; then answer with --content ${shortenContent(shown.content)}.`,
      details: { id, shown: seen, content: shown.content, difference },
    },
  )
}

/** What was to be approved changed between the look at it and the approval. */
export function concurrentChangeFailure(id: string): Failure {
  return new Failure('CONFLICT', `${id} changed while you answered: nothing was decided.`, {
    reason: 'content_changed',
    hint: 'Look at it again: waymark inbox.',
  })
}

import { Failure } from '../../../domain/failure.ts'
import { isOfChanges } from '../../../domain/gate/approved-content.ts'
import { isOfType } from '../../../domain/gate/artifact-type.ts'
import type { ProcessDefinition } from '../../../domain/gate/definition.ts'
import type { Need } from '../../../domain/gate/evidence.ts'
import type { CommandGuard } from '../../../domain/gate/guards/command.ts'
import { commandsFor, neededFor } from '../../../domain/gate/needs.ts'
import type { KeptArtifact } from '../../../domain/gate/run-record.ts'
import type { SchemaProblem } from '../../../domain/gate/schema/schema-words.ts'
import type { LoadedRun } from '../../../ports/reads/run-reads.ts'
import type { TreeStanding } from '../../../ports/work-tree.ts'
import type { Context, Handling } from '../../context.ts'
import { measure } from '../../task/measure.ts'
import { subjectOf } from '../subject.ts'
import type { OpenChanges } from './change-facts.ts'
import type { HandedIn } from './handed-in.ts'
import { type MeasuredChanges, measuredChanges } from './measured-changes.ts'

/** What is slow and outside the database, gathered before a decision with no transaction open. */
export interface Outside {
  /** The revision it was gathered for. */
  readonly revision: number
  readonly needs: readonly Need[]
  /** How the files that were handed in stand now, by path. */
  readonly standings: ReadonlyMap<string, 'current' | 'changed' | 'deleted'>
  readonly openChanges: OpenChanges
  /** What an approval of the measured changes is bound to; null where none asks for it, or they cannot be measured. */
  readonly changes: MeasuredChanges | null
  /** Hash of the tree's content; null where nothing asks for it, or it cannot be measured. */
  readonly tree: string | null
  /** Of each file of that tree, what changes when it is written; empty where no command is asked for. */
  readonly stamps: TreeStanding['stamps']
  readonly commands: readonly ApprovableCommand[]
  /** The files that come with the event. */
  readonly handedIn: readonly HandedIn[]
  /** What is wrong with files that came with it and cannot be evidence. */
  readonly unusable: readonly SchemaProblem[]
  readonly folder: string
}

export interface ApprovableCommand {
  readonly guard: CommandGuard
  /** Of the line, the folder and the pinned files: what a person approves. */
  readonly hash: string
  readonly approved: boolean
  /** Of a command that a person said no to as it is. */
  readonly refusal: { readonly by: string; readonly reason: string; readonly hash: string } | null
  /** What a result of it is for: the tree, and of a command that pins files their content too, which git may ignore. */
  readonly tree: string | null
}

/** Gathers what the guards of an event look at in the run's state, of all its events without one; and what is approved. */
export async function gatherOutside(
  handling: Handling,
  { record, definition, artifacts }: LoadedRun,
  event: string | undefined,
  approvals: readonly { readonly role: string; readonly of: string | null }[] = [],
): Promise<Outside> {
  const { evidenceFiles, folder, witness } = handling
  const needs = [
    ...neededFor(definition, record.state, event),
    ...approvals.map(({ role, of }): Need => ({ kind: 'approvals', role, of })),
  ]
  const looked = artifacts.filter((file) => needs.some((need) => looksAt(definition, need, file)))
  const standing = looked.length === 0 ? [] : await evidenceFiles.standing(folder, looked)
  const tree = await treeFor(needs, { witness, folder })
  const wantsChanges = needs.some((need) => need.kind === 'approvals' && isOfChanges(definition, need.of))
  const subject = subjectOf(record)
  const openChanges =
    wantsChanges || needs.some(({ kind }) => kind === 'changes')
      ? await measureOpen(handling, subject)
      : new Map()
  return {
    revision: record.revision,
    needs,
    standings: new Map(looked.map(({ path }, at) => [path, standing[at] ?? 'deleted'])),
    openChanges,
    changes: wantsChanges ? await measuredChanges(handling, subject, openChanges) : null,
    ...tree,
    commands: await approvableCommands(handling, commandsFor(definition, record.state, event), tree.tree),
    handedIn: [],
    unusable: [],
    folder,
  }
}

/** Gathers only what approvals are bound to. */
export async function gatherApproved(
  context: Context,
  { artifacts, definition, record }: LoadedRun,
  approvals: readonly { readonly of: string | null }[],
): Promise<Pick<Outside, 'standings' | 'tree' | 'changes'>> {
  const { evidenceFiles, folder, witness } = context
  const subject = subjectOf(record)
  const isState = approvals.some(({ of }) => of === null)
  const looked = artifacts.filter(
    (file) => isState || approvals.some(({ of }) => of !== null && isOfType(definition.artifacts, file, of)),
  )
  const standing = looked.length === 0 ? [] : await evidenceFiles.standing(folder, looked)
  return {
    standings: new Map(looked.map(({ path }, at) => [path, standing[at] ?? 'deleted'])),
    tree: isState ? await measuredTree(() => witness.treeHash(folder)) : null,
    changes: approvals.some(({ of }) => isOfChanges(definition, of))
      ? await measuredChanges(context, subject, await measureOpen(context, subject))
      : null,
  }
}

/** Whether a need asks for files of a type: an approval of the state is about all of them. */
function looksAt({ artifacts }: ProcessDefinition, need: Need, file: KeptArtifact): boolean {
  if (need.kind === 'artifacts') return isOfType(artifacts, file, need.type)
  return need.kind === 'approvals' && (need.of === null || isOfType(artifacts, file, need.of))
}

function approvesState(need: Need): boolean {
  return need.kind === 'approvals' && need.of === null
}

async function measureOpen(handling: Context, subject: ReturnType<typeof subjectOf>): Promise<OpenChanges> {
  if (subject === null) return new Map()
  const attempts = await handling.store.view(({ runs }) => runs.attemptsOf(subject))
  const open = attempts.filter(({ status }) => status === 'open')
  const measured = await Promise.all(
    open.map(async (attempt) => [attempt.id, await measure(handling, attempt)] as const),
  )
  return new Map(measured)
}

async function treeFor(
  needs: readonly Need[],
  { witness, folder }: Pick<Handling, 'witness' | 'folder'>,
): Promise<Pick<Outside, 'tree' | 'stamps'>> {
  if (needs.some(({ kind }) => kind === 'command')) {
    const standing = await measuredTree(() => witness.standing(folder))
    return { tree: standing?.hash ?? null, stamps: standing?.stamps ?? new Map() }
  }
  const tree = needs.some(approvesState) ? await measuredTree(() => witness.treeHash(folder)) : null
  return { tree, stamps: new Map() }
}

/** A tree that cannot be measured is no tree: no result and no approval counts for it. */
async function measuredTree<Measured>(measureTree: () => Promise<Measured>): Promise<Measured | null> {
  try {
    return await measureTree()
  } catch (error) {
    if (error instanceof Failure && error.code === 'UNAVAILABLE') return null
    throw error
  }
}

async function approvableCommands(
  { commandApprovals, fingerprint, folder }: Handling,
  guards: readonly CommandGuard[],
  tree: string | null,
): Promise<readonly ApprovableCommand[]> {
  return Promise.all(
    guards.map(async (guard) => {
      const hash = await commandApprovals.hashOf({ run: guard.run, folder, pinned: guard.pinned })
      const approved = await commandApprovals.isApproved(hash)
      const refused = approved ? null : await commandApprovals.refusalOf(hash)
      return {
        guard,
        hash,
        approved,
        refusal: refused && { by: refused.by, reason: refused.reason, hash },
        tree: tree === null || guard.pinned.length === 0 ? tree : fingerprint([tree, hash]),
      }
    }),
  )
}

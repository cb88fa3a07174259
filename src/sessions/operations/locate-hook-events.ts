import { z } from 'zod'
import type { WorkTreeWitness } from '../../git/ports/work-tree.ts'
import { messageOf } from '../../kernel/failure.ts'
import { path, place } from '../../kernel/operations/fields.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import { pathBelow } from '../../kernel/path-below.ts'
import type { SnapshotLocation } from '../../track/domain/task.ts'
import type { HookEvent, ToolEdit } from '../domain/hook-event.ts'
import type { LocatedEdit, LocatedHookEvent } from '../domain/turns-from-hook-events.ts'

interface TreeContext {
  readonly witness: Pick<WorkTreeWitness, 'locate' | 'others' | 'snapshot'>
  /** Names a state. */
  readonly nameOf: () => string
  readonly now: () => number
}

/** The state of a work tree, as a machine sends it. */
export const treeState = z.strictObject({
  top: path,
  // A null in an input counts as absent.
  place: place.nullable().default(null),
  takenAt: z.number().min(0),
  error: z.string().max(2_000),
})

/** Finds the work trees of hook events and records the state of each, once. */
export class WorkTreeIndex {
  readonly #context: TreeContext
  readonly #tops = new Map<string, Promise<readonly string[]>>()
  readonly #states: Map<string, Promise<TreeStateResult>>

  /** `recorded`: states that are recorded already, by the tops of their trees. */
  constructor(context: TreeContext, recorded: ReadonlyMap<string, TreeStateResult> = new Map()) {
    this.#context = context
    this.#states = new Map([...recorded].map(([top, state]) => [top, Promise.resolve(state)]))
  }

  /** The top of the work tree that contains a path, of those that belong to a folder. */
  async topOf(folder: string, path = folder): Promise<string> {
    const pending = this.#tops.get(folder) ?? this.#find(folder)
    this.#tops.set(folder, pending)
    const tops = await pending
    const inside = tops.filter((top) => pathBelow(top, path) !== null)
    return inside.toSorted((a, b) => b.length - a.length)[0] ?? tops[0] ?? folder
  }

  async #find(folder: string): Promise<readonly string[]> {
    const { witness } = this.#context
    try {
      const { top } = await witness.locate(folder)
      return [top, ...(await witness.others(folder))]
    } catch {
      return [folder]
    }
  }

  /** The state of a work tree now. */
  state(top: string): Promise<TreeStateResult> {
    const state = this.#states.get(top) ?? this.#record(top)
    this.#states.set(top, state)
    return state
  }

  async #record(top: string): Promise<TreeStateResult> {
    const { witness, nameOf, now } = this.#context
    try {
      const { ref } = await witness.snapshot({ folder: top, name: nameOf() })
      return { place: ref, takenAt: now(), error: '' }
    } catch (error) {
      return { place: null, takenAt: now(), error: messageOf(error) }
    }
  }
}

export interface TreeStateResult {
  readonly place: SnapshotLocation | null
  /** When it was recorded. It includes all earlier writes. */
  readonly takenAt: number
  readonly error: string
}

/** How to store the copies of hooks: any state of their work tree tells how git would store them. */
export interface LocateContext {
  readonly copies: Context['copies']
  readonly trees: WorkTreeIndex
  readonly stateOf: (top: string) => Promise<SnapshotLocation | null>
}

/** Finds the work tree of each hook event and stores its copies. */
export async function locateHookEvents(
  hookEvents: readonly HookEvent[],
  context: LocateContext,
): Promise<readonly LocatedHookEvent[]> {
  const { trees } = context
  const located: {
    readonly hookEvent: HookEvent
    readonly top: string
    readonly edits: readonly EditLocation[]
  }[] = []
  for (const hookEvent of hookEvents) {
    const top = await trees.topOf(hookEvent.folder)
    const edits: EditLocation[] = []
    if (hookEvent.what.kind === 'edit_began' || hookEvent.what.kind === 'edit_ended') {
      for (const edit of hookEvent.what.edits)
        edits.push({ edit, top: await trees.topOf(hookEvent.folder, edit.path) })
    }
    located.push({ hookEvent, top, edits })
  }
  const contents = await storeCopies(
    located.flatMap(({ edits }) => edits),
    context,
  )
  return located.flatMap(({ hookEvent, top, edits }): readonly LocatedHookEvent[] => {
    const { what, ...rest } = hookEvent
    if (what.kind !== 'edit_began' && what.kind !== 'edit_ended') return [{ ...rest, top, what }]
    const failed = what.kind === 'edit_ended' && what.failed
    const { kind, call, tool } = what
    const groups = [...Map.groupBy(edits, (one) => one.top)]
    if (groups.length === 0) groups.push([top, []])
    // A tool that writes into two work trees makes an event in each.
    return groups.map(([tree, some], index) => ({
      ...rest,
      key: index === 0 ? rest.key : `${rest.key}+${index}`,
      top,
      what: { kind, call, tool, failed, edits: some.map((one) => locateEdit(one, tree, contents)) },
    }))
  })
}

interface EditLocation {
  readonly edit: ToolEdit
  readonly top: string
}

function pathInTree(path: string, top: string): string {
  return pathBelow(top, path) || path
}

function locateEdit({ edit }: EditLocation, top: string, contents: ReadonlyMap<string, string>): LocatedEdit {
  const id = edit.copy === null ? undefined : contents.get(edit.copy)
  const content = edit.absent ? null : id
  const path = pathInTree(edit.path, top)
  const meant = contents.get(edit.meant ?? '')
  const onto = contents.get(edit.onto ?? '')
  return {
    top,
    path,
    explained: edit.explained,
    ...(content !== undefined && { content }),
    ...(edit.modifiedAt !== undefined && { modifiedAt: edit.modifiedAt }),
    ...(meant !== undefined && { meant }),
    ...(onto !== undefined && { onto }),
  }
}

async function storeCopies(
  located: readonly EditLocation[],
  { copies, stateOf }: LocateContext,
): Promise<ReadonlyMap<string, string>> {
  const contents = new Map<string, string>()
  if (copies === undefined) return contents
  const copied = located.flatMap(({ edit, top }) =>
    [edit.copy, edit.meant, edit.onto].flatMap((copy) => (copy ? { copy, top, path: edit.path } : [])),
  )
  for (const [top, own] of Map.groupBy(copied, (one) => one.top)) {
    const place = await stateOf(top)
    if (place === null) continue
    const wanted = own.map(({ path, copy }) => ({ path: pathInTree(path, top), copy }))
    const ids = await copies.keep(place, wanted)
    for (const [index, id] of ids.entries()) {
      const copy = wanted[index]?.copy
      if (id !== null && copy !== undefined) contents.set(copy, id)
    }
  }
  return contents
}

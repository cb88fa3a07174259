import { z } from 'zod'
import type { LinkedTree } from '../../git/ports/work-tree.ts'
import { displayName } from '../../kernel/actor.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type { NoteId } from '../../kernel/id.ts'
import {
  losses,
  path,
  tree as treeShape,
  measuredList as upTo,
  words,
} from '../../kernel/operations/fields.ts'
import { findTask } from '../../kernel/operations/find.ts'
import { identifier, name, text } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import {
  measurement,
  prepareSteps,
  requireMeasured,
  type WorkTree,
} from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import { shellCommand } from '../../kernel/shell-word.ts'
import type { Note } from '../../plan/domain/plan.ts'
import { type Attempt, type Task, treeOf } from '../../track/domain/task.ts'
import { lossWords, type TreeLossSummary } from '../../track/domain/tree-losses.ts'

const TreeEntry = z.object({
  path: z.string(),
  branch: z.string().nullable(),
  head: z.string().nullable(),
  exists: z.boolean(),
})

export const workTreeAdd = defineOperation({
  name: 'worktree_add',
  command: 'worktree add',
  toolset: 'track',
  audience: 'both',
  title: 'Create a work tree for a task',
  description:
    'Create a git work tree and a branch for a task, beside the repository. start_task { planned_task_id } then works there. It writes a branch and a linked work tree to your repository, without hooks or filters.',
  kind: 'command',
  positional: ['task_id'],
  input: z.strictObject({
    task_id: identifier('Task ID'),
    folder: text('Folder of the work tree; default: <repository>-<task>, beside the repository').optional(),
    branch: name('Name of the new branch; default <task>-<name of the task>').optional(),
    from: name('Branch, tag or commit to start from; default: HEAD').optional(),
  }),
  output: z.object({
    task_id: z.string(),
    path: z.string(),
    branch: z.string(),
    head: z.string().nullable(),
    notes: strings,
    next: z.string(),
  }),
})
  .measure({
    trees: measurement({
      brief: z.strictObject({}),
      measured: z.strictObject({ top: path, bound: upTo(z.strictObject({ path, taskId: z.string() })) }),
      measure: async (workTree) => ({
        top: await mainTreeOf(workTree),
        bound: [...(await workTree.linkedTrees.bound(workTree.folder))],
      }),
    }),
  })
  .prepare(async () => ({ briefs: { trees: {} }, found: null }))
  .apply({
    plan: z.strictObject({
      taskId: z.string().max(100),
      path,
      branch: z.string().max(300),
      from: z.string().max(300).exactOptional(),
    }),
    applied: treeShape.extend({ notes: upTo(words) }),
    decide: async ({ reads, measured, context: { actor, folder } }, input) => {
      const { top, bound } = requireMeasured(measured.trees)
      const task = await findTask(reads, input.task_id)
      refuseTaskWithTree(task, await reads.tasks.openAttempt(task.id), bound)
      const place =
        input.folder === undefined ? `${nameOf(top)}-${task.id}` : absolutePath(input.folder, folder)
      if (actor.kind === 'agent') refuseElsewhere(place, nameOf(top))
      const { branch = branchOf(task), from } = input
      return { taskId: task.id, path: place, branch, ...(from !== undefined && { from }) }
    },
    apply: ({ linkedTrees, folder }, plan) => linkedTrees.add({ ...plan, folder }),
  })
  .record(async ({ plan: { taskId }, applied, context, setting }) => {
    const branch = applied.branch ?? ''
    const note: Note = {
      id: setting.ids.next('note') as NoteId,
      taskId: taskId as Task['id'], // as it was found
      content: `Its work tree: ${applied.path}, on branch ${branch}.`,
      kind: 'progress',
      role: null,
      author: context.actor.name,
      createdAt: setting.at,
    }
    return {
      events: [{ kind: 'note.added', note }],
      answer: {
        task_id: taskId,
        path: applied.path,
        branch,
        head: applied.head,
        notes: [...applied.notes],
        next: `start_task { planned_task_id: "${taskId}" } works there. A person can start a client in it: waymark worktree start ${taskId}`,
      },
    }
  })

function refuseTaskWithTree(
  task: Task,
  attempt: Attempt | null,
  trees: readonly { readonly path: string; readonly taskId: string }[],
): void {
  if (task.status === 'done') {
    throw new Failure(
      'CONFLICT',
      `Cannot create a work tree for task ${task.id} "${task.name}": it is done.`,
      {
        reason: 'task_completed',
      },
    )
  }
  if (attempt) {
    throw new Failure(
      'CONFLICT',
      `Cannot create a work tree for task ${task.id}: ${displayName(attempt)} works on it in ${attempt.snapshot.top}.`,
      {
        reason: 'task_in_progress',
        hint: hintOf`Complete that attempt first with ${callTo('complete_task', { task_id: task.id })}. Its changes stay where they are.`,
      },
    )
  }
  const bound = trees.find(({ taskId }) => taskId === task.id)
  if (bound) {
    throw new Failure('CONFLICT', `Task ${task.id} already has a work tree: ${bound.path}.`, {
      reason: 'work_tree_exists',
      hint: hintOf`${callTo('start_task', { planned_task_id: task.id })} works there.`,
    })
  }
}

/** A bare repository is called `app.git`; its work trees are named after `app`. */
function nameOf(top: string): string {
  return top.replace(/(?<=[^/])\.git$/, '')
}

/** Agents may create work trees only beside the repository, named after it. */
function refuseElsewhere(place: string, name: string): void {
  if (place.startsWith(`${name}-`) && !/[/\\]/.test(place.slice(name.length))) return
  throw new Failure('FORBIDDEN', `An agent can create a work tree only beside the repository: ${name}-…`, {
    reason: 'work_tree_folder_for_people',
    hint: 'Omit folder, or ask a person to create it there: waymark worktree add --folder',
  })
}

/** Resolves a path against a folder, not the process's working folder. */
function absolutePath(path: string, folder: string): string {
  const whole = /^(?:[/\\]|[a-z]:)/i.test(path) ? path : `${folder}/${path}`
  const parts: string[] = []
  for (const part of whole.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return `${whole.startsWith('/') ? '/' : ''}${parts.join('/')}`
}

/** A name that is valid in every file system and in git. */
function branchOf({ id, name: title }: Task): string {
  const plain = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '')
  return plain === '' ? id : `${id}-${plain}`
}

/** Git reads each one: more would take too long. */
const maxTrees = 100

export const workTreeList = defineOperation({
  name: 'worktree_list',
  command: 'worktree list',
  toolset: 'track',
  audience: 'both',
  title: 'List work trees',
  description:
    'List the linked work trees of the repository: the task of each, who works on it, and what is not committed or merged',
  kind: 'query',
  input: z.strictObject(pageFields(maxTrees, `How many; default ${maxTrees}`)),
  output: z.object({
    work_trees: list(
      TreeEntry.extend({
        task_id: z.string().nullable(),
        task: z.string().nullable(),
        status: z.string().nullable(),
        /** The actor who works on the task, or did last. */
        agent: z.string().nullable(),
        /** An attempt at the task is open. */
        working: z.boolean(),
        /** Null if unknown, as in the next two. */
        uncommitted_files: z.int().nullable(),
        unmerged_commits: z.int().nullable(),
        /** Every commit is also on another branch or tag. */
        merged: z.boolean().nullable(),
      }),
    ),
    ...page,
  }),
})
  .measure({
    trees: measurement({
      brief: z.strictObject({}),
      measured: upTo(treeShape),
      measure: async (workTree) => {
        await mainTreeOf(workTree)
        const trees = await workTree.linkedTrees.list(workTree.folder)
        return trees.map((tree) => ({ ...tree }))
      },
    }),
    losses: measurement({
      brief: upTo(treeShape, 500),
      measured: upTo(losses, 500),
      fits: (trees, found) => trees.length === found.length,
      measure: async ({ linkedTrees, folder }, trees) =>
        Promise.all(trees.map((tree) => linkedTrees.losses(folder, tree))),
    }),
  })
  .prepare((_, input, { actor }, measured) =>
    prepareSteps(measured, async (measure) => {
      const { trees } = await measure({ trees: {} })
      const paging = new Paging('worktree_list', input, actor, maxTrees)
      const { entries, ...rest } = paging.slice(trees, (tree) => tree.path)
      const { losses: lost } = await measure({ losses: entries.map((tree) => ({ ...tree })) })
      return { entries, rest, lost }
    }),
  )
  .answer(async ({ reads, found: { entries, rest, lost } }) => {
    const ids = entries.flatMap(({ taskId }) => (taskId === null ? [] : [taskId]))
    const cards = await reads.tasks.cards([...new Set(ids)])
    const byTask = new Map<string, (typeof cards)[number]>(cards.map((card) => [card.task.id, card]))
    return {
      work_trees: entries.map((tree, at) => {
        const card = byTask.get(tree.taskId ?? '')
        const attempt = card?.attempt ?? null
        const unmerged = lost[at]?.unmerged.total ?? null
        return {
          task_id: tree.taskId,
          task: card?.task.name ?? null,
          status: card?.task.status ?? null,
          agent: attempt && displayName(attempt),
          working: attempt?.status === 'open',
          ...treeEntry(tree),
          uncommitted_files: tree.exists ? (lost[at]?.uncommitted.total ?? null) : null,
          unmerged_commits: unmerged,
          merged: unmerged === null ? null : unmerged === 0,
        }
      }),
      ...rest,
    }
  })

const LossEntry = z.object({ total: z.int().nullable(), first: strings })

export const workTreeRemove = defineOperation({
  name: 'worktree_remove',
  command: 'worktree remove',
  toolset: 'track',
  audience: 'both',
  title: 'Remove the work tree of a task',
  description:
    'Remove the work tree of a task and its branch, with ignored files. Refused if work would be lost: uncommitted files, commits on no other branch, an open attempt.',
  kind: 'command',
  destructive: true,
  positional: ['task_id'],
  input: z.strictObject({
    task_id: identifier('Task ID'),
    force: z
      .boolean()
      .describe('Discard what is not committed or merged, and list it. People only')
      .optional(),
  }),
  output: TreeEntry.extend({
    task_id: z.string(),
    removed: z.boolean(),
    /** The lost changes; only after a forced removal. */
    lost: z.object({ uncommitted: LossEntry, unmerged: LossEntry, submodules: LossEntry }).optional(),
    notes: strings,
  }),
})
  .measure({
    tree: measurement({
      brief: z.strictObject({}),
      measured: treeShape.nullable(),
      measure: async (workTree, _, input) => {
        await mainTreeOf(workTree)
        const trees = await workTree.linkedTrees.list(workTree.folder)
        const tree = trees.find(({ taskId }) => taskId === input['task_id'])
        return tree ? { ...tree } : null
      },
    }),
  })
  .prepare(async () => ({ briefs: { tree: {} }, found: null }))
  .apply({
    plan: treeShape,
    applied: losses.nullable(),
    decide: async ({ reads, measured, context: { actor, machine } }, input) => {
      if (input.force === true && actor.kind !== 'person') {
        throw new Failure(
          'FORBIDDEN',
          `${actor.name} is an agent. Only a person can discard uncommitted or unmerged work of ${input.task_id}.`,
          {
            reason: 'forced_removal_for_people',
            hint: `Commit and merge it and omit --force, or ask a person: waymark worktree remove ${input.task_id} --force`,
          },
        )
      }
      const { tree } = measured
      if (!tree) {
        throw new Failure('NOT_FOUND', `Task ${input.task_id} has no work tree.`, {
          reason: 'work_tree_not_found',
          hint: 'waymark worktree list shows all. Remove your own work trees with git worktree remove.',
        })
      }
      const named = treeOf({ top: tree.path, ...(machine && { machineId: machine.id }) })
      const [open] = await reads.tasks.openInTree(named)
      if (open) {
        throw new Failure(
          'REFUSED',
          `Cannot remove ${tree.path}: ${displayName(open)} works there on ${open.taskId}.`,
          {
            reason: 'work_tree_in_use',
            hint: hintOf`Complete that attempt first with ${callTo('complete_task', { task_id: open.taskId })}.`,
          },
        )
      }
      return { ...tree }
    },
    apply: async ({ linkedTrees, folder }, tree, { force }) => {
      if (force) return linkedTrees.discard(folder, tree)
      await linkedTrees.remove(folder, tree)
      return null
    },
  })
  .record(async ({ plan: tree, applied }, { task_id: taskId }) => {
    const removed = { task_id: taskId, ...treeEntry({ ...tree, exists: false }), removed: true }
    if (applied === null) return { events: [], answer: { ...removed, notes: [] } }
    const losses = lossWords(applied)
    const answer = {
      ...removed,
      lost: {
        uncommitted: lossEntry(applied.uncommitted),
        unmerged: lossEntry(applied.unmerged),
        submodules: lossEntry(applied.submodules),
      },
      notes: [
        losses.length === 0 ? 'Nothing was lost.' : `Lost: ${losses.join('; ')}.`,
        ...recoveryHint(tree, applied.unmerged),
      ],
    }
    return { events: [], answer }
  })

/** Git keeps the commits of a deleted branch for a while. */
function recoveryHint({ branch, head }: LinkedTree, unmerged: TreeLossSummary): readonly string[] {
  if (branch === null || head === null || unmerged.total === 0) return []
  return [`Restore the commits with ${shellCommand`git branch ${branch} ${head}`}, until git cleans up.`]
}

function lossEntry({ total, first }: TreeLossSummary): z.output<typeof LossEntry> {
  return { total, first: [...first] }
}

/** The top folder of the main work tree. Fails without a git repository. */
async function mainTreeOf({ witness, folder }: WorkTree): Promise<string> {
  const { engine, mainTop, reason } = await witness.locate(folder)
  if (engine === 'git') return mainTop
  throw new Failure('UNAVAILABLE', `There are no work trees here. ${reason ?? ''}`.trim(), {
    reason: 'no_git_repository',
    hint: 'Work trees need a git repository.',
  })
}

function treeEntry({ path: top, branch, head, exists }: LinkedTree) {
  return { path: top, branch, head, exists }
}

import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { formatCount } from '../../kernel/text.ts'
import { blocks, warnings } from '../../surfaces/cli/render/parts.ts'
import { table } from '../../surfaces/cli/render/table.ts'
import type { AnswerView, RenderContext } from '../../surfaces/cli/render/view.ts'

type WorkTreeRow = OutputOf<'worktree_list'>['work_trees'][number]

export const workTrees: AnswerView<'worktree_list'> = ({ work_trees: trees }, page) => {
  if (trees.length === 0) {
    return 'The repository has no other work tree. Create one for a task: waymark worktree add <task>'
  }
  const columns = [
    { title: 'task', shrinks: true },
    { title: 'agent' },
    { title: 'branch', shrinks: true },
    { title: 'state', shrinks: true },
    { title: 'folder', shrinks: true },
  ]
  const rows = trees.map((tree) => [
    tree.task_id === null ? page.ink('dim', 'none') : `${tree.task ?? ''} ${page.ink('dim', tree.task_id)}`,
    tree.agent === null ? '' : `${tree.agent}${tree.working ? page.ink('cyan', ' works') : ''}`,
    tree.branch ?? 'on no branch',
    stateOf(tree, page),
    tree.path,
  ])
  return table(columns, rows, page)
}

export const removedTree: AnswerView<'worktree_remove'> = ({ path, branch, notes }, page) =>
  blocks(`Removed ${path}${branch === null ? '' : `, with its branch ${branch}`}.`, warnings(notes, page))

function stateOf(
  { exists, uncommitted_files, unmerged_commits }: WorkTreeRow,
  { ink }: RenderContext,
): string {
  if (!exists) return ink('red', 'its folder is missing')
  const parts = [
    uncommitted_files === null
      ? 'changes unknown'
      : countPhraseOrEmpty(uncommitted_files, 'file', 'not committed'),
    unmerged_commits === null
      ? 'commits unknown'
      : countPhraseOrEmpty(unmerged_commits, 'commit', 'not merged'),
  ].filter((part) => part !== '')
  return parts.length === 0 ? 'all committed and merged' : ink('yellow', parts.join(', '))
}

function countPhraseOrEmpty(count: number, noun: string, what: string): string {
  return count === 0 ? '' : `${formatCount(count, noun)} ${what}`
}

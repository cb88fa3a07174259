import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { formatCount } from '../../../src/kernel/text.ts'
import type { ReviewData, ReviewFileRow } from '../../api/entities.ts'
import { changesInOrder, type DiffNode, diffRows, diffTree } from '../../geometry/diff-tree.ts'
import { plainText } from '../../geometry/line-parts.ts'
import { PlusMinus } from '../../parts/evidence.tsx'
import { FilterField } from '../../parts/list.tsx'
import { fileKey, type ReviewModel } from './model.ts'

interface TreeFile {
  readonly path: string
  readonly added_lines: number | null
  readonly deleted_lines: number | null
  readonly file: ReviewFileRow
}

interface TreeProps {
  readonly review: ReviewModel
  readonly data: ReviewData
  readonly files: readonly ReviewFileRow[]
  readonly go: (file: ReviewFileRow) => void
}

/** The files by folder, with counts and a filter. */
export function FileTree({ review, data, files, go }: TreeProps) {
  const folded = useSignal<ReadonlySet<string>>(new Set())
  const tree = useMemo(() => diffTree(files.map(treeFile)), [files])
  const rows = diffRows(tree, folded.value)
  const current = review.cursor.value?.file
  const fold = (path: string) => {
    const next = new Set(folded.value)
    if (!next.delete(path)) next.add(path)
    folded.value = next
  }
  return (
    <nav class="review-tree" aria-label="Files">
      <FilterField />
      <p class="muted review-tree-count">
        {files.length === data.files.length ? '' : `${files.length} of `}
        {formatCount(data.files.length, 'file')}
      </p>
      <ul>
        {rows.map(({ node, depth }) => (
          <li
            key={`${node.kind} ${node.path}`}
            style={{ '--depth': String(depth) }}
            {...(node.kind === 'file' &&
              fileKey(node.change.file) === current && { 'aria-current': 'true' as const })}
          >
            <Node node={node} isFolded={folded.value.has(node.path)} {...{ fold, go, review }} />
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** In the order of the list, so that the page shows them as it does. */
export function inTreeOrder(files: readonly ReviewFileRow[]): readonly ReviewFileRow[] {
  return changesInOrder(diffTree(files.map(treeFile))).map(({ file }) => file)
}

interface NodeProps {
  readonly node: DiffNode<TreeFile>
  readonly isFolded: boolean
  readonly fold: (path: string) => void
  readonly go: (file: ReviewFileRow) => void
  readonly review: ReviewModel
}

function Node({ node, isFolded, fold, go, review }: NodeProps) {
  if (node.kind === 'folder') {
    return (
      <button type="button" class="tree-folder" aria-expanded={!isFolded} onClick={() => fold(node.path)}>
        <span class="cut" title={plainText(node.name)}>
          {plainText(node.name)}/
        </span>
        {isFolded ? <span class="count">{node.files}</span> : null}
      </button>
    )
  }
  const change = node.change.file
  const comments = change.comments.open + change.comments.answered + change.comments.drafts
  const isViewed = review.isViewed(change)
  const isBack = change.viewed !== null && !change.viewed.current && !isViewed
  return (
    <button
      type="button"
      class="tree-file"
      onClick={() => go(change)}
      {...(isViewed && { 'data-viewed': '' })}
    >
      <span class="tree-sign" data-status={change.status} aria-hidden="true">
        {isViewed ? '✓' : signs[change.status]}
      </span>
      <span class="cut">{plainText(node.name)}</span>
      <span class="visually-hidden">
        , {change.status}
        {isViewed ? ', viewed' : ''}
      </span>
      {isBack ? <span class="tree-back">changed since</span> : null}
      {comments > 0 ? (
        <span class="comment-count">
          {comments}
          <span class="visually-hidden"> {comments === 1 ? 'comment' : 'comments'}</span>
        </span>
      ) : null}
      {change.added === null || change.removed === null ? null : (
        <PlusMinus added_lines={change.added} deleted_lines={change.removed} />
      )}
    </button>
  )
}

const signs = { added: '+', modified: '·', deleted: '−', renamed: '→' } as const satisfies Record<
  ReviewFileRow['status'],
  string
>

/** Of several work trees, each is a folder above its files. */
function treeFile(file: ReviewFileRow): TreeFile {
  const path = file.tree_name === null ? file.path : `${file.tree_name}/${file.path}`
  return { path, added_lines: file.added, deleted_lines: file.removed, file }
}

import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { formatCount } from '../../../src/kernel/text.ts'
import type { MissionFileData } from '../../api/entities.ts'
import { type DiffNode, diffRows, diffTree } from '../../geometry/diff-tree.ts'
import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { PlusMinus } from '../../parts/evidence.tsx'
import { linesOf } from '../../parts/line-links.ts'
import { href, navigate, query, setQuery } from '../../router/location.ts'
import { PendingTab } from './pending-tab.tsx'
import './tabs.css'

type ChangeNode = DiffNode<MissionFileData>

/** The measured changes of all attempts of the mission, as a tree. */
export function ChangesTab({ id }: { readonly id: string }) {
  const { answer, failure } = useQuery('mission_changes', { id, limit: 5_000 })
  const folded = useSignal<ReadonlySet<string>>(new Set())
  const files = answer.value?.files
  const tree = useMemo(() => diffTree(files ?? []), [files])
  const rows = diffRows(tree, folded.value)
  const selected = query.value.get('select')
  const step = (by: number): void => {
    const at = rows.findIndex(({ node }) => node.path === selected)
    const next = rows[Math.min(Math.max(at + by, 0), rows.length - 1)]
    if (!next) return
    setQuery({ select: next.node.path })
    document.getElementById(`change ${next.node.path}`)?.focus()
  }
  const fold = (path: string): void => {
    const next = new Set(folded.value)
    if (!next.delete(path)) next.add(path)
    folded.value = next
  }
  const current = rows.find(({ node }) => node.path === selected)?.node
  useCommands({
    next: () => step(1),
    previous: () => step(-1),
    peek: () => current?.kind === 'folder' && fold(current.path),
    open: () => current && openNode(current, fold),
    left: () => current?.kind === 'folder' && !folded.value.has(current.path) && fold(current.path),
    right: () => current?.kind === 'folder' && folded.value.has(current.path) && fold(current.path),
  })
  if (!answer.value) return <PendingTab failure={failure} />
  if (rows.length === 0) {
    return (
      <div class="tab-page">
        <EmptyState title="The changed files appear here when an attempt ends, as git measures them.">
          <a class="button" href={href(`/missions/${encodeURIComponent(id)}`)}>
            See the timeline
          </a>
        </EmptyState>
      </div>
    )
  }
  return (
    <div class="tab-page">
      <p class="changes-head">
        <b>Measured changes</b> <span class="muted">{formatCount(answer.value.total, 'file')}</span>{' '}
        <PlusMinus {...answer.value} />
        {tree.outOfScope > 0 && <span class="out-word"> {tree.outOfScope} out of scope</span>}
        {answer.value.total > tree.files && (
          <span class="muted">, {formatCount(answer.value.total - tree.files, 'file')} not listed</span>
        )}
      </p>
      <ul class="change-tree" aria-label="Changed files">
        {rows.map(({ node, depth }) => (
          <li
            key={node.path}
            data-scope={node.kind === 'file' ? node.change.scope : null}
            style={{ '--depth': String(depth) }}
            {...(node.path === selected && { 'aria-current': 'true' as const })}
          >
            <ChangeRow node={node} isFolded={folded.value.has(node.path)} fold={fold} />
          </li>
        ))}
      </ul>
    </div>
  )
}

interface ChangeRowProps {
  readonly node: ChangeNode
  readonly isFolded: boolean
  readonly fold: (path: string) => void
}

function ChangeRow({ node, isFolded, fold }: ChangeRowProps) {
  const elementId = `change ${node.path}`
  if (node.kind === 'folder') {
    return (
      <>
        <button
          type="button"
          id={elementId}
          class="change-name"
          aria-expanded={!isFolded}
          onClick={() => fold(node.path)}
        >
          {node.name}/
        </button>
        {node.outOfScope > 0 && isFolded && <span class="out-word">{node.outOfScope} out of scope</span>}
        <span class="muted push">{formatCount(node.files, 'file')}</span>
        <LineCounts added={node.added} deleted={node.deleted} />
      </>
    )
  }
  const { change } = node
  return (
    <>
      <a id={elementId} class="change-name" href={taskDiff(change)}>
        {node.name}
      </a>
      {change.scope === 'out' && <span class="out-word">out of scope</span>}
      <span class="muted push">
        {change.attempts > 1 ? `${change.change}, ${change.attempts} attempts` : change.change}
      </span>
      {change.change === 'deleted' ? null : (
        <a
          class="link change-lines"
          href={linesOf(change.path)}
          aria-label={`Line history of ${change.path}`}
        >
          Line history
        </a>
      )}
      <LineCounts added={change.added_lines} deleted={change.deleted_lines} />
    </>
  )
}

function openNode(node: ChangeNode, fold: (path: string) => void): void {
  if (node.kind === 'folder') fold(node.path)
  else navigate(taskDiff(node.change))
}

function taskDiff({ task_id, path }: MissionFileData): string {
  return href(`/tasks/${task_id}/diff?select=${encodeURIComponent(path)}`)
}

/** Of five squares, how many are lines that came. */
const squares = 5

/** Lines that came and went, in numbers and at a glance. */
function LineCounts({ added, deleted }: { readonly added: number | null; readonly deleted: number | null }) {
  if (added === null || deleted === null) {
    return <span class="changed-numbers muted">lines not counted</span>
  }
  const whole = added + deleted
  const green =
    whole === 0
      ? 0
      : Math.min(
          Math.max(Math.round((added / whole) * squares), added > 0 ? 1 : 0),
          deleted > 0 ? squares - 1 : squares,
        )
  return (
    <>
      <span class="changed-numbers">
        <span class="added">+{added}</span> <span class="deleted">−{deleted}</span>
      </span>
      <span class="squares" aria-hidden="true">
        {Array.from({ length: squares }, (_, place) => (
          <i key={place} data-kind={whole === 0 ? 'none' : place < green ? 'added' : 'deleted'} />
        ))}
      </span>
    </>
  )
}

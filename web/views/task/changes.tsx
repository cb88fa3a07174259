import type { Change, Changes } from '../../api/answers.ts'
import { useCommands } from '../../keys/commands.ts'
import { query, setQuery } from '../../router/location.ts'
import { changeTree, squares } from './change-tree.ts'
import { InlineDiff } from './inline-diff.tsx'

/** What git saw, by folder; a row opens its lines. */
export function ChangeTree({ changes, attempt }: { readonly changes: Changes; readonly attempt: string }) {
  const folders = changeTree(changes.changes)
  const order = folders.flatMap((folder) => folder.changes.map(({ path }) => path))
  const selected = query.value.get('file')
  const open = query.value.get('open')
  const step = (by: number) => () => {
    const at = order.indexOf(selected ?? '')
    const next = order[Math.min(Math.max(at + by, 0), order.length - 1)]
    if (next === undefined) return
    setQuery({ file: next })
    document.getElementById(`file ${next}`)?.scrollIntoView({ block: 'nearest' })
  }
  const toggle = (path: string) => setQuery({ file: path, open: open === path ? null : path })
  useCommands({
    next: step(1),
    previous: step(-1),
    open: () => selected && toggle(selected),
    peek: () => selected && toggle(selected),
    close: () => setQuery({ file: null, open: null }),
  })
  return (
    <div class="tree">
      {folders.map(({ folder, changes: files }, at) => (
        <ul key={`${at} ${folder}`}>
          <li class="folder mono">{folder === '' ? '/' : folder}</li>
          {files.map((change) => (
            <FileRow
              key={change.path}
              change={change}
              isSelected={change.path === selected}
              isOpen={change.path === open}
              toggle={() => toggle(change.path)}
              attempt={attempt}
            />
          ))}
        </ul>
      ))}
    </div>
  )
}

function sharing({ attribution, lines }: Change): string {
  const whose =
    attribution === 'probable'
      ? 'Probably of this attempt; others worked in the same tree.'
      : 'Several could have changed it.'
  return lines === 'all' ? `${whose} The lines are of all writers together.` : whose
}

interface FileRowProps {
  readonly change: Change
  readonly isSelected: boolean
  readonly isOpen: boolean
  readonly toggle: () => void
  readonly attempt: string
}

function FileRow({ change, isSelected, isOpen, toggle, attempt }: FileRowProps) {
  const { path, from, scope, origin, attribution, added_lines, deleted_lines } = change
  const isOut = scope === 'out'
  return (
    <li class="file" {...(isOut && { 'data-out': '' })} {...(isSelected && { 'aria-current': 'true' })}>
      <button type="button" id={`file ${path}`} class="file-row" aria-expanded={isOpen} onClick={toggle}>
        <span class="mono cut file-name">
          {path.slice(path.lastIndexOf('/') + 1)}
          {from === undefined ? null : <span class="muted"> from {from}</span>}
        </span>
        <span class="file-words">
          {isOut ? <b>out of scope</b> : null}
          {scope === 'shared' ? 'shared file' : null}
          {origin === 'task' ? null : (
            <span>{origin === 'imported' ? 'brought in by git' : 'partly brought in'}</span>
          )}
          {attribution === 'certain' ? null : (
            <span title={sharing(change)}>
              {attribution}
              {change.with ? `, with ${change.with.map(({ agent }) => agent).join(' and ')}` : ''}
            </span>
          )}
        </span>
        <span class="file-change muted">{change.change}</span>
        <span class="plus-minus">
          {added_lines === null && deleted_lines === null ? (
            <span class="muted">binary</span>
          ) : (
            <>
              <ins>+{added_lines ?? 0}</ins> <del>−{deleted_lines ?? 0}</del>
            </>
          )}
        </span>
        <span class="squares" aria-hidden="true">
          {squares(added_lines, deleted_lines).map((kind, at) => (
            <i key={at} data-kind={kind} />
          ))}
        </span>
      </button>
      {isOpen ? <InlineDiff attempt={attempt} path={path} /> : null}
    </li>
  )
}

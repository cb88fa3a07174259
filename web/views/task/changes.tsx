import { formatCount } from '../../../src/kernel/text.ts'
import { broughtByGit, namesWithMore, sumOfOwnLines } from '../../../src/track/domain/changes.ts'
import type { ChangeData, ChangesData } from '../../api/entities.ts'
import { attributionWords } from '../../geometry/line-ranges.ts'
import { useCommands } from '../../keys/commands.ts'
import { InlineDiff } from '../../parts/diff.tsx'
import { PlusMinus } from '../../parts/evidence.tsx'
import { query, setQuery } from '../../router/location.ts'

/** The measured changes, by folder; a row opens its diff. */
export function ChangeTree({
  changes,
  attempt,
}: {
  readonly changes: ChangesData
  readonly attempt: string
}) {
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

/** The sums of the lines that the attempt added and deleted. */
export function linesOfChanges(changes: readonly ChangeData[]) {
  const { addedLines, deletedLines } = sumOfOwnLines(
    changes.map(({ origin, added_lines, deleted_lines, brought_lines }) => ({
      origin,
      addedLines: added_lines,
      deletedLines: deleted_lines,
      broughtLines: brought_lines,
    })),
  )
  return { added_lines: addedLines, deleted_lines: deletedLines }
}

function sharingText({ attribution, lines }: ChangeData): string {
  const author =
    attribution === 'probable'
      ? 'Probably by this attempt: others worked in the same tree.'
      : 'Several agents could have changed it.'
  return lines === 'all' ? `${author} The line counts include all authors.` : author
}

function broughtText({ origin, added_lines, brought_lines, brought_by }: ChangeData): string {
  if (origin === 'imported' || (brought_lines !== undefined && brought_lines === added_lines))
    return broughtByGit(brought_by)
  if (brought_lines !== undefined) return `${formatCount(brought_lines, 'line')} ${broughtByGit(brought_by)}`
  return origin === 'mixed' ? 'partly brought by git' : ''
}

interface FileRowProps {
  readonly change: ChangeData
  readonly isSelected: boolean
  readonly isOpen: boolean
  readonly toggle: () => void
  readonly attempt: string
}

function FileRow({ change, isSelected, isOpen, toggle, attempt }: FileRowProps) {
  const { path, from, scope, attribution, added_lines, deleted_lines } = change
  const isOut = scope === 'out'
  const broughtByGit = broughtText(change)
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
          {broughtByGit === '' ? null : <span>{broughtByGit}</span>}
          {attribution === 'certain' ? null : (
            <span title={sharingText(change)}>
              {attributionWords[attribution]}
              {change.with
                ? `, with ${namesWithMore(
                    change.with.map(({ agent }) => agent),
                    change.with_total,
                  ).join(', ')}`
                : ''}
            </span>
          )}
        </span>
        <span class="file-change muted">{change.change}</span>
        <PlusMinus added_lines={added_lines} deleted_lines={deleted_lines} />
        <span class="squares" aria-hidden="true">
          {changeSquares(added_lines, deleted_lines).map((kind, at) => (
            <i key={at} data-kind={kind} />
          ))}
        </span>
      </button>
      {isOpen ? <InlineDiff attempt={attempt} path={path} /> : null}
    </li>
  )
}

/** The files of one folder, in one part of the tree. */
interface FolderOfChanges {
  readonly folder: string
  readonly changes: readonly ChangeData[]
}

/** By folder, in order. Files out of scope come first. */
function changeTree(changes: readonly ChangeData[]): readonly FolderOfChanges[] {
  const outside = changes.filter(({ scope }) => scope === 'out')
  const inside = changes.filter(({ scope }) => scope !== 'out')
  return [...foldersOf(outside), ...foldersOf(inside)]
}

function foldersOf(changes: readonly ChangeData[]): readonly FolderOfChanges[] {
  const folders = Map.groupBy(changes, ({ path }) => path.slice(0, Math.max(0, path.lastIndexOf('/'))))
  return [...folders]
    .map(([folder, inFolder]) => ({
      folder,
      changes: inFolder.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    }))
    .sort((a, b) => (a.folder < b.folder ? -1 : 1))
}

/** Five squares, as many green and red ones as the lines are. */
function changeSquares(
  added: number | null,
  deleted: number | null,
): readonly ('added' | 'deleted' | 'none')[] {
  if (added === null || deleted === null || added + deleted === 0)
    return ['none', 'none', 'none', 'none', 'none']
  const total = added + deleted
  const filled = Math.min(5, total)
  const exact = (filled * added) / total
  const green = Math.min(
    Math.max(Math.round(exact), added > 0 ? 1 : 0),
    filled - (deleted > 0 && filled > 1 ? 1 : 0),
  )
  return Array.from({ length: 5 }, (_, at) => (at < green ? 'added' : at < filled ? 'deleted' : 'none'))
}

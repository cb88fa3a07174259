import { useEffect, useState } from 'preact/hooks'
import { formatCount } from '../../../src/kernel/text.ts'
import { restoreGapWords } from '../../../src/track/domain/restore.ts'
import { call } from '../../api/call.ts'
import type { RestoreData } from '../../api/entities.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { DiffText } from '../../parts/diff.tsx'
import { Skeleton } from '../../parts/empty-state.tsx'
import { RefusalMessage } from '../../parts/refusal.tsx'
import { TerminalCommand } from '../../parts/terminal-command.tsx'
import { showToast } from '../../shell/toasts.tsx'

interface RestoreDialogProps {
  /** The inbox item about the lost files. */
  readonly item: string
  readonly close: () => void
}

/** Shows what bringing back lost files would write, and writes exactly that. */
export function RestoreDialog({ item, close }: RestoreDialogProps) {
  const [force, setForce] = useState(false)
  const [preview, setPreview] = useState<RestoreData | null>(null)
  const [refusal, setRefusal] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  useEffect(() => {
    let isCurrent = true
    call('restore', { id: item, dry_run: true, ...(force && { force }) }).then(
      (answer) => isCurrent && setPreview(answer),
      (error: unknown) => isCurrent && setRefusal(error),
    )
    return () => {
      isCurrent = false
    }
  }, [item, force])
  const write = async (shown: RestoreData) => {
    setBusy(true)
    // What is written is what is shown: the files by their names, where others are in the way.
    const paths = isBlocked(shown) ? shown.files.map(({ path }) => `${shown.work_tree}/${path}`) : undefined
    const { content } = shown
    try {
      const { files_total: total } = await call('restore', {
        id: item,
        ...(paths && { paths }),
        ...(force && { force }),
        yes: true,
        content,
      })
      showToast({ kind: 'done', text: `Restored ${formatCount(total, 'file')}` })
      close()
    } catch (error) {
      setRefusal(error)
      setBusy(false)
    }
  }
  const isListed = preview !== null && preview.files.length === preview.files_total
  const isWritable =
    refusal === null && preview !== null && preview.files_total > 0 && (isListed || !isBlocked(preview))
  return (
    <Dialog title="Restore lost files" class="restore" close={close}>
      <div class="restore-preview">
        {refusal === null ? (
          preview === null ? (
            <Skeleton />
          ) : (
            <Preview preview={preview} force={force} setForce={setForce} />
          )
        ) : (
          <>
            <RefusalMessage error={refusal} />
            <TerminalCommand words={`restore ${item}`} />
          </>
        )}
      </div>
      <div class="verbs">
        {isWritable ? (
          <button
            type="button"
            class="button"
            data-kind="primary"
            disabled={isBusy}
            onClick={() => void write(preview)}
          >
            Write {formatCount(preview.files_total, 'file')}
          </button>
        ) : null}
        <button type="button" class="button" onClick={close}>
          Cancel
        </button>
      </div>
    </Dialog>
  )
}

/** Whether files stay as they are that were to be restored, too. */
function isBlocked({ newer_total, refused }: RestoreData): boolean {
  return newer_total + refused.length > 0
}

interface PreviewProps {
  readonly preview: RestoreData
  readonly force: boolean
  readonly setForce: (force: boolean) => void
}

function Preview({ preview, force, setForce }: PreviewProps) {
  const {
    files,
    files_total: total,
    newer,
    newer_total,
    refused,
    left_out: leftOut,
    diff,
    truncated,
  } = preview
  return (
    <>
      <p>
        {total === 0 ? 'Nothing would be written in ' : `${formatCount(total, 'file')} would be written in `}
        <code>{preview.work_tree}</code>. What is replaced is kept as a snapshot.
      </p>
      <PathList name="Files" rows={files.map(({ path, action }) => [path, action])} />
      <PathList
        name="Newer content, which stays"
        rows={newer.map((path) => [path, ''])}
        more={newer_total - newer.length}
      />
      {newer_total > 0 || force ? (
        <label class="restore-force">
          <input
            type="checkbox"
            checked={force}
            onChange={({ currentTarget }) => setForce(currentTarget.checked)}
          />{' '}
          Also overwrite newer content
        </label>
      ) : null}
      <PathList name="Cannot be written" rows={refused.map(({ path, problem }) => [path, problem])} />
      <PathList
        name="Not kept"
        rows={leftOut.map(({ path, why }) => [path, restoreGapWords[why]])}
        more={preview.left_out_total - leftOut.length}
      />
      {total === 0 ? null : <DiffText text={diff} />}
      {truncated ? <p class="muted">The rest is too long to show.</p> : null}
    </>
  )
}

interface PathListProps {
  readonly name: string
  readonly rows: readonly (readonly [path: string, note: string])[]
  readonly more?: number
}

function PathList({ name, rows, more = 0 }: PathListProps) {
  if (rows.length === 0) return null
  return (
    <section aria-label={name}>
      <h3>{name}</h3>
      <ul>
        {rows.map(([path, note]) => (
          <li key={path}>
            <code>{path}</code> <span class="muted">{note}</span>
          </li>
        ))}
        {more > 0 ? <li class="muted">{more} more</li> : null}
      </ul>
    </section>
  )
}

import { useMemo } from 'preact/hooks'
import { told } from '../../api/call.ts'
import { useQuery } from '../../live/query.ts'
import { Diff } from '../../parts/diff/diff.tsx'
import { parseDiff } from '../../parts/diff/parse-diff.ts'

/** The lines of one file, or of all where none is named. Read when it is opened, not with every fact. */
export function InlineDiff({ attempt, path }: { readonly attempt: string; readonly path?: string }) {
  const { answer, failure } = useQuery('diff', { id: attempt, ...(path !== undefined && { path }) }, never)
  const text = answer.value?.diff
  const files = useMemo(() => (text === undefined ? null : parseDiff(text)), [text])
  if (failure.value !== null) return <p class="muted diff-note">{told(failure.value)}</p>
  if (files === null) return <p class="muted diff-note">Reading…</p>
  if (files.length === 0) return <p class="muted diff-note">No line of it changed.</p>
  return (
    <>
      {files.map((file) => (
        <section key={file.path}>
          {path === undefined ? <h2 class="diff-file mono">{file.path}</h2> : null}
          <Diff file={file} />
        </section>
      ))}
      {answer.value?.truncated ? <p class="muted diff-note">The rest is too long to be shown here.</p> : null}
    </>
  )
}

function never(): boolean {
  return false
}

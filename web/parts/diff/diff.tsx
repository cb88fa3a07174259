import type { FileDiff } from './parse-diff.ts'
import './diff.css'

/** The lines of one file. */
export function Diff({ file }: { readonly file: FileDiff }) {
  const { hunks, notes } = file
  return (
    <section class="diff" aria-label={`Changes of ${file.path}`}>
      {notes.length > 0 && hunks.length === 0 ? <p class="muted diff-note">{notes.join(' · ')}</p> : null}
      {hunks.map((hunk) => (
        <div
          key={hunk.header}
          class="hunk"
          style={{ containIntrinsicSize: `auto ${20 * (hunk.lines.length + 1)}px` }}
        >
          <p class="hunk-head">{hunk.header}</p>
          {hunk.lines.map((line, at) => (
            <div key={at} class="diff-line" data-kind={line.kind}>
              <span class="diff-number">{line.old ?? ''}</span>
              <span class="diff-number">{line.new ?? ''}</span>
              <span class="diff-sign">{signs[line.kind]}</span>
              <span class="diff-text">{line.text}</span>
            </div>
          ))}
        </div>
      ))}
    </section>
  )
}

const signs = { same: ' ', added: '+', deleted: '−', note: '' } as const

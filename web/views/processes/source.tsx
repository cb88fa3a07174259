import type { ProcessPage } from '../../api/answers.ts'
import { StatusIcon } from '../../parts/status-icon.tsx'

/** The file as it is written, with what lint says at its lines. */
export function Source({ page: { source, findings } }: { readonly page: ProcessPage }) {
  const byLine = Map.groupBy(findings, ({ line }) => line ?? 0)
  const lines = source.replace(/\n$/, '').split('\n')
  return (
    <div class="source-view">
      {findings.length === 0 ? null : (
        <ul class="findings">
          {findings.map(({ severity, message, line, column, rule }) => (
            <li key={`${line} ${column} ${rule} ${message}`}>
              <StatusIcon status={severity === 'error' ? 'blocked' : 'review'} named={false} />
              <span>
                <b>{severity}</b> {message}{' '}
                {line === null ? null : (
                  <a class="link" href={`#line-${line}`}>
                    line {line}
                  </a>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
      <pre class="source full-width">
        {lines.map((text, at) => (
          <span
            key={at}
            class="source-line"
            id={`line-${at + 1}`}
            {...(byLine.has(at + 1) && { 'data-found': '' })}
          >
            <span class="source-number" aria-hidden="true">
              {at + 1}
            </span>
            <code>{text === '' ? ' ' : text}</code>
          </span>
        ))}
      </pre>
    </div>
  )
}

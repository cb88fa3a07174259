import type { ComponentChildren } from 'preact'
import { formatCount } from '../../src/kernel/text.ts'
import type { MeasurementData as MeasuredShort } from '../api/entities.ts'
import { Agent } from './agent.tsx'
import { StatusIcon } from './status.tsx'
import './evidence.css'

/** What git was witness to: solid. */
export function MeasuredEvidence({ measured }: { readonly measured: MeasuredShort }) {
  const { measurement, attempt, files, scope_match, out_of_scope } = measured
  return (
    <p class="measured">
      <StatusIcon status={scope_match === false ? 'blocked' : 'done'} named={false} />
      <b>{measuredWord[measurement]}</b>
      {attempt > 1 ? <span class="muted">attempt {attempt}</span> : null}
      {files === null ? null : (
        <span>
          {formatCount(files, 'file')} <PlusMinus {...measured} />
        </span>
      )}
      <span class={scope_match === false ? 'out' : 'muted'}>{scopeWord(scope_match, out_of_scope)}</span>
    </p>
  )
}

const measuredWord = {
  exact: 'Measured by git',
  partial: 'Measured in part',
  unknown: 'Not measured',
} as const satisfies Record<MeasuredShort['measurement'], string>

function scopeWord(matches: boolean | null, outside: number): string {
  if (matches === null) return 'no scope to compare with'
  return matches ? 'all in scope' : `${outside} out of scope`
}

/** Lines that came and went; null where they could not be counted. */
export function PlusMinus({
  added_lines,
  deleted_lines,
}: Pick<MeasuredShort, 'added_lines' | 'deleted_lines'>) {
  if (added_lines === null || deleted_lines === null) return <span class="muted">lines not counted</span>
  return (
    <span class="plus-minus">
      <ins>+{added_lines}</ins> <del>−{deleted_lines}</del>
    </span>
  )
}

/** What somebody says of their own work: outlined, and attributed. */
export function ClaimQuote({ by, children }: { readonly by: string; readonly children: ComponentChildren }) {
  return (
    <blockquote class="claimed">
      <span class="claimed-by">
        <Agent name={by} /> says
      </span>
      <span>{children}</span>
    </blockquote>
  )
}

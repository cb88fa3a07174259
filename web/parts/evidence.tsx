import type { ComponentChildren } from 'preact'
import { formatCount } from '../../src/kernel/text.ts'
import type { MeasurementData } from '../api/entities.ts'
import { Agent } from './agent.tsx'
import { StatusIcon } from './status.tsx'
import './evidence.css'

export interface MeasuredData extends Omit<MeasurementData, 'verdict' | 'attempt'> {
  /** In how many attempts at a task the files changed; absent for one attempt. A sum of their lines is not shown. */
  readonly attempts?: number | undefined
}

/** The measurement by git: solid. */
export function EvidenceLine({ measured }: { readonly measured: MeasuredData }) {
  const { measurement, attempts = 1, files, scope_match, out_of_scope } = measured
  const accepted = measured.out_of_scope_accepted
  const isOut = scope_match === false && accepted < out_of_scope
  return (
    <p class="measured">
      <StatusIcon status={isOut ? 'blocked' : measurement === 'exact' ? 'done' : 'planned'} named={false} />
      <b>{measuredWord[measurement]}</b>
      {files === null ? null : (
        <span>
          {formatCount(files, 'file')}{' '}
          {attempts > 1 ? <span class="muted">in {attempts} attempts</span> : <PlusMinus {...measured} />}
        </span>
      )}
      <span class={isOut ? 'out' : 'muted'}>
        {scopeWord(scope_match, out_of_scope)}
        {scope_match === false && acceptedWords(accepted, out_of_scope)}
      </span>
    </p>
  )
}

const measuredWord = {
  exact: 'Measured by git',
  partial: 'Partly measured',
  unknown: 'Not measured',
} as const satisfies Record<MeasurementData['measurement'], string>

function scopeWord(matches: boolean | null, outside: number): string {
  if (matches === null) return 'no declared scope'
  return matches ? 'none out of scope' : `${outside} out of scope`
}

/** What is said of files out of scope that a person approved. */
export function acceptedWords(accepted: number, outside: number): string {
  if (accepted === 0) return ''
  return accepted < outside ? `, ${accepted} accepted` : ', accepted'
}

/** Added and deleted lines; null if they were not counted. */
export function PlusMinus({
  added_lines,
  deleted_lines,
}: Pick<MeasurementData, 'added_lines' | 'deleted_lines'>) {
  if (added_lines === null || deleted_lines === null) return <span class="muted">lines not counted</span>
  return (
    <span class="plus-minus">
      <ins>+{added_lines}</ins> <del>−{deleted_lines}</del>
    </span>
  )
}

/** Files that the agent says it changed, and that did not change. */
export function UnchangedClaims({ paths }: { readonly paths: readonly string[] }) {
  if (paths.length === 0) return null
  return (
    <p class="measured">
      <StatusIcon status="blocked" named={false} />
      <b>Claimed but unchanged</b>
      <Paths paths={paths} name="out" />
    </p>
  )
}

/** Files that the agent says are not its own work. */
export function DeniedFiles({ paths }: { readonly paths: readonly string[] }) {
  if (paths.length === 0) return null
  return (
    <p class="measured denied-files">
      <StatusIcon status="planned" named={false} />
      <b>Says these are not its work</b>
      <Paths paths={paths} name="muted" />
    </p>
  )
}

function Paths({ paths, name }: { readonly paths: readonly string[]; readonly name: string }) {
  return (
    <>
      {paths.slice(0, 5).map((path) => (
        <code key={path} class={name}>
          {path}
        </code>
      ))}
      {paths.length > 5 ? <span class="muted">and {paths.length - 5} more</span> : null}
    </>
  )
}

/** A claim about one's own work: outlined, and attributed. */
export function ClaimQuote({
  author,
  person = null,
  children,
}: {
  readonly author: string
  readonly person?: string | null
  readonly children: ComponentChildren
}) {
  return (
    <blockquote class="claimed">
      <span class="claimed-by">
        <Agent name={author} person={person} /> claims
      </span>
      <span>{children}</span>
    </blockquote>
  )
}

import type { ReadonlySignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { ApiFailure } from '../../src/surfaces/http/client/client.ts'
import { errorText } from '../api/call.ts'
import { href } from '../router/location.ts'
import './empty-state.css'

interface EmptyStateProps {
  /** What will appear here. */
  readonly title: string
  /** One action that makes it appear: a link, a button, or a text to copy. */
  readonly children?: ComponentChildren
}

export function EmptyState({ title, children }: EmptyStateProps) {
  return (
    <div class="empty">
      <p>{title}</p>
      {children}
    </div>
  )
}

/** How an agent is connected: the action of every list that agents fill. */
export function ConnectAgent() {
  return (
    <a class="button" href={href('/start')}>
      Connect an agent
    </a>
  )
}

interface SkeletonProps {
  /** The title of the view, if it is known before its data. */
  readonly title?: string | undefined
  readonly rows?: number
}

/** The place of a view or a list while it loads. It has no heading: a key pressed at a heading acts on data. */
export function Skeleton({ title, rows = 6 }: SkeletonProps) {
  return (
    <div class={title === undefined ? 'skeleton' : 'skeleton page-inner'} role="status" aria-busy="true">
      {title === undefined ? null : <p class="skeleton-title">{title}</p>}
      <span class="visually-hidden">Loading…</span>
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} class="skeleton-row" />
      ))}
    </div>
  )
}

interface PendingProps extends SkeletonProps {
  readonly failure: ReadonlySignal<unknown>
  /** What an address names, and where all of its kind are listed. */
  readonly subject?: PageSubject
}

export interface PageSubject {
  readonly name: string
  readonly id?: string
  readonly list: { readonly path: string; readonly title: string }
  /** Where one that is not here may be. */
  readonly elsewhere?: string
}

/** A view without its data: a skeleton while it loads, else why it could not be loaded. */
export function Pending({ failure, subject, title = subject?.name, rows }: PendingProps) {
  if (failure.value === null) return <Skeleton title={title} {...(rows !== undefined && { rows })} />
  const isMissing = failure.value instanceof ApiFailure && failure.value.status === 404
  if (isMissing && subject) return <NotFound subject={subject} reason={missingText(subject)} />
  return <FailureMessage failure={failure} />
}

/** The page of an address that names nothing: what was not found, and the list that has the others. */
export function NotFound({ subject, reason }: { readonly subject: PageSubject; readonly reason: string }) {
  const { name, list } = subject
  return (
    <div class="page-inner">
      <h1>{name} not found</h1>
      <EmptyState title={reason}>
        <a class="button" href={href(list.path)}>
          {list.title}
        </a>
      </EmptyState>
    </div>
  )
}

function missingText({ name, id, elsewhere = 'It may belong to another project.' }: PageSubject): string {
  return `This project has no ${name.toLowerCase()}${id === undefined ? ' at this address' : ` ${id}`}. ${elsewhere}`
}

/** Why data could not be loaded; nothing without a failure. */
export function FailureMessage({ failure }: { readonly failure: ReadonlySignal<unknown> }) {
  if (failure.value === null) return null
  return (
    <div class="page-inner" role="alert">
      <h1>Cannot load this page</h1>
      <p class="muted">{errorText(failure.value)}</p>
      <p>
        <a class="link" href={href('/')}>
          Go to the inbox
        </a>
      </p>
    </div>
  )
}

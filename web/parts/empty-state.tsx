import type { ReadonlySignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { reasonOf } from '../api/call.ts'
import { href } from '../router/location.ts'
import { CopyButton } from './text.tsx'
import './empty-state.css'

interface EmptyStateProps {
  /** What will appear here. */
  readonly title: string
  /** The one command that makes it appear. */
  readonly command?: string
  readonly children?: ComponentChildren
}

export function EmptyState({ title, command, children }: EmptyStateProps) {
  return (
    <div class="empty">
      <p>{title}</p>
      {command === undefined ? null : (
        <p class="snippet">
          <code>{command}</code>
          <CopyButton text={command} />
        </p>
      )}
      {children}
    </div>
  )
}

/** Why a view has nothing to show; nothing while it is still being read. */
export function FailureMessage({ failure }: { readonly failure: ReadonlySignal<unknown> }) {
  if (failure.value === null) return null
  return (
    <div class="page-inner" role="alert">
      <h1>This could not be read</h1>
      <p class="muted">{reasonOf(failure.value)}</p>
      <p>
        <a class="link" href={href('/')}>
          To the inbox
        </a>
      </p>
    </div>
  )
}

import type { ComponentChildren } from 'preact'
import { CopyButton } from './copy-button.tsx'
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

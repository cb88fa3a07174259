import type { ComponentChildren } from 'preact'
import type { OperationName } from '../../src/surfaces/http/client/client.ts'
import { denialReason } from '../api/session.ts'
import { type OperationRequest, openOperation } from './overlays.tsx'

interface OperationButtonProps {
  readonly operation: OperationName
  /** What its page gives, and how the page calls it. */
  readonly request?: Omit<OperationRequest, 'name'>
  readonly children: ComponentChildren
}

/** Opens the form of an operation. */
export function OperationButton({ operation, request, children }: OperationButtonProps) {
  const denial = denialReason(operation)
  return (
    <button
      type="button"
      class="button"
      disabled={denial !== null}
      title={denial ?? ''}
      onClick={() => openOperation({ name: operation, ...request })}
    >
      {children}
    </button>
  )
}

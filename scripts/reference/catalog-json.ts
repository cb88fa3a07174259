import { inputSchema, outputSchema } from '../../src/operations/input/json-schema.ts'
import type { Operation } from '../../src/operations/operation.ts'

/** The public surface as JSON: any change of it is a visible difference. */
export function catalogJson(operations: readonly Operation[]): string {
  const entries = operations.map((operation) => ({
    name: operation.name,
    tool: operation.tool ?? null,
    ...(operation.unlisted && { unlisted: true }),
    command: operation.screen ? null : operation.command,
    toolset: operation.toolset,
    audience: operation.audience,
    kind: operation.kind,
    destructive: operation.destructive ?? false,
    idempotent: operation.idempotent ?? false,
    title: operation.title,
    description: operation.description,
    positional: operation.positional ?? [],
    input: inputSchema(operation),
    output: outputSchema(operation),
  }))
  return `${JSON.stringify(entries, null, 2)}\n`
}

export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[]>>

export interface SpanEvent {
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly attributes: Attributes
}

/** Something that ended, as a trace shows it. */
export interface EndedSpan {
  readonly traceId: string
  readonly spanId: string
  /** Null at the root of a trace. */
  readonly parentSpanId: string | null
  readonly name: string
  readonly attributes: Attributes
  readonly events: readonly SpanEvent[]
  readonly status: SpanStatus
  /** Milliseconds since the epoch. */
  readonly start: number
  readonly end: number
}

export type SpanStatus = { readonly is: 'ok' | 'unset' } | { readonly is: 'error'; readonly message: string }

type Offered = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>

/** Attributes without those that have no value. */
export function known(offered: Offered): Attributes {
  const pairs = Object.entries(offered).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [[key, value] as const],
  )
  return Object.fromEntries(pairs)
}

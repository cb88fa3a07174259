/** One frame of the live feed: what a fact did to an entity. */
export interface Frame {
  readonly seq: number
  readonly n: number
  /** `task:updated` and the like. */
  readonly event: string
  readonly at: string
  readonly actor: { readonly name: string; readonly kind: string }
  readonly data: Readonly<Record<string, unknown>> | null
}

export interface Greeting {
  readonly event: 'hello' | 'reload'
  readonly seq: number
}

/** What was received, or null where it is no message of ours. */
export function readFrame(text: unknown): Frame | Greeting | null {
  if (typeof text !== 'string') return null
  try {
    const said: unknown = JSON.parse(text)
    if (typeof said !== 'object' || said === null || !('event' in said) || !('seq' in said)) return null
    return said as Frame | Greeting // the server is the one that this page came from
  } catch {
    return null
  }
}

export function isFrame(said: Frame | Greeting): said is Frame {
  return 'n' in said
}

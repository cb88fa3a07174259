import type { Actor } from '../../../domain/actor.ts'

/** Who was let in, and by what. */
export interface Caller {
  readonly actor: Actor
  /** The hash of the token; of a cookie, the token by which it was had. */
  readonly token: string
  /** The hash of the login that the cookie stands for; null for a token. */
  readonly session: string | null
  /** What a writing request must repeat in `X-Waymark-Csrf`; only callers with a cookie have one. */
  readonly csrf: string | null
}

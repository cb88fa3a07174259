import { hashOf, newSecret } from './tokens/token.ts'

const lifetime = 10 * 60_000
const most = 100

/** Codes that log a person in, each once and within ten minutes. */
export class LoginCodes {
  readonly #codes = new Map<string, { readonly token: string; readonly expires: number }>()

  /** A code that logs in as the holder of a token, which is named by its hash. */
  make(token: string, now: number): string {
    const code = newSecret()
    const [oldest] = this.#codes.keys()
    if (this.#codes.size >= most && oldest !== undefined) this.#codes.delete(oldest)
    this.#codes.set(hashOf(code), { token, expires: now + lifetime })
    return code
  }

  /** The hash of the token that a code stands for, once; null for one that is unknown, used or too old. */
  take(code: string, now: number): string | null {
    const hash = hashOf(code)
    const found = this.#codes.get(hash)
    this.#codes.delete(hash)
    return found && found.expires > now ? found.token : null
  }
}

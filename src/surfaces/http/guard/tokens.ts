import { join } from 'node:path'
import { z } from 'zod'
import { Failure } from '../../../kernel/failure.ts'
import { readIfThere, runLocked, versionOf, writePrivate } from './private-file.ts'
import { hashOf, isHashOf, newSecret } from './secret.ts'

const entryShape = z.object({
  name: z.string(),
  kind: z.enum(['agent', 'person']),
  role: z.string().nullable(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  explicit: z.boolean(),
  created: z.string(),
})
const fileShape = z.object({ version: z.literal(1), tokens: z.array(entryShape) })

/** The tokens of all servers of one user: `tokens.json`, and the two that a server makes for itself beside it. */
export class TokenFile {
  readonly #folder: string
  #version: string | null = null
  #entries: readonly TokenEntry[] = []

  constructor(folder: string) {
    this.#folder = folder
  }

  /** What is in force now: whoever adds or removes a token need not start the server again. */
  entries(): readonly TokenEntry[] {
    const version = versionOf(this.#path)
    if (version !== this.#version) {
      this.#entries = read(this.#path)
      this.#version = version
    }
    return this.#entries
  }

  /** Makes a token and answers it; it is kept nowhere else. */
  add(entry: Pick<TokenEntry, 'name' | 'kind' | 'role' | 'explicit'>): string {
    return runLocked(this.#path, () => this.#add(entry))
  }

  /** Ends a token, and the sessions that were had by it. */
  remove(name: string): void {
    runLocked(this.#path, () => {
      const entries = this.entries()
      const kept = entries.filter((entry) => entry.name !== name)
      if (kept.length === entries.length) {
        throw new Failure('NOT_FOUND', `There is no token "${name}".`, {
          reason: 'token_not_found',
          hint: `The tokens are ${entries.map((entry) => entry.name).join(', ') || 'none'}.`,
        })
      }
      this.#write(kept)
    })
  }

  /** The file of the plain token of a kind, by which programs of this user are configured. */
  plainFile(kind: TokenEntry['kind']): string {
    return join(this.#folder, `${kind}.token`)
  }

  /** The token of a kind that a server makes for itself at its first start; made anew where its file is gone. It follows a new name. */
  ownToken(kind: TokenEntry['kind'], name: string): string {
    return runLocked(this.#path, () => {
      const plain = readIfThere(this.plainFile(kind))?.trim()
      const hash = plain === undefined ? '' : hashOf(plain)
      const own = this.entries().find((entry) => entry.hash === hash)
      if (plain !== undefined && own) {
        this.#rename(own, name)
        return plain
      }
      const others = this.entries().filter((entry) => entry.explicit || entry.kind !== kind)
      if (others.length < this.entries().length) this.#write(others)
      const taken = others.some((entry) => entry.name === name)
      const secret = this.#add({ name: taken ? `${name} (own)` : name, kind, role: null, explicit: false })
      writePrivate(this.plainFile(kind), `${secret}\n`)
      return secret
    })
  }

  #rename(own: TokenEntry, name: string): void {
    const entries = this.entries()
    if (own.explicit || entries.some((entry) => entry.name === name)) return
    this.#write(entries.map((entry) => (entry.hash === own.hash ? { ...entry, name } : entry)))
  }

  #add({ name, kind, role, explicit }: Pick<TokenEntry, 'name' | 'kind' | 'role' | 'explicit'>): string {
    const entries = this.entries()
    if (entries.some((entry) => entry.name === name)) {
      throw new Failure('CONFLICT', `There is already a token "${name}".`, {
        reason: 'token_exists',
        hint: `Choose another name, or revoke it: waymark token revoke ${name}`,
      })
    }
    const secret = newSecret()
    const made = { name, kind, role, hash: hashOf(secret), explicit, created: new Date().toISOString() }
    this.#write([...entries, made])
    return secret
  }

  get #path(): string {
    return join(this.#folder, 'tokens.json')
  }

  #write(tokens: readonly TokenEntry[]): void {
    writePrivate(this.#path, `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`)
  }
}

function read(path: string): readonly TokenEntry[] {
  const text = readIfThere(path)
  if (text === null) return []
  const parsed = fileShape.safeParse(jsonOr(text))
  if (parsed.success) return parsed.data.tokens
  throw new Failure('UNAVAILABLE', `The tokens in ${path} cannot be read: it is not a list of tokens.`, {
    reason: 'token_list_invalid',
    hint: 'Remove the file; new tokens are made at the next start.',
  })
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A token as it is kept: what it lets one do, and its hash. The token itself is known only to who uses it. */
export interface TokenEntry {
  /** Who acts with it; unique. */
  readonly name: string
  readonly kind: 'agent' | 'person'
  readonly role: string | null
  /** SHA-256, hexadecimal. */
  readonly hash: string
  /** Made by a person with `waymark token create`, not by the server for itself. */
  readonly explicit: boolean
  /** ISO 8601. */
  readonly created: string
}

/** The entry whose hash it is. Every entry is compared, in constant time. */
export function entryOf<Entry extends { readonly hash: string }>(
  secret: string,
  entries: readonly Entry[],
): Entry | null {
  let found: Entry | null = null
  for (const entry of entries) {
    if (isHashOf(entry.hash, secret)) found = entry
  }
  return found
}

import { ShownEnds } from './shown-ends.ts'

/** A line as it came in: its text, or what is still known of one that was too long to keep. */
export type Line =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'too_long'; readonly bytes: number; readonly ends: ShownEnds }

const newline = 0x0a

/** Cuts a stream of bytes into lines, keeping at most `longest` bytes of one. A character may be split over chunks. */
export class LineSplitter {
  readonly #longest: number
  #chunks: Buffer[] = []
  #bytes = 0
  #ends: ShownEnds | null = null

  constructor(longest: number) {
    this.#longest = longest
  }

  /** The lines that a chunk completes. */
  take(chunk: Buffer): readonly Line[] {
    const lines: Line[] = []
    let from = 0
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      this.#keep(chunk.subarray(from, at))
      lines.push(this.#finish())
      from = at + 1
    }
    this.#keep(chunk.subarray(from))
    return lines
  }

  /** What came after the last newline, at the end of the stream. */
  rest(): readonly Line[] {
    return this.#bytes === 0 ? [] : [this.#finish()]
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length
    if (this.#ends === null && this.#bytes > this.#longest) {
      this.#ends = new ShownEnds()
      for (const chunk of this.#chunks) this.#ends.add(chunk)
      this.#chunks = []
    }
    if (this.#ends) this.#ends.add(part)
    else if (part.length > 0) this.#chunks.push(part)
  }

  #finish(): Line {
    const line: Line = this.#ends
      ? { kind: 'too_long', bytes: this.#bytes, ends: this.#ends }
      : { kind: 'text', text: new TextDecoder().decode(Buffer.concat(this.#chunks)) } // drops a byte order mark
    this.#chunks = []
    this.#bytes = 0
    this.#ends = null
    return line
  }
}

const kept = 512

/** The first and last bytes of something too long to keep. */
export class ShownEnds {
  #head: Buffer = Buffer.alloc(0)
  #tail: Buffer = Buffer.alloc(0)

  add(part: Buffer): void {
    if (this.#head.length < kept)
      this.#head = Buffer.concat([this.#head, part.subarray(0, kept - this.#head.length)])
    this.#tail = Buffer.concat([this.#tail, part.subarray(-kept)]).subarray(-kept)
  }

  get head(): string {
    return this.#head.toString('utf8')
  }

  get tail(): string {
    return this.#tail.toString('utf8')
  }
}

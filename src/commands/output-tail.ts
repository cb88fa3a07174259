import { StringDecoder } from 'node:string_decoder'

/** The end of a text that arrives in pieces of bytes. */
export class OutputTail {
  readonly #most: number
  #text = ''

  constructor(most: number) {
    this.#most = most
  }

  /** Takes what one stream gives. A character may come in two pieces, so each stream has a decoder of its own. */
  follow(stream: NodeJS.ReadableStream): void {
    const decoder = new StringDecoder('utf8')
    stream.on('data', (piece: Buffer) => this.#append(decoder.write(piece)))
    // What came before it is kept; the command's end tells the rest.
    stream.on('error', () => undefined)
    stream.on('end', () => this.#append(decoder.end()))
  }

  /** The text so far, with a last line of our own. */
  text(lastLine?: string): string {
    if (lastLine === undefined) return ending(this.#text, this.#most)
    const room = this.#most - lastLine.length - 1
    const before = ending(this.#text, room)
    return before === '' || before.endsWith('\n') ? before + lastLine : `${before}\n${lastLine}`
  }

  #append(text: string): void {
    this.#text += text
    if (this.#text.length > 4 * this.#most) this.#text = ending(this.#text, this.#most)
  }
}

function ending(text: string, most: number): string {
  if (text.length <= most) return text
  const cut = text.length - most
  // Not between the two halves of a character.
  return text.slice(/[\uDC00-\uDFFF]/.test(text[cut] ?? '') ? cut + 1 : cut)
}

/** Everything on standard input, unless it is a person's terminal or more than a client would ever send. */
export type WholeInput =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: string }

const most = 64 * 1024 * 1024

export async function wholeInput(): Promise<WholeInput> {
  if (process.stdin.isTTY) return { ok: false, why: 'A client calls it, with JSON on standard input.' }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > most) return { ok: false, why: `The client said more than ${most / 1024 / 1024} MB.` }
    chunks.push(bytes)
  }
  return { ok: true, text: Buffer.concat(chunks).toString('utf8') }
}

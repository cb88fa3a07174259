// Words before a program, and commands that only prepare for one.
const opener = /^(?:\w+=.*|sudo|env|time|nohup|command|exec|then|do)$/
const mover = /^(?:cd|pushd|popd|export|set|source|\.|true|:|)$/

/** The program that a command line runs first: only for display. */
export function programOf(command: unknown): string | null {
  const line = Array.isArray(command) ? command.filter((word) => typeof word === 'string').join(' ') : command
  if (typeof line !== 'string') return null
  for (const part of line.slice(0, 4000).split(/&&|\|\||[;|&\n]/)) {
    const words = part.trim().split(/\s+/)
    while (opener.test(words[0] ?? '')) words.shift()
    const [first = '', flag = '', ...rest] = words
    if (mover.test(first)) continue
    const name =
      first
        .replace(/^['"(]+|['")]+$/g, '')
        .split(/[\\/]/)
        .at(-1) ?? ''
    if (/^(?:ba|z|da|k)?sh$/.test(name) && /^-l?i?c$/.test(flag)) {
      return programOf(rest.join(' ').replace(/^['"]/, '')) ?? name
    }
    // A word with quotes or expansions may hold anything.
    return /^[\w.+-]{1,40}$/.test(name) ? name : null
  }
  return null
}

/** A file's name in one line: a line break in it must not begin a line that looks measured. */
export function inOneLine(path: string): string {
  return path.replace(/\n/g, '\\n').replace(/\t/g, '\\t')
}

/** The commands of a line in a shell: behind a prompt or a variable, before a pipe, a comment or a second column. */
export function waymarkCommands(line: string): readonly string[] {
  const bare = line
    .trim()
    .replace(/^\$ /, '')
    .replace(/(?:^|\s)#.*| {2}.*/, '')
  return bare
    .split(/\s(?:\||&&|;|>|2>)\s?/)
    .map((part) => part.trim().replace(/^(?:[A-Z_]+=\S+ )+/, ''))
    .filter((part) => /^waymark(?: |$)/.test(part))
}

/** The words of a command after `waymark`, without quotes. */
export function wordsOf(command: string): readonly string[] {
  const words = command.match(/(?:<[^>]*>|'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []
  return words.slice(1).map((word) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'))
}

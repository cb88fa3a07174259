// Loads what a bundle requires when it is first used, and not at the start. A plugin of rolldown, for its older kind of modules.

/**
 * What a chunk requires by a name that fits `wanted` is required by each use instead: Node remembers it. Only for modules
 * that do nothing but offer something, and where the whole module is not handed on.
 */
export function laterParts(wanted) {
  return {
    name: 'later-parts',
    renderChunk(code) {
      const required = [...code.matchAll(/^(?:let|const) (\w+) = require\("([^"]+)"\);$/gm)]
      return required
        .filter(([, name, module]) => wanted.test(module) && isOnlyAsked(code, name))
        .reduce((text, [line, name, module]) => {
          const asked = text.replace(line, '').replaceAll(new RegExp(`\\b${name}\\.`, 'g'), `${name}().`)
          return `${asked}\nfunction ${name}() { return require("${module}") }\n`
        }, code)
    },
  }
}

/** Each mention of the name but its declaration asks for one of its properties. */
function isOnlyAsked(code, name) {
  const mentions = code.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0
  const questions = code.match(new RegExp(`\\b${name}\\.`, 'g'))?.length ?? 0
  return mentions === questions + 1
}

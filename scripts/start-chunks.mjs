// Puts modules that load together into one chunk: Node needs half a millisecond to find each file. For rolldown.
import { fileURLToPath } from 'node:url'

const root = new URL('..', import.meta.url)

/**
 * Groups of chunks. Each has everything that its modules import, except what a group before it has, and what only loads
 * later. So no chunk loads another one that it does not need.
 */
export function startChunks(groups) {
  return groups.map(({ name, modules }, at) => {
    const roots = modules.map((path) => fileURLToPath(new URL(path, root)))
    let reached = null
    return {
      priority: groups.length - at,
      debugName: name,
      name: (id, graph) => {
        reached ??= importsOf(roots, graph)
        return reached.has(id) ? name : null
      },
    }
  })
}

function importsOf(roots, graph) {
  const reached = new Set(roots)
  for (const id of reached)
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) reached.add(imported)
  return reached
}

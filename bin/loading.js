// How the program is loaded. `getBuiltinModule`, because an import of these makes all that they offer.
const { homedir } = process.getBuiltinModule('node:os')
const path = process.getBuiltinModule('node:path')

/**
 * The file in dist/ that answers a command line. Clients ask hooks before each call of a tool, and they have one of their
 * own, of the older kind of modules, which Node starts sooner.
 */
export function bundleFor([command, ...rest]) {
  const asksForHelp = rest.some((word) => word === '--help' || word === '-h')
  const isHook = command === 'hook' && !asksForHelp
  return isHook ? 'waymark-hook.cjs' : 'waymark.js'
}

/** Where compiled code is kept between starts: the user's cache folder. */
export function compileCacheFolder({ env, platform }) {
  return path.join(cacheFolder(env, platform), 'waymark', 'compiled')
}

function cacheFolder(env, platform) {
  if (env.XDG_CACHE_HOME) return env.XDG_CACHE_HOME
  if (platform === 'darwin') return path.join(homedir(), 'Library', 'Caches')
  if (platform === 'win32') return env.LOCALAPPDATA ?? path.join(homedir(), 'AppData', 'Local')
  return path.join(homedir(), '.cache')
}

import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where compiled code is kept between starts: the user's cache folder. */
export function compileCacheFolder({ env, platform }) {
  return join(cacheFolder(env, platform), 'waymark', 'compiled')
}

function cacheFolder(env, platform) {
  if (env.XDG_CACHE_HOME) return env.XDG_CACHE_HOME
  if (platform === 'darwin') return join(homedir(), 'Library', 'Caches')
  if (platform === 'win32') return env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local')
  return join(homedir(), '.cache')
}

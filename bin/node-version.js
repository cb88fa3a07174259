// Plain ESM without dependencies: any Node that knows modules must be able to read it.
import { fileURLToPath } from 'node:url'

const oldest = [22, 14]
const program = fileURLToPath(new URL('waymark.js', import.meta.url))

/** What to tell somebody whose Node is too old, or null. `version` is `24.21.0`. */
export function complaintAbout(version) {
  if (isNewEnough(version)) return null
  return `waymark: Waymark needs Node ${oldest.join('.')} or newer, and this is Node ${version}. Install a newer one from https://nodejs.org, or run it with: npx -p node@24 node ${program}\n`
}

export function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1])
}

import { devNull } from 'node:os'

const identity = { NAME: 'Tess Example', EMAIL: 'tess@example.com' }

/** Makes the git that tests drive independent of this machine's settings, identity, prompts and language. */
export function setup(): void {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('GIT_')) delete process.env[name]
  }
  process.env.GIT_CONFIG_GLOBAL = devNull
  process.env.GIT_CONFIG_NOSYSTEM = '1'
  process.env.GIT_ATTR_NOSYSTEM = '1'
  process.env.GIT_TERMINAL_PROMPT = '0'
  process.env.GIT_EDITOR = 'true'
  process.env.GIT_PAGER = 'cat'
  process.env.LC_ALL = 'C'
  for (const role of ['AUTHOR', 'COMMITTER']) {
    process.env[`GIT_${role}_NAME`] = identity.NAME
    process.env[`GIT_${role}_EMAIL`] = identity.EMAIL
  }
  const settings = [
    ['init.defaultBranch', 'main'],
    ['advice.detachedHead', 'false'],
    ['commit.gpgSign', 'false'],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
    // What lies in memory for some seconds need not be small, nor safe from a loss of power.
    ['core.compression', '1'],
    ['core.fsync', 'none'],
    ['protocol.file.allow', 'always'],
    ['merge.conflictStyle', 'merge'],
  ] as const
  process.env.GIT_CONFIG_COUNT = String(settings.length)
  for (const [at, [key, value]] of settings.entries()) {
    process.env[`GIT_CONFIG_KEY_${at}`] = key
    process.env[`GIT_CONFIG_VALUE_${at}`] = value
  }
}

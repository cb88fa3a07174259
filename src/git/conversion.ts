import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type ConfigurationEntry, configured, isTrue } from './configuration.ts'
import type { IndexEntries } from './index-entries.ts'
import type { PathBytes } from './path-bytes.ts'
import type { Repository } from './repository.ts'
import type { Environment } from './run-git.ts'
import type { Status } from './status.ts'

/** What may stand between a file on disk and what git stores of it. */
export interface Conversion {
  /** Some file of attributes is in force, so a path may have a filter. */
  readonly attributes: boolean
  /** What is stored depends on what the index holds: its line endings, its modes. */
  readonly byIndex: boolean
}

/** Asks what is not needed, so that git is started less often in the plain case. */
export function conversionOf(
  repository: Repository,
  { status, index }: { readonly status: Status; readonly index: IndexEntries },
  environment: Environment,
): Conversion {
  const { configuration } = repository
  const attributes =
    index.attributes.length > 0 ||
    [...status.untracked, ...status.ignored].some(isAttributesFile) ||
    configured(configuration, 'core.attributesfile') !== undefined ||
    existsSync(repository.attributes) ||
    existsSync(personalFile(environment, 'attributes'))
  const lineEndings = configured(configuration, 'core.autocrlf') ?? 'false'
  const plainModes = ['core.filemode', 'core.symlinks'].every((key) => {
    const value = configured(configuration, key)
    return value === undefined || isTrue(value)
  })
  return { attributes, byIndex: attributes || lineEndings !== 'false' || !plainModes }
}

function isAttributesFile(path: PathBytes): boolean {
  return path.endsWith('.gitattributes')
}

/** The file of attributes or ignore rules that a person has for every repository. */
export function personalRules(
  configuration: readonly ConfigurationEntry[],
  environment: Environment,
  name: 'attributes' | 'ignore',
): string {
  const key = name === 'attributes' ? 'core.attributesfile' : 'core.excludesfile'
  const named = configured(configuration, key)
  if (named === undefined) return personalFile(environment, name)
  return named.startsWith('~/') ? join(environment['HOME'] ?? homedir(), named.slice(2)) : named
}

// Where git looks when `core.attributesFile` or `core.excludesFile` is not set.
function personalFile(environment: Environment, name: 'attributes' | 'ignore'): string {
  const home = environment['HOME'] ?? homedir()
  return join(environment['XDG_CONFIG_HOME'] || join(home, '.config'), 'git', name)
}

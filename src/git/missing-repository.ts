import { join } from 'node:path'
import { parseConfiguration, withSafeSettings } from './configuration.ts'
import { distinctionsOf } from './distinctions.ts'
import { nulRecords } from './path-bytes.ts'
import type { Repository } from './repository.ts'
import { type Environment, runGit } from './run-git.ts'

/**
 * Stands for a repository that disappeared: no commit, an empty index. Every file is untracked in it, so the
 * state on disk is measured in the same terms as when the repository was there.
 */
export async function missingRepository(
  top: string,
  directory: string,
  environment: Environment,
): Promise<Repository> {
  const settings = await runGit(['config', '-z', '--list', '--show-scope'], { folder: top, environment })
  return {
    status: 'usable',
    top,
    prefix: '',
    objectFormat: 'sha1',
    gitFolder: directory,
    commonFolder: directory,
    objects: join(directory, 'objects'),
    index: join(directory, 'no-index'),
    exclude: '',
    attributes: '',
    sparseCheckout: '',
    shallow: '',
    reflog: join(directory, 'logs/HEAD'),
    head: null,
    configuration: withSafeSettings(
      parseConfiguration(nulRecords(settings.output)),
      distinctionsOf(top, directory),
    ),
  }
}

import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join, sep } from 'node:path'
import { programPaths } from '../../clients/setup/detect.ts'
import type { ProgramAssets } from '../../clients/setup/plan-setup.ts'
import type { SetupContext } from '../../clients/setup/setup-context.ts'
import tools from '../../clients/setup/tools.json' with { type: 'json' }
import { readRegularSync } from '../../kernel/files/regular-file.ts'
import { stateFolder } from '../../kernel/files/state-folder.ts'
import { version } from '../program.ts'
import { type Environment, firstSetVariable } from '../settings/environment.ts'
import { enclosingTree, projectFolder } from '../settings/project-location.ts'

/** The context of a setup: machine, user, project and copy of the program. */
export function setupContextOf(environment: Environment, flag: string | undefined): SetupContext {
  const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  const folder = projectFolder({ flag, environment, workingFolder: process.cwd() }, (from) =>
    enclosingTree(from, home),
  )
  const root = packageRoot()
  const { platform } = process
  const lasting = withoutInstaller(environment)
  const bin = join(root, 'bin', 'waymark.js')
  return {
    platform,
    home,
    environment: lasting,
    folder,
    program: {
      node: process.execPath,
      bin,
      capture: join(root, 'bin', 'waymark-capture.cjs'),
      version,
      isNamed: isNamed(bin, programPaths('waymark', { platform, environment: lasting })),
    },
  }
}

/** Whether the first program of this name is this copy. What is no link starts what its installer says. */
function isNamed(bin: string, paths: readonly string[]): boolean {
  const path = paths.find((one) => existsSync(one))
  return path !== undefined && (!lstatSync(path).isSymbolicLink() || realpathSync(path) === bin)
}

/** The variables as other programs see them: npx adds folders to the PATH only for its own child. */
function withoutInstaller(environment: Environment): Environment {
  if (!environment['npm_config_user_agent'] && !environment['npm_execpath']) return environment
  const isTheirs = (folder: string) => /[\\/](?:node_modules[\\/]\.bin|node-gyp-bin)[\\/]?$/.test(folder)
  const path = ['PATH', 'Path'].flatMap((name) => {
    const folders = environment[name]?.split(delimiter)
    return folders ? [[name, folders.filter((folder) => !isTheirs(folder)).join(delimiter)]] : []
  })
  return { ...environment, ...Object.fromEntries(path) }
}

/** The assets of the program. Tool names have their own file: operations take long to load. */
export function setupResources(): ProgramAssets {
  const skill = join(packageRoot(), 'plugin', 'skills', 'waymark', 'SKILL.md')
  return { tools, skill: readRegularSync(skill).toString('utf8') }
}

export function stateFolderOf({ platform, home, environment }: SetupContext): string {
  return stateFolder({ platform, home, environment })
}

/** Whether this copy is from the npm registry: otherwise npx might run another package of this name. */
export function isFromRegistry(): boolean {
  const root = packageRoot()
  const modules = root.slice(0, -'waymark'.length - 1)
  if (!root.endsWith(`${sep}node_modules${sep}waymark`)) return false
  try {
    const lock: unknown = JSON.parse(readRegularSync(join(modules, '.package-lock.json')).toString('utf8'))
    return resolvedPackageUrl(lock).startsWith('https://registry.npmjs.org/waymark/')
  } catch {
    return false
  }
}

function resolvedPackageUrl(lock: unknown): string {
  const packages = lock as { readonly packages?: Readonly<Record<string, { readonly resolved?: unknown }>> }
  const resolved = packages.packages?.['node_modules/waymark']?.resolved
  return typeof resolved === 'string' ? resolved : ''
}

/** The folder of the package: beside the bundle, or above the sources. */
function packageRoot(): string {
  const above = join(import.meta.dirname, '..')
  return existsSync(join(above, 'bin', 'waymark.js')) ? above : join(import.meta.dirname, '..', '..', '..')
}

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../domain/failure.ts'
import type { Clock } from '../ports/clock.ts'
import type { Snapshot, SnapshotRef, SnapshotRequest, WorkTreeWitness } from '../ports/work-tree.ts'
import { keepBaseline } from './baseline.ts'
import { reportChanges, touchedPaths } from './change-report.ts'
import type { Span } from './differences.ts'
import { type Location, locateFolder } from './location.ts'
import { missingRepository } from './missing-repository.ts'
import { mainTop } from './repository.ts'
import { type Environment, gitEnvironment } from './run-git.ts'
import { recordSnapshot } from './snapshot.ts'
import { loadState } from './snapshot-file.ts'
import { sweepDirectories } from './sweep.ts'
import { unifiedDiff } from './unified-diff.ts'
import { unknownReport } from './unknown-report.ts'
import { workspacePackages } from './workspace-packages.ts'

export interface WitnessOptions {
  /** Waymark's state folder. Private directories are made in `snapshots` below it. */
  readonly stateFolder: string
  readonly clock: Clock
  /** What git inherits, without its own variables. This process' environment when left out. */
  readonly environment?: NodeJS.ProcessEnv
}

/** The witness of work trees: git, or checksums where there is no usable git. */
export function createWitness(options: WitnessOptions): WorkTreeWitness {
  const environment = gitEnvironment(options.environment ?? process.env)
  const folder = join(options.stateFolder, 'snapshots')
  const unfinished = new Set<Promise<void>>()

  return {
    locate: async (path) => {
      const location = await locateFolder(path, environment)
      if (location.engine === 'checksum') {
        return { top: location.top, mainTop: location.top, engine: 'checksum', reason: location.reason }
      }
      const { repository } = location
      return { top: repository.top, mainTop: mainTop(repository), engine: 'git' }
    },
    snapshot: async (request) => {
      const directory = await privateDirectory(folder, request.name)
      const location = await locateFolder(request.folder, environment)
      return takeSnapshot({ request, location, directory, options, environment, unfinished })
    },
    changes: async (from, to) => {
      const span = await loadSpan(from, to)
      if (typeof span === 'string') return unknownReport(span)
      try {
        return await reportChanges(span, environment)
      } catch (error) {
        return unknownReport(`The two snapshots could not be compared: ${sentence(error)}`)
      }
    },
    touched: async (from, to) => {
      const span = await loadSpan(from, to)
      return typeof span === 'string' ? null : touchedPaths(span, environment).catch(() => null)
    },
    unifiedDiff: async (from, to, path) => {
      const span = await loadSpan(from, to)
      return typeof span === 'string' ? null : unifiedDiff(span, environment, path).catch(() => null)
    },
    packages: workspacePackages,
    settle: async () => {
      await Promise.all(unfinished)
    },
    sweep: (keep) => {
      return sweepDirectories(folder, new Set(keep.map(({ directory }) => directory)), options.clock.now())
    },
  }
}

interface Taking {
  readonly request: SnapshotRequest
  readonly location: Location
  readonly directory: string
  readonly options: WitnessOptions
  readonly environment: Environment
  readonly unfinished: Set<Promise<void>>
}

async function takeSnapshot(taking: Taking): Promise<Snapshot> {
  const { request, location, directory, options, environment, unfinished } = taking
  const disappeared = location.engine === 'checksum' && request.engine === 'git' && request.top !== undefined
  const useGit = request.engine !== 'checksum' && (location.engine === 'git' || disappeared)
  if (!useGit) {
    throw new Failure('UNAVAILABLE', 'The checksum engine is not there yet.')
  }
  const repository =
    location.engine === 'git'
      ? location.repository
      : await missingRepository(request.top ?? location.top, directory, environment)
  const recorded = await recordSnapshot(repository, {
    directory,
    stateFolder: options.stateFolder,
    environment,
    takenAt: options.clock.now(),
    repositoryMissing: location.engine !== 'git',
  })
  const keeping = keepBaseline(recorded.state, environment).finally(() => unfinished.delete(keeping))
  unfinished.add(keeping)
  return {
    ref: {
      engine: 'git',
      directory,
      top: repository.top,
      prefix: repository.prefix,
      id: repository.head?.commit ?? 'unborn',
    },
    paths: recorded.paths,
    notes: recorded.notes,
  }
}

async function privateDirectory(folder: string, name: string): Promise<string> {
  const directory = join(folder, name)
  if (!/^[a-z0-9-]+$/.test(name)) {
    throw new Failure('INVALID_INPUT', `"${name}" cannot name a snapshot: use a-z, 0-9 and "-".`)
  }
  // What an interrupted snapshot of this name left.
  await rm(directory, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return directory
}

// A sentence where the two cannot be compared.
async function loadSpan(from: SnapshotRef, to: SnapshotRef): Promise<Span | string> {
  if (from.engine !== to.engine)
    return `The start was measured by ${from.engine} and the end by ${to.engine}.`
  if (from.top !== to.top) return `The start was measured in ${from.top} and the end in ${to.top}.`
  const [before, after] = await Promise.all([loadState(from.directory), loadState(to.directory)])
  if (before === null || after === null) {
    return `The record of the ${before === null ? 'start' : 'end'} is gone, so what changed is not known.`
  }
  if (before.objectFormat !== after.objectFormat && !after.repositoryMissing) {
    return `The repository's object format changed from ${before.objectFormat} to ${after.objectFormat}.`
  }
  return { from: before, to: after }
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

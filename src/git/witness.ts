import { existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure, messageOf } from '../kernel/failure.ts'
import { removeFromState } from '../kernel/files/state-folder.ts'
import { setNewest } from '../kernel/limited-map.ts'
import type { Clock } from '../kernel/ports/clock.ts'
import { hasPackageArea, parseScope, type Scope } from '../track/domain/scope/scope.ts'
import { overlappingAreas, surveyAreas } from '../track/domain/scope/survey.ts'
import { readBranch } from './branch.ts'
import { reportChanges, touchedPaths, unknownReport } from './changes.ts'
import type { SnapshotPair } from './comparison.ts'
import { snapshotContents } from './contents.ts'
import { unifiedDiff } from './diff.ts'
import { sweepBlames } from './kept-blames.ts'
import { createLineHistory } from './line-history.ts'
import { measureLines } from './lines.ts'
import { linkTargets } from './link-targets.ts'
import { lostFiles } from './losses.ts'
import { otherTreeTops } from './other-work-trees.ts'
import type { GuardWitness, SnapshotRef, WorkTreeWitness } from './ports/work-tree.ts'
import { contentBudget, storedBytes, sweepContents, sweepDirectories } from './private-store.ts'
import { gitEnvironment, withGitFaults } from './process.ts'
import { loadState, workspacePackages } from './recorded-state.ts'
import { locateFolder, mainTop, retryWithFreshLocations } from './repository.ts'
import { type SnapshotContext, takeSnapshot, uncommittedFiles } from './snapshot.ts'
import { hashedTree, stampsOf } from './tree-hash.ts'
import { workElsewhere, writtenSince } from './work-elsewhere.ts'

export interface WitnessOptions {
  /** Waymark's state folder. Private directories are made in `snapshots` below it. */
  readonly stateFolder: string
  readonly clock: Clock
  /** The environment that git inherits, without its own variables. This process's environment if absent. */
  readonly environment?: NodeJS.ProcessEnv
  /** The most that the contents of changed files may take, in bytes. A gigabyte if absent. */
  readonly contentBudget?: number
  /** The process ends with its answer: what would follow it is left out. */
  readonly endsWithAnswer?: true
}

/** The witness of work trees: uses git, or checksums without a usable git. */
export function createWitness(options: WitnessOptions): WorkTreeWitness & GuardWitness {
  const environment = gitEnvironment(options.environment ?? process.env)
  const folder = join(options.stateFolder, 'snapshots')
  const unfinished = new Set<Promise<void>>()
  const context: SnapshotContext = {
    stateFolder: options.stateFolder,
    environment,
    budget: options.contentBudget ?? contentBudget,
    afterwards: (work) => {
      if (options.endsWithAnswer) return
      const ending = work().finally(() => unfinished.delete(ending))
      unfinished.add(ending)
    },
  }

  const locate = (path: string) => withGitFaults(path, () => locateFolder(path, environment))
  const listed = new ListedFiles()
  const hash = (path: string) => {
    return withGitFaults(path, () => {
      return retryWithFreshLocations(environment, async () => {
        const directory = makeWritableFolder(folder, () => mkdtempSync(join(folder, 'tree-')))
        return hashedTree(path, directory, context)
      })
    })
  }

  const diffBetween: WorkTreeWitness['unifiedDiff'] = async (from, to, paths) => {
    if (comparisonObstacle(from, to) !== null) return null
    const span = await loadSpan(from, to)
    return typeof span === 'string' ? null : unifiedDiff(span, environment, paths).catch(() => null)
  }

  const snapshot: WorkTreeWitness['snapshot'] = (request) => {
    return withGitFaults(request.folder, () => {
      return retryWithFreshLocations(environment, async () => {
        const directory = freshDirectory(options.stateFolder, request.name)
        const { paths, ...taken } = await takeSnapshot(request, directory, context)
        listed.keep(directory, paths)
        return taken
      })
    })
  }

  const touchedIn: WorkTreeWitness['touchedPaths'] = async (from, to) => {
    if (comparisonObstacle(from, to) !== null) return null
    const span = await loadSpan(from, to)
    return typeof span === 'string' ? null : touchedPaths(span, environment).catch(() => null)
  }

  return {
    locate: async (path) => {
      const location = await locate(path)
      if (location.engine === 'git') {
        const { repository } = location
        return { top: repository.top, mainTop: mainTop(repository), engine: 'git' }
      }
      const { folder, reason } = location
      return { top: folder, mainTop: folder, engine: 'checksum', reason }
    },
    others: async (path) => {
      const location = await locate(path)
      return location.engine === 'git' ? otherTreeTops(location.repository.top) : []
    },
    snapshot,
    changes: async (from, to) => {
      const reason = comparisonObstacle(from, to)
      if (reason !== null) return unknownReport(reason)
      const span = await loadSpan(from, to)
      if (typeof span === 'string') return unknownReport(span)
      return withGitFaults(to.top, () => reportChanges(span, environment)).catch((error: unknown) => {
        return unknownReport(`The two snapshots could not be compared: ${messageOf(error)}`)
      })
    },
    lines: async (from, to, request) => {
      if (comparisonObstacle(from, to) !== null) return null
      const span = await loadSpan(from, to)
      return typeof span === 'string' ? null : measureLines(span, environment, request).catch(() => null)
    },
    history: createLineHistory({
      environment,
      // In the temporary folder, so that reading leaves nothing in the state folder.
      directory: () => mkdtempSync(join(tmpdir(), 'waymark-blame-')),
      stateFolder: options.stateFolder,
    }),
    contents: snapshotContents(environment),
    branch: (request) => withGitFaults(request.folder, () => readBranch(request, environment)),
    linkTargets: async (top, paths, since) => linkTargets(top, paths, since),
    touchedPaths: touchedIn,
    changedSince: async (place, time, { paths, name }) => {
      // Most files were not written since: then nothing is measured.
      const written = new Set(await writtenSince(place.top, time, paths))
      if (written.size === 0) return []
      const { top, prefix, engine } = place
      const { ref } = await snapshot({ folder: `${top}/${prefix}`, name, engine, top })
      return ((await touchedIn(place, ref)) ?? []).filter((path) => written.has(path))
    },
    lostFiles: (request) => withGitFaults(request.now.top, () => lostFiles(request, environment)),
    elsewhere: (place, since, past) =>
      withGitFaults(place.top, () => workElsewhere(place, { since, past }, environment)),
    uncommittedFiles: async ({ directory }) => {
      const state = await loadState(directory)
      return state === null ? null : uncommittedFiles(state)
    },
    keptBytes: () => storedBytes(options.stateFolder),
    unifiedDiff: diffBetween,
    matching: async (place, areas) => surveyAreas(await scopeIn(place, areas), listed.of(place)),
    overlapping: async (place, areas, others) => {
      const ours = await scopeIn(place, areas)
      const theirs = await Promise.all(
        others.map((other) => scopeIn({ ...place, prefix: other.prefix }, other.areas)),
      )
      return theirs.map((scope) => overlappingAreas(ours, scope, listed.of(place)))
    },
    packages: workspacePackages,
    treeHash: async (path) => (await hash(path)).hash,
    content: async (path) => {
      const tree = await hash(path)
      // After the hash: a file that is written in between gets another stamp at the next call.
      return { hash: tree.hash, stamps: await stampsOf(tree.top, tree.paths) }
    },
    settle: async () => {
      await Promise.all(unfinished)
    },
    sweep: async (keep) => {
      const now = options.clock.now()
      const sweep = { stateFolder: options.stateFolder, snapshots: folder, environment, now }
      const removed = await sweepDirectories(sweep, new Set(keep.map(({ directory }) => directory)))
      await sweepContents(sweep)
      await sweepBlames(options.stateFolder, now)
      return removed
    },
  }
}

const maxListed = 8

/** The files of the last snapshots: the matches of areas are needed right after one. */
class ListedFiles {
  readonly #listed = new Map<string, readonly string[]>()

  keep(directory: string, paths: readonly string[]): void {
    setNewest(this.#listed, maxListed, directory, paths)
  }

  of({ directory }: SnapshotRef): readonly string[] {
    const paths = this.#listed.get(directory)
    if (paths) return paths
    throw new Failure('UNAVAILABLE', `The snapshot in ${directory} is no longer available.`, {
      reason: 'snapshot_not_found',
      hint: 'Call again to take a new snapshot.',
    })
  }
}

/** Looks up workspace packages only if an area names one. */
async function scopeIn(place: SnapshotRef, areas: readonly string[]): Promise<Scope> {
  const packages = new Map(hasPackageArea(areas) ? await workspacePackages(place) : [])
  return parseScope(areas, { prefix: place.prefix, packages })
}

function freshDirectory(stateFolder: string, name: string): string {
  const folder = join(stateFolder, 'snapshots')
  const directory = join(folder, name)
  if (!/^[a-z0-9-]+$/.test(name)) {
    throw new Failure('INVALID_INPUT', `"${name}" cannot name a snapshot: use a-z, 0-9 and "-".`, {
      reason: 'snapshot_name_invalid',
    })
  }
  return makeWritableFolder(folder, () => {
    // Left over from an interrupted snapshot with this name.
    if (existsSync(directory)) removeFromState(stateFolder, directory)
    mkdirSync(directory, { mode: 0o700 })
    return directory
  })
}

function makeWritableFolder(folder: string, make: () => string): string {
  try {
    if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 })
    return make()
  } catch (cause) {
    throw new Failure('REFUSED', `Cannot keep snapshots: ${folder} is not writable.`, {
      reason: 'snapshots_not_writable',
      hint: 'Make that folder writable, or your state folder (~/.local/state on Linux); then call again.',
      cause,
    })
  }
}

function comparisonObstacle(from: SnapshotRef, to: SnapshotRef): string | null {
  if (from.engine !== to.engine)
    return `The start was measured by ${from.engine} and the end by ${to.engine}.`
  return from.top === to.top ? null : `The start was measured in ${from.top} and the end in ${to.top}.`
}

// A sentence if the two cannot be compared.
async function loadSpan(from: SnapshotRef, to: SnapshotRef): Promise<SnapshotPair | string> {
  const [before, after] = await Promise.all([loadState(from.directory), loadState(to.directory)])
  if (before === null || after === null) {
    return `The snapshot of the ${before === null ? 'start' : 'end'} is gone, so the changes are unknown.`
  }
  if (before.objectFormat === after.objectFormat) return { from: before, to: after }
  return `The repository's object format changed from ${before.objectFormat} to ${after.objectFormat}.`
}

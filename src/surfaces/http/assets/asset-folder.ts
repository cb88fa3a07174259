import { readdirSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { type Asset, readAsset } from './asset.ts'

/**
 * The files of a folder by the path they are served at. A path is only ever looked up among them, so that no path leads
 * out of the folder. Read again when the page was built again.
 */
export class AssetFolder {
  readonly #folder: string
  #built = 0
  #files: ReadonlyMap<string, string> = new Map()
  #read = new Map<string, Asset>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** False where the dashboard was not built. */
  get isThere(): boolean {
    const built = statSync(join(this.#folder, 'index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0
    if (built !== this.#built) {
      this.#built = built
      this.#files = built === 0 ? new Map() : filesOf(this.#folder)
      this.#read = new Map()
    }
    return built !== 0
  }

  find(path: string): Asset | null {
    const known = this.#read.get(path)
    if (known) return known
    const file = this.#files.get(path)
    if (file === undefined) return null
    const asset = readAsset(file, new Set(this.#files.values()))
    this.#read.set(path, asset)
    return asset
  }
}

function filesOf(folder: string): ReadonlyMap<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => {
        const file = join(parentPath, name)
        return [`/${relative(folder, file).split(sep).join('/')}`, file]
      }),
  )
}

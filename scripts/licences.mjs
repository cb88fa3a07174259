// The licences of what a build has taken in, which ask to be shown wherever it goes. A plugin of rolldown, and so of vite.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Emits `fileName`: each text of a licence once, under the packages of the build that come with it. */
export function licences(fileName) {
  return {
    name: 'licences',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((output) => Object.keys(output.modules ?? {}))
      const folders = new Set(modules.map(packageFolder).filter((folder) => folder !== null))
      const packages = [...folders].sort().map(licensed)
      const parts = [...Map.groupBy(packages, ({ text }) => text)].map(
        ([text, sharing]) => `${sharing.map(({ title }) => title).join('\n')}\n\n${text}\n`,
      )
      this.emitFile({ type: 'asset', fileName, source: parts.join(`\n${'-'.repeat(80)}\n\n`) })
    },
  }
}

/** The folder of the package that a module belongs to; null for a module of ours. */
function packageFolder(module) {
  const found = /^\0?(.*node_modules\/(?:@[^/]+\/)?[^/@]+)\//.exec(module.replaceAll('\\', '/'))
  return found?.[1] ?? null
}

function licensed(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
  const text = file === undefined ? `Licence: ${license}.` : readFileSync(join(folder, file), 'utf8').trim()
  return { title: `${name} ${version} (${license})`, text }
}

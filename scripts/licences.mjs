// The licences of what a build has taken in, which ask to be shown wherever it goes. A plugin of rolldown, and so of vite.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Emits `fileName`: each text of a licence once, under the packages that come with it: those of the build, and `others` beside it. */
export function licences(fileName, others = []) {
  return {
    name: 'licences',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((output) => Object.keys(output.modules ?? {}))
      const folders = new Set(modules.map(packageFolder).filter((folder) => folder !== null))
      for (const name of others) folders.add(join(import.meta.dirname, '..', 'node_modules', name))
      // A package may be there several times, below each one that needs it.
      const found = [...folders].sort().map(licensed)
      const packages = [...new Map(found.map((one) => [JSON.stringify(one), one])).values()]
      const parts = [...Map.groupBy(packages, ({ terms }) => plain(terms))].map(([, sharing]) =>
        [
          ...Map.groupBy(sharing, ({ notice }) => notice)
            .entries()
            .map(([notice, some]) =>
              [...some.map(({ title }) => title), ...(notice === '' ? [] : ['', notice])].join('\n'),
            ),
          `${sharing[0].terms}\n`,
        ].join('\n\n'),
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

/** The notice of its authors, and the terms, which many packages share. */
function licensed(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
  const text = file === undefined ? `Licence: ${license}.` : readFileSync(join(folder, file), 'utf8').trim()
  const at = Math.max(0, text.search(/^\s*(?:Permission is hereby granted|Permission to use, copy)/m))
  return {
    title: `${name} ${version} (${license})`,
    notice: text.slice(0, at).trim(),
    terms: text.slice(at).trim(),
  }
}

function plain(text) {
  return text.replace(/\s+/g, ' ').replace(/^\(?The MIT License\)? ?/i, '')
}

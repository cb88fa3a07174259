import type { EvidenceFiles } from '../ports/evidence-files.ts'
import type { ShownContents } from '../ports/shown-contents.ts'

/** The reader of evidence, loaded when some is read. */
export function deferredEvidenceFiles(): EvidenceFiles {
  const reader = async (): Promise<EvidenceFiles> => {
    const { evidenceFiles } = await import('../evidence/evidence-files.ts')
    return evidenceFiles()
  }
  return {
    read: async (folder, paths) => (await reader()).read(folder, paths),
    standing: async (folder, files) => (await reader()).standing(folder, files),
    contents: async (folder, paths) => (await reader()).contents(folder, paths),
  }
}

/** What people were shown, loaded when it is asked for. */
export function deferredShownContents(stateFolder: () => string): ShownContents {
  const kept = async (): Promise<ShownContents> => {
    const { shownContents } = await import('../evidence/shown-contents.ts')
    return shownContents(stateFolder())
  }
  return {
    keep: async (content, parts) => (await kept()).keep(content, parts),
    since: async (content, now) => (await kept()).since(content, now),
  }
}

import type { EvidenceFiles } from '../ports/evidence-files.ts'

/** The reader of evidence, loaded when some is read. */
export function deferredEvidenceFiles(): EvidenceFiles {
  const reader = async (): Promise<EvidenceFiles> => {
    const { evidenceFiles } = await import('../evidence/evidence-files.ts')
    return evidenceFiles()
  }
  return {
    read: async (folder, paths) => (await reader()).read(folder, paths),
    standing: async (folder, files) => (await reader()).standing(folder, files),
  }
}

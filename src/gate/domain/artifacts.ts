import { pathPatterns } from '../../kernel/path-pattern.ts'
import type { ArtifactDefinition, Dialect, FreshnessScope, ProcessDefinition } from './definition.ts'
import type { Artifact, Evidence, Visit } from './evidence.ts'
import { schemaProblems } from './json-schema.ts'

interface CountedArtifacts {
  readonly counted: readonly Artifact[]
  /** Why others of the type do not count, a phrase each. */
  readonly passedOver: readonly string[]
}

/** The artifacts of a type that count as evidence: each file once, unchanged on disk, fresh enough and valid. */
export function countedArtifacts(type: string, evidence: Evidence): CountedArtifacts {
  const declared = evidence.declared.find((definition) => definition.type === type)
  const latest = new Map(
    evidence.artifacts
      .filter((artifact) => isOfType(evidence.declared, artifact, type))
      .map((artifact) => [artifact.path, artifact]),
  )
  const counted: Artifact[] = []
  const passedOver: string[] = []
  for (const artifact of latest.values()) {
    const objection = objectionTo(artifact, declared, evidence)
    if (objection === null) counted.push(artifact)
    else passedOver.push(`${artifact.path} ${objection}`)
  }
  return { counted, passedOver }
}

function objectionTo(
  artifact: Artifact,
  declared: ArtifactDefinition | undefined,
  { visits, dialect }: Pick<Evidence, 'visits' | 'dialect'>,
): string | null {
  if (artifact.status === 'deleted') return 'was deleted after it was submitted'
  if (artifact.status === 'changed') return 'changed after it was submitted'
  if (!declared) return null
  if (artifact.revision <= newerThan(declared.fresh, visits)) {
    return declared.fresh === 'state'
      ? 'was submitted before this state'
      : 'was submitted in an earlier round'
  }
  if (declared.minBytes !== null && artifact.bytes < declared.minBytes) {
    return `has ${artifact.bytes} bytes, and needs at least ${declared.minBytes}`
  }
  if (declared.schema === null || !isChecked(artifact.path, dialect)) return null
  if (artifact.content === undefined) return 'is not JSON'
  const [problem] = schemaProblems(declared.schema, artifact.content)
  return problem ? `does not match its schema at ${problem.path}: ${problem.message}` : null
}

/** state_gate never looked into a file: in its dialect a schema is for JSON files alone. */
function isChecked(path: string, dialect: Dialect): boolean {
  return dialect === 1 || /\.json$/i.test(path)
}

/**
 * The freshness of files to approve. Files of the event that led to the state are older than the state, but just what
 * people review: so `state` becomes `loop`.
 */
export function approvalFreshness(fresh: FreshnessScope): FreshnessScope {
  return fresh === 'state' ? 'loop' : fresh
}

/** The revision that evidence must be newer than; 0 for any. */
export function newerThan(fresh: ArtifactDefinition['fresh'], visits: readonly Visit[]): number {
  switch (fresh) {
    case 'run':
      return 0
    case 'state':
      return Math.max(0, ...visits.map(({ last }) => last))
    case 'loop':
      return roundStart(visits)
  }
}

/** The revision at which the run last went back to an earlier state; null if it never did. */
export function lastReturn(visits: readonly Visit[]): number | null {
  const start = roundStart(visits)
  return visits.some(({ first, last }) => last === start && first < last) ? start : null
}

/**
 * The revision at which the run last went back to an earlier state; the first entry if it never did. Files of events after
 * that belong to the new round.
 */
function roundStart(visits: readonly Visit[]): number {
  const latestFirst = visits.toSorted((a, b) => b.last - a.last)
  const index = latestFirst.findIndex(({ first }, place) => {
    const before = latestFirst[place + 1]
    return before === undefined || before.first > first
  })
  return latestFirst[index]?.last ?? 0
}

/**
 * The type of a file: by the declared globs; else the caller's; else by its name, the longest matching type; null if none
 * matches.
 */
export function artifactType(
  { artifacts }: ProcessDefinition,
  path: string,
  declaredType: string | null = null,
): string | null {
  const byGlob = artifactTypeByGlob(artifacts, path)
  if (byGlob !== null) return byGlob
  if (declaredType !== null) return declaredType
  return artifactTypesByName(artifacts, path)[0] ?? null
}

/** Whether a file counts as a type. A file that is only known by its name counts as every type in its name. */
export function isOfType(
  declared: readonly ArtifactDefinition[],
  artifact: { readonly type: string; readonly path: string },
  type: string,
): boolean {
  if (artifact.type === type) return true
  if (!hasTypeInName(artifact.path, type) || artifactTypeByGlob(declared, artifact.path) !== null)
    return false
  const types = artifactTypesByName(declared, artifact.path)
  return types.includes(type) && (artifact.type === '' || types.includes(artifact.type))
}

function artifactTypeByGlob(artifacts: readonly ArtifactDefinition[], path: string): string | null {
  return (
    artifacts.find(({ paths }) => paths.length > 0 && pathPatterns(paths).matches(stripDotSlash(path)))
      ?.type ?? null
  )
}

function artifactTypesByName(artifacts: readonly ArtifactDefinition[], path: string): readonly string[] {
  return artifacts
    .map(({ type }) => type)
    .filter((type) => hasTypeInName(path, type))
    .toSorted((a, b) => b.length - a.length)
}

/** state_gate's rule: the name without its ending is the type, or has it as a part between `_` and `-`. */
function hasTypeInName(path: string, type: string): boolean {
  const file = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const name = file.replace(/\.[^.]+$/, '')
  const wanted = type.toLowerCase()
  for (let position = name.indexOf(wanted); position !== -1; position = name.indexOf(wanted, position + 1)) {
    if (isWordBoundary(name[position - 1]) && isWordBoundary(name[position + wanted.length])) return true
  }
  return false
}

function isWordBoundary(character: string | undefined): boolean {
  return character === undefined || character === '_' || character === '-'
}

function stripDotSlash(path: string): string {
  return path.replace(/^(?:\.\/)+/, '')
}

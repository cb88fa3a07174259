import { isOfChanges } from '../approved-content.ts'
import { approvalFreshness, newerThan } from '../artifacts.ts'
import { isForPeople } from '../decisions.ts'
import {
  eventNamed,
  type FreshnessScope,
  type GuardExpression,
  type ProcessDefinition,
  stateNamed,
  type TransitionDefinition,
} from '../definition.ts'
import { hasArtifactNeeds } from '../engine.ts'
import type { Visit } from '../evidence.ts'
import { guardNames } from '../expression.ts'
import { recordVisit } from '../run.ts'
import { type Finding, finding } from './finding.ts'

/** The parts of a run that decide how fresh its files are. */
interface RunPosition {
  readonly state: string
  readonly revision: number
  readonly visits: readonly Visit[]
  /** The revision of the last event that could bring files; null before the first. */
  readonly submitted: number | null
}

/** A type of files that a transition needs and that cannot be fresh enough there. */
interface MissingFileType {
  readonly type: string
  readonly fresh: FreshnessScope
  readonly by: 'approval' | 'event'
}

/** A limit, since reading a file must not take long. Real processes stay far below it. */
const maxSteps = 1500

/**
 * Walks the process with every file submitted as often as possible and all other guards satisfied, and finds where it is
 * stuck even so. An approval needs files of earlier events; an agent's event may submit them itself, a person's may not.
 */
export function freshness(definition: ProcessDefinition): readonly Finding[] {
  if (definition.dialect !== 1 || !hasFileRequirements(definition)) return []
  const walked = walkDefinition(definition)
  if (walked === null) {
    const message =
      'The process has too many paths: lint did not check whether artifacts can be fresh enough.'
    return [finding('note', 'never-fresh', { message, path: ['transitions'] })]
  }
  const never = definition.transitions.flatMap((transition, index) =>
    untakenTransitionFindings(walked, transition, index),
  )
  const reported = new Set(never.map(({ path }) => definition.transitions[Number(path[1])]?.from))
  return [...never, ...stuckStates(definition, walked, reported)]
}

interface LintStep {
  readonly spot: RunPosition
  readonly transition: TransitionDefinition
  readonly lacks: readonly MissingFileType[]
}

function untakenTransitionFindings(
  walked: readonly LintStep[],
  transition: TransitionDefinition,
  index: number,
): readonly Finding[] {
  const steps = walked.filter((step) => step.transition === transition)
  if (steps.length === 0 || steps.some(({ lacks }) => lacks.length === 0)) return []
  const [lack] = steps.flatMap(({ lacks }) => lacks)
  if (lack === undefined) return []
  return [
    finding(lack.by === 'approval' ? 'error' : 'warning', 'never-fresh', {
      message: `"${transition.event}" in "${transition.from}" ${formatLack(lack)}`,
      path: ['transitions', index],
    }),
  ]
}

/** States that a run can reach on some path and leave only by an escape. */
function stuckStates(
  definition: ProcessDefinition,
  walked: readonly LintStep[],
  reported: ReadonlySet<string | undefined>,
): readonly Finding[] {
  const bySpot = Map.groupBy(walked, ({ spot }) => spot)
  return definition.states.flatMap(({ name, isFinal }, index) => {
    if (isFinal || reported.has(name)) return []
    const stuck = [...bySpot].find(([spot, steps]) => {
      const forward = steps.filter(({ transition }) => !transition.escape)
      return spot.state === name && forward.length > 0 && forward.every((step) => isShut(definition, step))
    })
    const [lack] = stuck?.[1].flatMap(({ lacks }) => lacks) ?? []
    if (stuck === undefined || lack === undefined) return []
    const visited = stuck[0].visits.toSorted((a, b) => a.last - b.last).map(({ state }) => state)
    const message = `A run that reaches "${name}" through ${visited.join(', ')} is stuck: the next event ${formatLack(lack)}`
    return [finding('warning', 'never-fresh', { message, path: ['states', index, 'name'] })]
  })
}

/** Whether a transition can neither be taken nor collect the missing files with repeated events. */
function isShut(definition: ProcessDefinition, { transition, lacks }: LintStep): boolean {
  return lacks.length > 0 && !(transition.whenBlocked === 'record' && hasFileInput(definition, transition))
}

function formatLack({ type, fresh, by }: MissingFileType): string {
  const why = fresh === 'run' ? '' : ` that is new enough (fresh: ${fresh})`
  return by === 'approval'
    ? `needs an approval of "${type}", and no earlier event can have submitted one${why}. Submit it with an earlier event, or keep it with when_blocked: record.`
    : `needs "${type}", people send it without files, and no earlier event submitted one${why}. Set fresh: loop or run, or require it on the event that submits it.`
}

/** Every transition at every reachable position, with the file types missing there; null if there are too many. */
function walkDefinition(definition: ProcessDefinition): readonly LintStep[] | null {
  const { initialState } = definition
  if (!stateNamed(definition, initialState)) return []
  const first: RunPosition = {
    state: initialState,
    revision: 1,
    visits: recordVisit([], initialState, 1),
    submitted: null,
  }
  const spots = new Map([[keyOf(first), first]])
  const leaving = Map.groupBy(definition.transitions, ({ from }) => from)
  const steps: LintStep[] = []
  for (const spot of spots.values()) {
    if (steps.length > maxSteps) return null
    if (stateNamed(definition, spot.state)?.isFinal) continue
    for (const transition of [...(leaving.get(spot.state) ?? []), ...(leaving.get('*') ?? [])]) {
      const lacks = lacksAtSpot(definition, spot, transition)
      steps.push({ spot, transition, lacks })
      for (const next of spotAfter(definition, spot, { transition, isTaken: lacks.length === 0 })) {
        const key = keyOf(next)
        if (!spots.has(key)) spots.set(key, next)
      }
    }
  }
  return steps
}

function spotAfter(
  definition: ProcessDefinition,
  spot: RunPosition,
  { transition, isTaken }: { readonly transition: TransitionDefinition; readonly isTaken: boolean },
): readonly RunPosition[] {
  const revision = spot.revision + 1
  const submitted = hasFileInput(definition, transition) ? revision : spot.submitted
  const stayed = transition.whenBlocked === 'record' ? [{ ...spot, revision, submitted }] : []
  if (!isTaken) return stayed
  const { to } = transition
  return [...stayed, { state: to, revision, visits: recordVisit(spot.visits, to, revision), submitted }]
}

function hasFileInput(definition: ProcessDefinition, { event }: TransitionDefinition): boolean {
  const definedEvent = eventNamed(definition, event)
  return definedEvent !== undefined && !isForPeople(definition, definedEvent)
}

/** The file types that block a transition; empty if it can be taken with all other guards satisfied. */
function lacksAtSpot(
  definition: ProcessDefinition,
  spot: RunPosition,
  transition: TransitionDefinition,
): readonly MissingFileType[] {
  const brings = hasFileInput(definition, transition)
  const freshOf = (type: string): FreshnessScope =>
    definition.artifacts.find((artifact) => artifact.type === type)?.fresh ?? 'run'
  const counts = (fresh: FreshnessScope) =>
    spot.submitted !== null && spot.submitted > newerThan(fresh, spot.visits)
  const file = (type: string): readonly MissingFileType[] => {
    const fresh = freshOf(type)
    return brings || counts(fresh) ? [] : [{ type, fresh, by: 'event' }]
  }
  const leaf = (name: string): readonly MissingFileType[] => {
    const guard = definition.guards.find((candidate) => candidate.name === name)?.guard
    if (guard?.type === 'artifact') return file(guard.artifactType)
    if (guard?.type !== 'approval' || guard.artifact === null || isOfChanges(definition, guard.artifact))
      return []
    const fresh = freshOf(guard.artifact)
    return counts(approvalFreshness(fresh)) ? [] : [{ type: guard.artifact, fresh, by: 'approval' }]
  }
  const judge = (expression: GuardExpression, isNegated: boolean): readonly MissingFileType[] => {
    if (typeof expression === 'string') return isNegated ? [] : leaf(expression)
    if ('not' in expression) return judge(expression.not, !isNegated)
    const parts = ('all' in expression ? expression.all : expression.any).map((part) =>
      judge(part, isNegated),
    )
    const needsAll = 'all' in expression !== isNegated
    if (needsAll) return parts.flat()
    return parts.some((lacks) => lacks.length === 0) ? [] : parts.flat()
  }
  const isNeeded = hasArtifactNeeds(definition, spot.state, transition)
  const required = isNeeded ? (stateNamed(definition, spot.state)?.requiredArtifacts ?? []) : []
  const guarded = transition.guard === null ? [] : judge(transition.guard, false)
  return [...guarded, ...required.flatMap(file)]
}

/** Positions are equal if their revisions have the same order; the absolute values do not matter. */
function keyOf({ state, visits, submitted }: RunPosition): string {
  const revisions = [...visits.flatMap(({ first, last }) => [first, last]), submitted ?? 0]
  const ranks = new Map(
    [...new Set(revisions)].toSorted((a, b) => a - b).map((revision, rank) => [revision, rank]),
  )
  const ranked = visits.map((visit) => [visit.state, ranks.get(visit.first), ranks.get(visit.last)])
  return JSON.stringify([state, ranked, submitted === null ? null : ranks.get(submitted)])
}

function hasFileRequirements({ guards, states }: ProcessDefinition): boolean {
  return (
    states.some(({ requiredArtifacts }) => requiredArtifacts.length > 0) ||
    guards.some(
      ({ guard }) => guard.type === 'artifact' || (guard.type === 'approval' && guard.artifact !== null),
    )
  )
}

/** A guard that counts files needs an event that collects them, and enough possible files. */
export function artifactCountFindings(definition: ProcessDefinition): readonly Finding[] {
  return definition.guards.flatMap(({ name, guard }) => {
    if (guard.type === 'artifact' && guard.count < 1) {
      const message = `"${name}" needs 0 files, so it is always satisfied.`
      return finding('warning', 'always-open', { message, path: ['guards', name, 'min_count'] })
    }
    if (guard.type !== 'artifact' || guard.count < 2) return []
    const path = ['guards', name, 'min_count']
    const paths = definition.artifacts.find(({ type }) => type === guard.artifactType)?.paths ?? []
    if (paths.length > 0 && paths.length < guard.count && !paths.some(isGlob)) {
      const message = `"${name}" needs ${guard.count} files, but "${guard.artifactType}" can only be ${paths.join(', ')}.`
      return finding('error', 'cannot-accumulate', { message, path })
    }
    const users = definition.transitions.filter((transition) => guardNames(transition.guard).includes(name))
    const stuck = users.find((transition) => !canCollect(transition, definition))
    if (!stuck) return []
    const message = `"${name}" needs ${guard.count} files, and "${stuck.from}" has no event that keeps some and stays: one "${stuck.event}" must submit all. when_blocked: record keeps them.`
    return finding('warning', 'cannot-accumulate', { message, path })
  })
}

function canCollect(
  { from, whenBlocked }: TransitionDefinition,
  { transitions }: ProcessDefinition,
): boolean {
  if (whenBlocked === 'record') return true
  return transitions.some(
    (other) =>
      (other.from === from || other.from === '*') && (other.whenBlocked === 'record' || other.to === from),
  )
}

/** Whether a pattern may match several files: by a wildcard, or as a folder. */
function isGlob(pattern: string): boolean {
  return /[*?[\]{}!]|\/$/.test(pattern.trim()) || !/\.[^/]*$/.test(pattern.trim())
}

/** Finds commands that run a file which neither their approval covers nor a pin: any writer of it decides what runs. */
export function unpinnedCommandFindings({ guards }: ProcessDefinition): readonly Finding[] {
  return guards.flatMap(({ name, guard }) => {
    if (guard.type !== 'command' || guard.pinned.length > 0) return []
    const files = [...new Set(commandsIn(guard.run).flatMap(scriptPathsOf))]
    if (files.length === 0) return []
    const message = `Guard "${name}" runs "${guard.run}", which is defined in ${files.join(' and ')}. Pin ${files.length === 1 ? 'it' : 'them'} with pinned: [${files.map((file) => JSON.stringify(file)).join(', ')}], so that a change needs a new approval.`
    return [finding('warning', 'nothing-pinned', { message, path: ['guards', name] })]
  })
}

/** The words of each command of a line, without leading variable assignments. */
function commandsIn(line: string): readonly (readonly string[])[] {
  return line.split(/&&|\|\||[;|\n]/).map((part) => {
    const words = part
      .trim()
      .split(/\s+/)
      .map((word) => word.replace(/^["']|["']$/g, ''))
    const first = words.findIndex((word) => !/^(?:\w+=.*|env|exec|time|nice|\(+|cd)$/.test(word))
    return first === -1 ? [] : words.slice(first)
  })
}

/** Programs that run a file of the project which their approval does not cover, with its name. */
const manifests: Readonly<Record<string, string>> = {
  bundle: 'Gemfile',
  cargo: 'Cargo.toml',
  go: 'go.mod',
  mvn: 'pom.xml',
  gradle: 'build.gradle',
  pytest: 'pyproject.toml',
  poetry: 'pyproject.toml',
  uv: 'pyproject.toml',
  dotnet: 'Directory.Build.props',
  mix: 'mix.exs',
}

const interpreter = /^(?:node|tsx|ts-node|python[\d.]*|ruby|perl|php|bash|sh|zsh|dash|pwsh)$/
const script = /\.(?:[cm]?[jt]sx?|py|rb|pl|php|sh|bash|zsh|ps1)$/

function scriptPathsOf([program = '', ...words]: readonly string[]): readonly string[] {
  if (
    program.startsWith('./') ||
    program.startsWith('../') ||
    (program.includes('/') && !program.startsWith('/'))
  ) {
    return [program.replace(/^\.\//, '')]
  }
  const args = words.filter((word) => !word.startsWith('-'))
  if (interpreter.test(program)) {
    return args
      .filter((word) => script.test(word) && !word.startsWith('/'))
      .slice(0, 1)
      .map((file) => file.replace(/^\.\//, ''))
  }
  const manifest = Object.hasOwn(manifests, program) ? manifests[program] : undefined
  return manifest === undefined ? [] : [manifest]
}

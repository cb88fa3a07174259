import type { ComponentChildren } from 'preact'
import { isContradiction } from '../../src/track/domain/verdict.ts'
import type { AttemptData } from '../api/entities.ts'
import { href } from '../router/location.ts'
import { eventWords } from './event-words.ts'
import { ClaimQuote, DeniedFiles, EvidenceLine, type MeasuredData, UnchangedClaims } from './evidence.tsx'
import { StatusBadge, StatusIcon, statusOf } from './status.tsx'
import { Prose } from './text.tsx'
import './verdict.css'

type VerdictData = NonNullable<AttemptData['verdict']>

const statuses = { proven: 'done', unproven: 'planned', contradicted: 'blocked' } as const

/** What a verdict means, in a tooltip. */
export const verdictMeaning = {
  proven: 'Its check passed on exactly this content',
  unproven: 'Nothing contradicts the claim, and no check proves it',
  contradicted: 'The measurement shows otherwise than the claim',
} as const satisfies Record<VerdictData['is'], string>

/** A verdict as one word. */
export function VerdictBadge({ is }: Pick<VerdictData, 'is'>) {
  return <StatusBadge status={statuses[is]} word={eventWords(is)} title={verdictMeaning[is]} />
}

interface CompletionProps {
  readonly claimed: {
    readonly author: string
    /** The person behind the author, where one is known. */
    readonly person?: string | null
    /** How its attempt ended. */
    readonly status?: string | null
    readonly text: ComponentChildren
  } | null
  readonly measured: MeasuredData | null
  readonly verdict: VerdictData | null
  /** Files that the agent says it changed, and that did not change. */
  readonly unchanged?: readonly string[]
  /** Files that the agent says are not its own work. */
  readonly denied: readonly string[]
  /** Who accepted it although it is not proven. */
  readonly acceptedBy?: string | undefined
  /** The inbox item that needs a person, where this is not its own page. */
  readonly needs?: string | undefined
}

/** A completed task in its one form: what is claimed, what was measured, the reasons, the checks, the verdict. */
export function CompletionVerdict({
  claimed,
  measured,
  verdict,
  unchanged = [],
  denied,
  acceptedBy,
  needs,
}: CompletionProps) {
  if (claimed === null && measured === null && verdict === null) return null
  const isNamed = verdict?.reasons.some(({ rule }) => rule === 'claimed_not_changed') ?? false
  const ended = claimed?.status == null ? 'done' : statusOf(claimed.status)
  return (
    <section class="completion" aria-label="Completion">
      {ended === 'done' ? null : (
        <p>
          <StatusBadge status={ended} />
        </p>
      )}
      {claimed ? (
        <ClaimQuote author={claimed.author} person={claimed.person ?? null}>
          {claimed.text}
        </ClaimQuote>
      ) : null}
      {measured ? <EvidenceLine measured={measured} /> : null}
      {isNamed ? null : <UnchangedClaims paths={unchanged} />}
      <DeniedFiles paths={denied} />
      {verdict ? (
        <>
          <VerdictReasons verdict={verdict} />
          <p class="completion-verdict">
            <VerdictBadge is={verdict.is} />
            {acceptedBy === undefined ? null : <span class="muted"> accepted by {acceptedBy}</span>}
            {needs === undefined ? null : (
              <a class="link" href={href(`/?select=${needs}`)}>
                needs you
              </a>
            )}
          </p>
        </>
      ) : null}
    </section>
  )
}

/** The reasons of a verdict with their paths, then the checks that passed on exactly this content. */
function VerdictReasons({ verdict: { reasons, checks } }: { readonly verdict: VerdictData }) {
  const passed = checks.filter(({ exit_code, same_content }) => exit_code === 0 && same_content)
  if (reasons.length + passed.length === 0) return null
  return (
    <ul class="verdict-reasons" aria-label="Reasons of the verdict">
      {reasons.map(({ rule, text, paths = [], paths_total = paths.length }) => (
        <li key={`${rule} ${text}`} data-rule={rule}>
          <StatusIcon status={isContradiction(rule) ? 'failed' : 'planned'} named={false} />
          <div>
            <Prose text={text} />
            {paths
              .filter((path) => !text.includes(path))
              .map((path) => (
                <span key={path}>
                  {' '}
                  <code>{path}</code>
                </span>
              ))}
            {paths_total > paths.length ? <span class="muted">{paths_total - paths.length} more</span> : null}
          </div>
        </li>
      ))}
      {passed.map(({ command }) => (
        <li key={command}>
          <StatusIcon status="done" named={false} />
          <div>
            <code>{command}</code> <span class="muted">exit 0, on exactly this content</span>
          </div>
        </li>
      ))}
    </ul>
  )
}

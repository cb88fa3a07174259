import type { RunPage, TransitionOption } from '../../api/entities.ts'
import { eventWords } from '../../parts/event-words.ts'
import { StatusIcon } from '../../parts/status.tsx'
import { Prose } from '../../parts/text.tsx'
import { href } from '../../router/location.ts'
import { OpenMission } from '../mission/next-step.tsx'

/** The transitions out of the state, each with its guards: the evidence, or what is missing and how to get it. */
export function NextSteps({ page }: { readonly page: RunPage }) {
  const { transitions, run } = page
  if (run.status !== 'active')
    return (
      <>
        <p class="run-end muted">{endText(page)}</p>
        {page.mission !== null && page.task === null ? <OpenMission id={page.mission.id} /> : null}
      </>
    )
  if (transitions.length === 0)
    return <p class="run-end muted">No transition leads out of “{run.current_state}”.</p>
  const guarded = transitions.filter(({ escape: isEscape, checks }) => !isEscape && checks.length > 0)
  const others = transitions.filter((transition) => !guarded.includes(transition))
  return (
    <>
      <WaitingItems page={page} />
      {guarded.map((transition) => (
        <NextStep key={`${transition.event} ${transition.to}`} transition={transition} />
      ))}
      {others.length > 0 ? (
        <section class="run-section">
          <h2>{guarded.length > 0 ? 'Other transitions' : 'Transitions'}</h2>
          <ul class="other-transitions">
            {others.map(({ event, to, allowed_roles }) => (
              <li key={`${event} ${to}`}>
                <b>{eventWords(event)}</b> → {to} <span class="muted">{rolesText(allowed_roles)}</span>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
    </>
  )
}

/** The inbox items that the run waits for. */
function WaitingItems({ page: { waits_for } }: { readonly page: RunPage }) {
  if (waits_for.length === 0) return null
  return (
    <section class="run-section">
      <h2>Needs you</h2>
      <ul class="checks">
        {waits_for.map(({ item_id, kind, reason }) => (
          <li key={item_id}>
            <StatusIcon status="review" named={false} />
            <p>
              {kind === 'approval' ? 'This run needs your decision.' : <Prose text={reason} />}{' '}
              <a class="link" href={href(`/?select=${item_id}`)}>
                Open in the inbox
              </a>
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}

function NextStep({ transition }: { readonly transition: TransitionOption }) {
  const { event, to, checks, allowed_roles, satisfied, has_alternatives, guard } = transition
  return (
    <section class="run-section" data-satisfied={satisfied}>
      <h2>
        To reach {to} <span class="next-event muted">with {eventWords(event)}</span>
      </h2>
      {has_alternatives ? <p class="alternatives muted">Needs {guard}.</p> : null}
      <ul class="checks">
        {checks.map((check) => (
          <li key={check.name} data-satisfied={check.satisfied}>
            <StatusIcon status={check.satisfied ? 'done' : 'review'} named={false} />
            <div>
              <p>
                {check.description || guardName(check.name)}
                <span class="visually-hidden">{check.satisfied ? ': satisfied' : ': missing'}</span>
              </p>
              <p class="muted">
                <LinkedTaskText text={sentence(check.reason)} />
              </p>
              {check.satisfied || check.fix === '' ? null : (
                <p class="next-action">
                  <LinkedTaskText text={check.fix} />
                </p>
              )}
              {check.satisfied || !check.measured_by_event ? null : (
                <p class="next-action">{eventWords(event)} measures again which lines landed.</p>
              )}
            </div>
          </li>
        ))}
      </ul>
      <p class="next-roles muted">
        {satisfied ? 'Nothing is missing. ' : ''}
        {sentence(rolesText(allowed_roles))}
        {transition.when_blocked === 'record' ? '. Files submitted before then are kept.' : '.'}
      </p>
    </section>
  )
}

/** A text whose tasks, and commands to review them, are links. */
function LinkedTaskText({ text }: { readonly text: string }) {
  const parts = text.split(/((?:waymark review )?\bt-[0-9a-z]{8,})/)
  return (
    <>
      {parts.map((part, at) => {
        if (at % 2 === 0) return <Prose key={at} text={part} />
        const [id = '', isReview] = part.split(' ').toReversed()
        return (
          <a key={at} class="link" href={href(`${isReview ? '/review/task' : '/tasks'}/${id}`)}>
            {isReview ? 'review it' : id}
          </a>
        )
      })}
    </>
  )
}

function endText({ run }: RunPage): string {
  return `It ${run.status === 'cancelled' ? 'was canceled' : run.status} in “${run.current_state}”. The run has ended.`
}

function rolesText(roles: readonly string[]): string {
  if (roles.length === 0) return 'no one may send it'
  if (roles.includes('*')) return 'anyone may send it'
  return `sent by ${roles.join(' or ')}`
}

/** The name of a built-in guard: `required_artifacts.plan`. */
function guardName(name: string): string {
  const [kind, subject] = name.split('.')
  if (kind === 'required_artifacts' && subject) return `A file of type ${subject}`
  if (kind === 'max_visits' && subject) return `“${subject}” may be entered again`
  return name
}

function sentence(text: string): string {
  return text === '' ? '' : `${text[0]?.toUpperCase()}${text.slice(1)}`
}

import type { RunPage, TransitionOption } from '../../api/entities.ts'
import { StatusIcon } from '../../parts/status.tsx'
import { CopyButton, Prose } from '../../parts/text.tsx'
import { href } from '../../router/location.ts'

/** What each way out asks for: what holds with its evidence, what is missing with the next action. */
export function NextSteps({ page }: { readonly page: RunPage }) {
  const { transitions, run } = page
  if (run.status !== 'active') return <p class="run-end muted">{endOf(page)}</p>
  if (transitions.length === 0) return <p class="muted">Nothing leads out of “{run.current_state}”.</p>
  const asking = transitions.filter(({ escape: isEscape, checks }) => !isEscape && checks.length > 0)
  const plain = transitions.filter((way) => !asking.includes(way))
  return (
    <>
      {asking.map((way) => (
        <NextStep key={`${way.event} ${way.to}`} way={way} page={page} />
      ))}
      {plain.length > 0 ? (
        <section class="run-section">
          <h2>{asking.length > 0 ? 'Other transitions' : 'Transitions'}</h2>
          <ul class="plain-ways">
            {plain.map(({ event, to, allowed_roles }) => (
              <li key={`${event} ${to}`}>
                <code>{event}</code> → {to} <span class="muted">{rolesText(allowed_roles)}</span>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
    </>
  )
}

function NextStep({ way, page }: { readonly way: TransitionOption; readonly page: RunPage }) {
  const { event, to, checks, allowed_roles, satisfied, guard } = way
  const waits = page.waits_for.length > 0
  return (
    <section class="run-section" data-satisfied={satisfied}>
      <h2>
        To reach {to} <span class="way-event muted">by {event}</span>
      </h2>
      {guard?.includes('any of') ? <p class="any-of muted">It asks for {guard}.</p> : null}
      <ul class="checks">
        {checks.map((check) => (
          <li key={check.name} data-satisfied={check.satisfied}>
            <StatusIcon status={check.satisfied ? 'done' : 'review'} named={false} />
            <div>
              <p>
                {check.description || nameText(check.name)}
                <span class="visually-hidden">{check.satisfied ? ': holds' : ': is missing'}</span>
              </p>
              <p class="muted">
                <Prose text={sentence(check.reason)} />
              </p>
              {check.satisfied || check.fix === '' ? null : <NextAction text={check.fix} inbox={waits} />}
            </div>
          </li>
        ))}
      </ul>
      <p class="way-who muted">
        {satisfied ? 'Nothing is missing. ' : ''}
        {rolesText(allowed_roles)}
        {way.when_blocked === 'record' ? '; what is submitted before then is kept' : ''}
      </p>
    </section>
  )
}

/** What to do about it; a command at its end can be copied. */
function NextAction({ text, inbox }: { readonly text: string; readonly inbox: boolean }) {
  const command = /\bwaymark [^.;]+/.exec(text)?.[0]
  return (
    <p class="next-action">
      <Prose text={text} />{' '}
      {inbox && command?.startsWith('waymark inbox') ? (
        <a class="link" href={href('/')}>
          Open in inbox
        </a>
      ) : command === undefined ? null : (
        <CopyButton text={command.trim()} />
      )}
    </p>
  )
}

function endOf({ run }: RunPage): string {
  if (run.status === 'cancelled')
    return `It was cancelled in “${run.current_state}”. Nothing more can happen to it.`
  return `It ${run.status} in “${run.current_state}”. Nothing more can happen to it.`
}

function rolesText(roles: readonly string[]): string {
  if (roles.length === 0) return 'no one may send it'
  if (roles.includes('*')) return 'anyone may send it'
  return `sent by ${roles.join(' or ')}`
}

/** `required_artifacts.plan` is a file of type plan. */
function nameText(name: string): string {
  const [kind, subject] = name.split('.')
  if (kind === 'required_artifacts' && subject) return `A file of type ${subject}`
  if (kind === 'max_visits' && subject) return `May be entered again: ${subject}`
  return name
}

function sentence(text: string): string {
  return text === '' ? '' : `${text[0]?.toUpperCase()}${text.slice(1)}`
}

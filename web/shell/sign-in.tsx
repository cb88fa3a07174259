import { useSignal } from '@preact/signals'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { readInvitation } from '../../src/people/domain/identity.ts'
import {
  acceptInvitation,
  type FirstToken,
  readSession,
  readSignInMethods,
  type SignInOption,
  signedOut,
  signIn,
  signInError,
} from '../api/session.ts'
import { FailureMessage } from '../parts/empty-state.tsx'
import { Form } from '../parts/form.tsx'
import { CopyButton } from '../parts/text.tsx'
import './sign-in.css'

/** The sign-in methods of the server. Afterwards the person continues at the same address. */
export function Part() {
  const ways = useSignal<readonly SignInOption[] | null>(null)
  const failure = useSignal<unknown>(null)
  useEffect(() => {
    let retry = 0
    let isGone = false
    const read = async () => {
      try {
        ways.value = await readSignInMethods()
        failure.value = null
      } catch (error) {
        failure.value = error
        if (!isGone) retry = setTimeout(() => void read(), retryMs)
      }
    }
    void read()
    document.title = 'Sign in · Waymark'
    return () => {
      isGone = true
      clearTimeout(retry)
    }
  }, [])
  useOtherWindows()
  if (ways.value === null) return <FailureMessage failure={failure} />
  return <SignInMethods ways={ways.value} />
}

/** The delay before another try at an unreachable server, in milliseconds. */
const retryMs = 2_000

/** A sign-in in another window of this browser counts here too. */
function useOtherWindows(): void {
  useEffect(() => {
    const check = () => {
      if (!document.hidden) void readSession().catch(() => undefined)
    }
    document.addEventListener('visibilitychange', check)
    return () => document.removeEventListener('visibilitychange', check)
  }, [])
}

/** On the person's own machine: the command that signs in. */
function ByAddress() {
  return (
    <section>
      <p>In a terminal, in the project’s folder, run:</p>
      <pre>waymark open</pre>
      <p>It opens this dashboard and signs you in for thirty days.</p>
      <p class="muted">For a demo, press Enter in its terminal: it prints a new link.</p>
    </section>
  )
}

const reasons = {
  left: 'You are signed out.',
  ended: 'Your session has ended. Sign in to continue where you were.',
} as const

function SignInMethods({ ways }: { readonly ways: readonly SignInOption[] }) {
  const why = signedOut.value
  const error = signInError.value
  return (
    <main class="centred sign-in">
      <h1>{error === null ? 'Sign in to Waymark' : 'You are not signed in'}</h1>
      {error === null ? null : (
        <>
          <p role="alert">{error.text}</p>
          <p class="muted">
            Try again below, or go {/* A full load, for a person who is signed in already. */}
            <a class="link" href={error.to} target="_self">
              back to the dashboard
            </a>
          </p>
        </>
      )}
      {why === null || error !== null ? null : <p class="muted">{reasons[why]}</p>}
      {ways.map((way) => {
        if (way.way === 'oidc') return <SingleSignOn key={way.path} way={way} />
        return way.way === 'token' ? (
          <TokenSignIn key={way.path} path={way.path} />
        ) : (
          <ByAddress key={way.way} />
        )
      })}
    </main>
  )
}

type Oidc = Extract<SignInOption, { readonly way: 'oidc' }>

function SingleSignOn({ way: { path, issuer } }: { readonly way: Oidc }) {
  const to = signInError.value?.to ?? `${location.pathname}${location.search}`
  return (
    <a
      class="button"
      data-kind="primary"
      // Not a view of the dashboard.
      target="_self"
      href={`${path}?to=${encodeURIComponent(to)}`}
    >
      Sign in with {URL.canParse(issuer) ? new URL(issuer).host : issuer}
    </a>
  )
}

function TokenSignIn({ path }: { readonly path: string }) {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  const [first, setFirst] = useState<FirstToken | null>(null)
  const send = async () => {
    try {
      const text = field.current?.value.trim() ?? ''
      if (first === null && readInvitation(text) !== null) {
        setFirst(await acceptInvitation(text))
        return
      }
      await signIn(path, first?.token ?? text)
      const error = signInError.peek()
      if (error !== null) location.assign(error.to)
    } catch (error) {
      field.current?.select()
      throw error
    }
  }
  if (first !== null) {
    return (
      <Form key="first" place="sign-in-form" verb="I have stored it: sign in" send={send}>
        <p>
          Welcome, {first.name}. This is your token until {first.expires_at.slice(0, 10)}. It is shown only
          once: store it to sign in again.
        </p>
        <p class="snippet">
          <code>{first.token}</code>
          <CopyButton text={first.token} label="Copy the token" />
        </p>
      </Form>
    )
  }
  return (
    <Form place="sign-in-form" verb="Sign in" send={send}>
      <div class="input-field">
        <label for={id}>Token or invitation</label>
        <input
          ref={field}
          id={id}
          class="field mono"
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          required
          maxLength={200}
          placeholder="wm1_…"
          aria-describedby={`${id}-hint`}
        />
        <p id={`${id}-hint`} class="muted">
          A token of the kind person. Your first one comes from an admin of this server, or with an invitation
          from an owner of your project. Create more in Settings, or with{' '}
          <code>waymark token create --kind person</code>
        </p>
      </div>
    </Form>
  )
}

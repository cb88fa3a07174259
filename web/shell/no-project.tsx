import { useId, useState } from 'preact/hooks'
import { call } from '../api/call.ts'
import { logOut, ownPermissions } from '../api/session.ts'
import { Form } from '../parts/form.tsx'
import './sign-in.css'

/** For who is signed in at a server that has no project yet: an admin makes one here. */
export function Part() {
  const isAdmin = ownPermissions.value?.admin === true
  return (
    <main class="centred sign-in">
      <h1>There is no project here yet</h1>
      {isAdmin ? (
        <>
          <p class="muted">
            Make the first one here, or in its folder with{' '}
            <code>waymark connect {location.origin} --project &lt;name&gt; --new</code>
          </p>
          <AddProject />
        </>
      ) : (
        <p class="muted">An admin of this server makes one and makes you a member of it.</p>
      )}
      <button type="button" class="button" onClick={() => void logOut()}>
        Sign out
      </button>
    </main>
  )
}

function AddProject() {
  const id = useId()
  const [name, setName] = useState('')
  const add = async () => {
    const made = await call('project_add', { name: name.trim() }, { project: '' })
    location.assign(`/p/${made.name}/`)
  }
  return (
    <Form place="sign-in-form" verb="Make the project" send={add}>
      <div class="input-field">
        <label for={id}>Name</label>
        <input
          id={id}
          class="field mono"
          required
          maxLength={40}
          spellcheck={false}
          autocomplete="off"
          placeholder="site"
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
          aria-describedby={`${id}-hint`}
        />
        <p id={`${id}-hint`} class="muted">
          As it stands in addresses: lower case letters, digits and dashes
        </p>
      </div>
    </Form>
  )
}

import { useId, useState } from 'preact/hooks'
import { call } from '../api/call.ts'
import { logOut, ownPermissions } from '../api/session.ts'
import { Form } from '../parts/form.tsx'
import './sign-in.css'

/** The page of a server without projects. An admin creates one here. */
export function Part() {
  const isAdmin = ownPermissions.value?.admin === true
  return (
    <main class="centred sign-in">
      <h1>No project yet</h1>
      {isAdmin ? (
        <>
          <p class="muted">
            Create the first project here, or run this command in its folder:{' '}
            <code>waymark connect {location.origin} --project &lt;name&gt; --new</code>
          </p>
          <AddProject />
        </>
      ) : (
        <p class="muted">Ask an admin of this server to create a project and add you as a member.</p>
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
    const project = await call('project_add', { name: name.trim() }, { project: '' })
    location.assign(`/p/${project.name}/`)
  }
  return (
    <Form place="sign-in-form" verb="Create the project" send={add}>
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
          Lower-case letters, digits and dashes. It is part of the address.
        </p>
      </div>
    </Form>
  )
}

/** For somebody who is not logged in: the one command that prints an address. */
export function LogIn() {
  return (
    <main class="centred">
      <h1>Waymark</h1>
      <p>You are not logged in here. In a terminal of your own, in the project’s folder, run</p>
      <pre>waymark serve</pre>
      <p>and open the address that it prints. It logs you in for thirty days.</p>
      <p class="muted">A demo prints another address where it was started: press Enter there.</p>
    </main>
  )
}

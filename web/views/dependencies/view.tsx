import { Dependencies } from './dependencies.tsx'

/** The dependencies of the project's own plan. */
export function View() {
  return (
    <div class="dependencies-page">
      <h1>Dependencies</h1>
      <Dependencies />
    </div>
  )
}

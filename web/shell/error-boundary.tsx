import { Component, type ComponentChildren } from 'preact'
import { told } from '../api/call.ts'

interface Props {
  readonly children: ComponentChildren
}

interface State {
  readonly error: unknown
}

/** A view that breaks says so in its own place; the rest of the page goes on. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: null }

  static override getDerivedStateFromError(error: unknown): State {
    return { error }
  }

  override render() {
    if (this.state.error === null) return this.props.children
    return (
      <div class="page-inner" role="alert">
        <h1>This view broke</h1>
        <p class="muted">{told(this.state.error)}</p>
        <p>
          <button type="button" class="button" onClick={() => this.setState({ error: null })}>
            Try again
          </button>{' '}
          <button type="button" class="button" onClick={() => location.reload()}>
            Load the page anew
          </button>
        </p>
      </div>
    )
  }
}

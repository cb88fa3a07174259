import { ApiFailure } from '../../src/surfaces/http/client/client.ts'
import { errorText } from '../api/call.ts'

/** Why something was refused, each problem on a line of its own, and below it the next step. */
export function RefusalMessage({ error }: { readonly error: unknown }) {
  const { message, hint } =
    error instanceof ApiFailure ? error : { message: errorText(error), hint: undefined }
  return (
    <div class="refusal" role="alert">
      {message.split('\n').map((line) => (
        <p key={line}>{line}</p>
      ))}
      {hint === undefined ? null : <p class="muted">{hint}</p>}
    </div>
  )
}

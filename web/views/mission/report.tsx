import { useSignal } from '@preact/signals'
import { call, errorText } from '../../api/call.ts'

/** Copies the report of a mission as Markdown for a pull request. Without access to the clipboard it is saved. */
export function ReportButton({ id, name }: { readonly id: string; readonly name: string }) {
  const status = useSignal('')
  const isBusy = useSignal(false)
  const request = async (format: 'markdown' | 'html') => {
    isBusy.value = true
    try {
      const { text, cut } = await call('report', { mission: id, format })
      const isCopied = format === 'markdown' && (await copyToClipboard(text))
      if (!isCopied) save(text, { name: `${name || id}`, format })
      const note = cut.length > 0 ? ' Long lists are cut.' : ''
      status.value = `${isCopied ? 'Report copied as Markdown.' : 'Report saved.'}${note}`
    } catch (error) {
      status.value = errorText(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <>
      <button
        type="button"
        class="button"
        disabled={isBusy.value}
        title="Copy the report of the mission as Markdown, for a pull request"
        onClick={() => void request('markdown')}
      >
        Copy report
      </button>
      <button
        type="button"
        class="button"
        disabled={isBusy.value}
        title="Save the report of the mission as an HTML page"
        onClick={() => void request('html')}
      >
        Save report
      </button>
      <span class="muted" role="status">
        {status.value}
      </span>
    </>
  )
}

async function copyToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Plain HTTP, or the person refused.
    return false
  }
}

function save(
  text: string,
  { name, format }: { readonly name: string; readonly format: 'markdown' | 'html' },
): void {
  const html = format === 'html'
  const url = URL.createObjectURL(new Blob([text], { type: html ? 'text/html' : 'text/markdown' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${name.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60)}-report.${html ? 'html' : 'md'}`
  link.click()
  URL.revokeObjectURL(url)
}

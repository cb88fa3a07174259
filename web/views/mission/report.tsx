import { useSignal } from '@preact/signals'
import { call, errorText } from '../../api/call.ts'

/** Copies the report of a mission as Markdown, for a pull request; where nothing can be copied it is saved. */
export function ReportButton({ id, name }: { readonly id: string; readonly name: string }) {
  const said = useSignal('')
  const isBusy = useSignal(false)
  const ask = async (format: 'markdown' | 'html') => {
    isBusy.value = true
    try {
      const { text, cut } = await call('report', { mission: id, format })
      const isCopied = format === 'markdown' && (await copyToClipboard(text))
      if (!isCopied) save(text, { name: `${name || id}`, format })
      const left = cut.length > 0 ? ' It was cut, and says where.' : ''
      said.value = `${isCopied ? 'The report is copied, as Markdown.' : 'The report is saved.'}${left}`
    } catch (error) {
      said.value = errorText(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <p class="mission-report">
      <button
        type="button"
        class="button"
        disabled={isBusy.value}
        title="Copies the report of the mission as Markdown, for a pull request"
        onClick={() => void ask('markdown')}
      >
        Report
      </button>{' '}
      <button
        type="button"
        class="button"
        disabled={isBusy.value}
        title="Saves the report of the mission as a page"
        onClick={() => void ask('html')}
      >
        Save report
      </button>{' '}
      <span class="muted" role="status">
        {said.value}
      </span>
    </p>
  )
}

async function copyToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Over plain HTTP, or where the person said no.
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

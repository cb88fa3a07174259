import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { errorCode } from '../../kernel/failure.ts'
import { processEnd } from '../../kernel/process-end.ts'
import type { Message } from '../domain/notice.ts'
import type { Delivery } from '../ports/messenger.ts'

type DesktopEnvironment = Readonly<Record<string, string | undefined>>

export interface DesktopCommand {
  readonly program: string
  readonly words: readonly string[]
  /** Passes texts that the program would otherwise parse as code. */
  readonly environment: DesktopEnvironment
  /** The advice if the program is missing. */
  readonly without: string
}

/** The system's program for a message, with a list of arguments: no shell and no script contains a text. */
export function desktopCommand(platform: string, { title, lines, link }: Message): DesktopCommand {
  const text = [...lines, ...(link === null ? [] : [link])].join('\n')
  if (platform === 'darwin') {
    const script = [
      'on run argv',
      'display notification (item 2 of argv) with title (item 1 of argv)',
      'end run',
    ]
    return {
      program: '/usr/bin/osascript',
      words: [...script.flatMap((line) => ['-e', line]), `Waymark · ${title}`, text],
      environment: {},
      without: 'It is a part of macOS.',
    }
  }
  if (platform === 'win32') {
    return {
      program: 'powershell.exe',
      words: ['-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-Command', toast],
      environment: { WAYMARK_NOTICE_TITLE: title, WAYMARK_NOTICE_TEXT: text },
      without: 'It is a part of Windows.',
    }
  }
  return {
    program: 'notify-send',
    words: ['--app-name=Waymark', '--', title, withoutMarkup(text)],
    environment: {},
    without: 'Install libnotify: the package libnotify-bin, or libnotify.',
  }
}

/** Escapes the text: the desktop renders a few tags. */
function withoutMarkup(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}

/** A constant script: the texts come from the environment, and are added as text nodes. */
const toast = `
$null = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$template = [Windows.UI.Notifications.ToastTemplateType]::ToastText02
$document = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent($template)
$texts = $document.GetElementsByTagName('text')
$null = $texts.Item(0).AppendChild($document.CreateTextNode($env:WAYMARK_NOTICE_TITLE))
$null = $texts.Item(1).AppendChild($document.CreateTextNode($env:WAYMARK_NOTICE_TEXT))
$app = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe'
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($app).Show([Windows.UI.Notifications.ToastNotification]::new($document))
`

const patience = 10_000
const maxSaid = 200

/** Shows a message. It never throws: an error is in the result. It is not retried, since a late message is useless. */
export async function showOnDesktop(
  message: Message,
  environment: DesktopEnvironment,
  signal: AbortSignal,
): Promise<Delivery> {
  const { program, words, environment: texts, without } = desktopCommand(process.platform, message)
  let errorOutput = ''
  try {
    const child = spawn(program, words, {
      env: { ...environment, ...texts },
      stdio: ['ignore', 'ignore', 'pipe'],
      signal: AbortSignal.any([signal, processEnd, AbortSignal.timeout(patience)]),
      windowsHide: true,
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errorOutput = `${errorOutput}${text}`.slice(0, maxSaid)
    })
    const [code] = await once(child, 'close')
    if (code === 0) return { isDelivered: true }
    return failedDelivery(
      `${program} ended with ${code}${errorOutput.trim() === '' ? '' : `: ${errorOutput.trim()}`}.`,
    )
  } catch (error) {
    const isMissing = errorCode(error) === 'ENOENT'
    return failedDelivery(
      isMissing
        ? `${program} is not installed on this machine. ${without}`
        : `${program} did not show it within ${patience / 1000} seconds.`,
    )
  }
}

function failedDelivery(error: string): Delivery {
  return { isDelivered: false, error, isFinal: true, after: null }
}

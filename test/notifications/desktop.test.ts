import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type NamedNotice, noticeMessage } from '../../src/notifications/domain/notice.ts'
import { desktopCommand } from '../../src/notifications/senders/desktop.ts'
import { messenger } from '../../src/notifications/senders/messenger.ts'
import { openTelling } from './telling.ts'

const hostile: NamedNotice = {
  kind: 'blocker',
  seq: 7,
  recordedAt: 0,
  why: '<b>bold</b> "; rm -rf / #\u001b]0;title\u0007 $(id) `id`\u202e',
  who: '-e "display dialog"',
  itemId: 'h-1' as NamedNotice['itemId'],
  missionId: null,
  taskId: null,
  project: '--help',
  taskName: null,
  missionName: null,
  link: 'http://127.0.0.1:4747/p/demo/?select=h-1',
}

test.skipIf(process.platform !== 'linux')(
  'the desktop shows each notice by a program of the system, with a text that is only text',
  async () => {
    const { asPerson, ask, context, tell, folder } = await openTelling()
    const programs = join(folder, '..', 'programs')
    mkdirSync(programs)
    const said = join(programs, 'said')
    writeFileSync(join(programs, 'notify-send'), `#!/bin/sh\nprintf '%s\\0' "$@" >> "${said}"\n`)
    chmodSync(join(programs, 'notify-send'), 0o755)
    const shown = messenger({ PATH: `${programs}:/usr/bin:/bin` }, { agent: '', reachesPrivate: true })
    Object.assign(context.messenger, { show: shown.show })
    await asPerson('notify_add', { form: 'desktop' })
    const item = await ask('Is <b>5 & 6</b> fine?\u001b[2J $(id)')
    await tell()
    const words = readFileSync(said, 'utf8').split('\0')
    expect(words.slice(0, 3)).toEqual(['--app-name=Waymark', '--', 'demo: An agent has a question'])
    expect(words[3]).toContain('Is &lt;b&gt;5 &amp; 6&lt;/b&gt; fine?[2J $(id)')
    expect(words[3]).toContain(`?select=${item}`)
    const { notifications } = await asPerson('notify_list')
    expect(notifications[0]).toMatchObject({ form: 'desktop', last_error: null })
  },
)

test.skipIf(process.platform !== 'linux')('a desktop that shows nothing says why', async () => {
  const { show } = messenger({ PATH: '/nowhere' }, { agent: '', reachesPrivate: true })
  const delivery = await show({ title: 'a', lines: ['b'], link: null }, AbortSignal.timeout(60_000))
  expect(delivery).toMatchObject({
    isDelivered: false,
    error:
      'notify-send is not installed on this machine. Install libnotify: the package libnotify-bin, or libnotify.',
  })
})

test('on each system a text is an argument or a variable, never a part of a script', () => {
  const message = noticeMessage(hostile)
  const [mac, windows, linux] = ['darwin', 'win32', 'linux'].map((platform) =>
    desktopCommand(platform, message),
  )
  const harmless = { ...hostile, why: 'x', who: 'y', project: 'z' }
  const scripts = (platform: string, of: NamedNotice) => desktopCommand(platform, noticeMessage(of)).words
  expect(scripts('win32', hostile)).toEqual(scripts('win32', harmless))
  expect(windows?.environment['WAYMARK_NOTICE_TEXT']).toContain('rm -rf')
  expect(scripts('darwin', hostile).slice(0, 6)).toEqual(scripts('darwin', harmless).slice(0, 6))
  expect(mac?.words[6]).toMatch(/^Waymark · /)
  expect(linux?.words[1]).toBe('--')
  expect([message.title, ...message.lines].join('\n')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
})

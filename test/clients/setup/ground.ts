import type { SetupRequest } from '../../../src/clients/setup/plan-setup.ts'
import type { SetupContext } from '../../../src/clients/setup/setup-context.ts'

export const plainly: SetupRequest = {
  scope: null,
  allow: false,
  rules: false,
  hooks: false,
  shared: false,
  capture: true,
  toolsets: null,
  npx: false,
  force: false,
}

export function contextOn(platform: string, more: Partial<SetupContext> = {}): SetupContext {
  const isWindows = platform === 'win32'
  return {
    platform,
    home: isWindows ? 'C:\\Users\\Zoë Q' : '/home/zoë',
    environment: {},
    folder: isWindows ? 'C:\\Work\\my shop' : '/home/ann/my shop',
    program: isWindows
      ? {
          node: 'C:\\Program Files\\nodejs\\node.exe',
          bin: 'C:\\Users\\Zoë Q\\waymark\\bin\\waymark.js',
          capture: 'C:\\Users\\Zoë Q\\waymark\\bin\\waymark-capture.cjs',
          version: '1.2.3',
          isNamed: true,
        }
      : {
          node: '/opt/node 24/bin/node',
          bin: "/home/zoë/it's/$way/bin/waymark.js",
          capture: "/home/zoë/it's/$way/bin/waymark-capture.cjs",
          version: '1.2.3',
          isNamed: true,
        },
    ...more,
  }
}
